"""The formula of every rule is parsed, true, no more than true, and what the rule's examples show.

A formula is judged by the exact interpreter on instances with random integers, ranges and indices
and with bodies that are tensors of their own: the most general ones.  Its falsified forms, with
another sign, number, operation or reducer, or without one of its conditions, are refused so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest
from lark import Tree

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES, JOINT_RULES, RULES
from einderive.ta.errors import FormulaSyntaxError
from einderive.ta.identities.identity import WIDE, Identity, Instance, identities
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, PART, sampled
from tests.derivations.instances import Match, Matcher, is_instance, normal
from tests.derivations.sameness import same
from tests.derivations.seeds import read

EVERY_IDENTITY = pytest.mark.parametrize(
    ("rule", "identity"),
    [
        pytest.param(rule, identity, id=f"{rule.name}-{number}")
        for rule in ALL_RULES
        for number, identity in enumerate(identities(rule.formula))
    ],
)
MODULUS = 5
"""Bodies repeat after so many values of an iterator; ranges are shorter."""
INSTANCES = 24
OTHERS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "<": "<=",
    "<=": "<",
    ">=": ">",
    "sum": "max",
    "prod": "sum",
    "max": "min",
    "min": "max",
    "maximum": "minimum",
    "minimum": "maximum",
}
JOINED = re.compile(r"\{L\[y.*\}(?=\[)")
"""The scope that the identities of a joint rule have in common."""
TRUE_ALL_THE_SAME = ("(b-a+d+1)//d", "(b-a+k+1)//k", "where(2*c,", "where(2*d,")
"""Loops may go over more blocks than there are: nothing reads them.  What decides a choice may be
multiplied: it is not 0 where it was not."""


def tensor_body(name: str, count: int, sums: int) -> Scope:
    """A body that has a value of its own for all its iterators, each modulo MODULUS."""
    rows = [affine.modulo(affine.iterator(i), MODULUS) for i in range(count + sums)]
    tensor = expr.tensor(name.upper(), (MODULUS,) * (count + sums))
    return make_scope((WIDE,) * count, (Range(0, 2),) * sums, expr.access(tensor, rows))


def sometimes_zero(body: Scope, random: Random) -> Scope:
    """The body, or 0, or one that is 0 at every second place: entries that are drawn are never 0,
    so that a choice by them would always take its first branch."""
    places = affine.constant(random.randint(0, 1))
    for iterator in affine.iterator_rows(len(body.loops)):
        places = affine.add(places, iterator)
    every_second = expr.position(affine.modulo(places, 2))
    kept = random.choice((body.body, expr.const(0), expr.mul(every_second, body.body)))
    return make_scope(body.loops, (), kept)


def asked(identity: Identity) -> set[str]:
    """The bodies that decide a choice."""
    choices = (call for call in identity.left.find_data("call") if call.children[0] == "where")
    deciding = (call.children[2].children[0] for call in choices)
    names = (str(part.children[0]) for part in deciding if isinstance(part, Tree))
    return identity.bodies.keys() & set(names)


def drawn(identity: Identity, random: Random) -> Instance:
    """A random instance, which need not satisfy the clause."""

    def some(most: int) -> Range:
        low = random.randint(-1, 2)
        return Range(low, low + random.randint(1, most))

    around = tuple(some(3) for _ in range(random.randint(bool(identity.parameters), 1)))
    ranges = {name: tuple(some(2) for _ in range(random.randint(0, 2))) for name in identity.groups}
    rows = {
        name: Row(random.randint(-1, 1), ((0, random.choice((-1, 1, 2))),))
        for name in identity.parameters
    }
    whole = identity.left.data == "scope" and len(identity.bodies) == 1
    own = int(whole and random.random() < 0.5)
    bodies = {}
    for name, given in identity.bodies.items():
        count = sum(len(ranges[each]) if each in ranges else 1 for each in given)
        made = tensor_body(name, count + len(around), own)
        bodies[name] = sometimes_zero(made, random) if name in asked(identity) else made
    sizes = {name: random.randint(-2, 6) for name in identity.sizes}
    return Instance(sizes, ranges, rows, around, bodies)


def instances(identity: Identity, count: int) -> Iterator[tuple[Scope, Scope]]:
    """Both sides of instances that satisfy the clause and are not empty."""
    random = Random(identity.text)
    for _ in range(200 * count):
        sides = identity.sides(identity.restricted(drawn(identity, random)))
        if sides is not None and not sides[0].empty:
            yield sides
            count -= 1
        if not count:
            return


def differs(identity: Identity, rule: Rule | JointRule, count: int) -> bool:
    """Whether the sides of an instance have different loops or values."""
    return any(
        left.loops != right.loops or not same(left, right, [rule.name])
        for left, right in instances(identity, count)
    )


def falsified(identity: Identity) -> Iterator[str]:
    """The identity with one thing changed on its right side, or without one of its conditions."""
    start, end = identity.right.meta.start_pos, identity.right.meta.end_pos
    text = identity.text
    bodies = "|".join(identity.bodies)
    for found in re.finditer(rf"\d+|<=|>=|[-+*<]|\b(?:{bodies})\b(?! *:)|\b[a-z]{{3,}}\b", text):
        word = found[0]
        if start <= found.start() < end and word not in ("where", "not", "and", "exp"):
            other = str(int(word) + 1) if word.isdigit() else OTHERS.get(word, f"2*{word}")
            yield text[: found.start()] + other + text[found.end() :]
    written = [text[part.meta.start_pos : part.meta.end_pos] for part in identity.clause]
    for dropped in written:
        if " in " not in dropped:
            kept = ", ".join(part for part in written if part != dropped)
            yield text[:end] + (f" where {kept}" if kept else "")


def refused(text: str, rule: Rule | JointRule) -> bool:
    try:
        (identity,) = identities(text)
        return differs(identity, rule, 2 * INSTANCES)
    except FormulaSyntaxError:
        return True


@sampled(2)
@pytest.mark.parametrize("count", [INSTANCES // PART, pytest.param(INSTANCES, marks=CAMPAIGN)])
@EVERY_IDENTITY
def test_it_is_true(rule: Rule | JointRule, identity: Identity, count: int) -> None:
    assert len([*instances(identity, count)]) == count
    assert not differs(identity, rule, count)


@sampled(8)
@EVERY_IDENTITY
def test_a_falsified_one_is_refused(rule: Rule | JointRule, identity: Identity) -> None:
    """Of a joint rule, by one of its identities, which all have the same joined scope."""
    (identity,) = identities(identity.text)  # the places of its parts are those in its own text
    others = [each.text for each in identities(rule.formula)] if rule in JOINT_RULES else []
    wrong = [text for text in falsified(identity) if not any(t in text for t in TRUE_ALL_THE_SAME)]
    assert wrong
    for text in wrong:
        old, new = (JOINED.search(each) for each in (identity.text, text))
        changed = [each.replace(old[0], new[0]) for each in others if old and new]
        assert any(refused(each, rule) for each in (text, *changed)), text


@sampled(2)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_examples_are_instances(rule: Rule) -> None:
    """An identity is read from the left or from the right."""
    assert rule.examples
    for example in rule.examples:
        before, after = (read(text, **example.shapes) for text in (example.before, example.after))
        assert any(
            is_instance(identity, *sides)
            for sides in ((before, after), (after, before))
            for identity in identities(rule.formula)
        ), example.before


@sampled(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_changed_example_is_no_instance(rule: Rule) -> None:
    for example in rule.examples[:1]:
        before, after = (read(text, **example.shapes) for text in (example.before, example.after))
        wrong = make_scope(
            after.loops, after.sums, expr.mul(expr.const(7), after.body), after.reducer
        )
        for identity in identities(rule.formula):
            assert not is_instance(identity, before, wrong), identity.text


def test_examples_of_joint_rules_are_instances() -> None:
    """Each identity says what one statement becomes, all with the same bodies and integers."""
    for rule in JOINT_RULES:
        assert rule.examples
        for example in rule.examples:
            roots = parse(example.before, example.shapes).roots()
            after = normal(read(example.after, **example.shapes))
            parts = list(zip(identities(rule.formula), map(normal, roots), strict=True))
            assert any(
                Matcher(identity, root).used(both) is after
                for identity, root in parts[:1]
                for one in Matcher(identity, root).matches()
                for two in Matcher(*parts[1]).matches()
                if {**one.bodies, **two.bodies} == {**two.bodies, **one.bodies}
                for both in [together(one, two)]
            )


def together(one: Match, two: Match) -> Match:
    return Match(
        one.places,
        one.around,
        {**two.sizes, **one.sizes},
        {**two.bodies, **one.bodies},
    )


@pytest.mark.parametrize(
    "text", ["", "f(i)", "f(i) = ", "sum[i](f(i) = f", "f = f where", "f = f = f", "f{i} = g"]
)
def test_what_is_no_formula_is_an_error(text: str) -> None:
    with pytest.raises(FormulaSyntaxError):
        identities(text)
