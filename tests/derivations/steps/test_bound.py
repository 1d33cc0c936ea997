"""What the names of a rule's identity stand for, with the values of its side conditions."""

import pytest

from einderive.derivations.rules import RULES
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.merge import Merge, reads
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.derivations.seeds import read


def scope(text: str, **shapes: tuple[int, ...]) -> Scope:
    (root,) = parse(text, shapes).roots()
    return root


WINDOWS = scope("Y[h] = A[h+r]*k[r]*b where h in 0:6", A=(8,), k=(3,), b=())
BORDER = scope("Y[h] = A[h+r-1] where h in 0:8, r in 0:3", A=(8,))
PAIRS = scope("Y[i,j] = sum[k]((A[i,k] - B[j,k])^2)", A=(3, 4), B=(5, 4))


def proposed(rule: str, of: Scope) -> list[Witness]:
    """The witnesses of the rule that the kernel accepts."""
    found = []
    for witness in next(each for each in RULES if each.name == rule).propose(of):
        try:
            kernel.apply(of, witness, exact=True)
        except RuleRefused:
            continue
        found.append(witness)
    return found


@pytest.mark.parametrize(
    ("rule", "of", "names", "pairs"),
    [
        ("hoist", WINDOWS, ("h", "r"), {"g(s)": "b", "f(s,t)": "A[h+r]*k[r]", "t": "r"}),
        ("centre", PAIRS, ("i", "j", "k"), {"a": "A[i,k]", "b": "-B[j,k]", "the mean keeps": "k"}),
        ("expand", PAIRS, ("i", "j", "k"), {"terms": "3 of at most 64"}),
    ],
)
def test_values(rule: str, of: Scope, names: tuple[str, ...], pairs: dict[str, str]) -> None:
    said = [dict(witness.bound(of, Names(names))) for witness in proposed(rule, of)]
    assert any(pairs.items() <= each.items() for each in said), said


def test_rows_that_leave_are_shown_with_their_range() -> None:
    """A sum over 3 becomes one over 4, of which the last term is 0."""
    witness = ReindexSums((affine.iterator(1),), (affine.iterator(1),), (Range(0, 4),))
    padded = scope("Y[h] = A[h+r]*k[r] where h in 0:6", A=(8,), k=(3,))
    kernel.apply(padded, witness, exact=True)
    assert dict(witness.bound(padded, Names(("h", "r")))) == {
        "old iterators": "r in 0:3",
        "new iterators": "m in 0:4",
        "leaves the new ranges": "never",
        "leaves the old ranges": "m runs over 0:4, outside of 0:3",
    }


def test_every_rule_can_say_it() -> None:
    """On all examples of the rules, with and without names."""
    kinds = set()
    for rule in RULES:
        for example in rule.examples:
            of = read(example.before, **example.shapes)
            for witness in proposed(rule.name, of):
                kinds.add(type(witness))
                for pair in witness.bound(of):
                    assert all(isinstance(part, str) and part for part in pair)
    for of in (WINDOWS, BORDER, PAIRS):
        for rule in RULES:
            for witness in proposed(rule.name, of):
                kinds.add(type(witness))
                assert all(all(pair) for pair in witness.bound(of))
    assert len(kinds) > 9


@pytest.mark.parametrize(
    ("rule", "of", "told"),
    [
        ("hoist", WINDOWS, "the inner sum runs over r"),
        ("centre", PAIRS, "the mean of A[i,k] for each k is subtracted from A[i,k], and added to"),
        ("expand", PAIRS, "products and powers of sums are multiplied out"),
        ("materialise", BORDER, "A[h+r-1] becomes a tensor of its own"),
    ],
)
def test_steps_are_told_in_words(rule: str, of: Scope, told: str) -> None:
    names = Names(("i", "j", "k") if of is PAIRS else ("h", "r"))
    assert any(witness.words(of, names).startswith(told) for witness in proposed(rule, of))


def test_stages_are_told_by_their_names() -> None:
    both = scope("T[i] = exp(A[i]); Y[i] = T[i] + 1", A=(4,))
    names = Names(("i",), {source: "T" for _, source in reads(both)})
    assert Merge(0).words(both, names) == "T[i] is replaced by its definition"
    assert dict(Merge(0).bound(both, names))["the stage"] == "T"
    assert Merge(7).words(both, names) == "Merge stage 7"  # of a record that was tampered with


def test_a_stage_that_would_be_long_is_left_out_of_the_text() -> None:
    """Each stage reads the one before twice: written out, the chain has 2^60 reads."""
    chain = scope("Y[i] = exp(A[i])", A=(4,))
    for _ in range(60):
        before = expr.access(chain, [affine.iterator(0)])
        chain = make_scope([(0, 4)], (), expr.add(expr.apply("exp", before), before))
    said = dict(Merge(0).bound(chain))
    assert said["the stage"] == "{L[i:0:4] …[i] + exp(…[i])}"
    assert said["read at"] == "i"
