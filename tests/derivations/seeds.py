"""Scopes on which a rule fires, and witnesses that are wrong in one place.

`mutate` turns an example of a rule into another scope of the same build: other extents and starts,
offsets, strides, fills, reducers, further factors.  `corrupt` changes one number or one place in a
witness.  Both draw from a given `random.Random`, so that a seed names what they make.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from math import inf, prod
from random import Random
from typing import Any, get_type_hints

from einderive.derivations.record.trace import read_witness
from einderive.derivations.rule import Refusal, Rule
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Number, Reducer, Scope, Tensor
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import rebuild, stages
from einderive.ta.laws import REAL_LAWS
from einderive.ta.notation.parse import parse_expression

MOST_POINTS = 4000
"""Of the iteration spaces of all stages together, so that exact evaluation stays cheap."""


@cache
def read(text: str, **shapes: tuple[int, ...]) -> Scope:
    """The scope of a text, read once."""
    tensors = {name: expr.tensor(name, shape) for name, shape in shapes.items()}
    found = parse_expression(text, tensors)
    assert isinstance(found, Scope)
    return found


def refused(refusal: Refusal) -> tuple[Scope, Witness]:
    """The scope of a refusal, and the witness that the kernel must refuse for it."""
    tensors = {name: expr.tensor(name, shape) for name, shape in refusal.shapes.items()}
    return read(refusal.before, **refusal.shapes), read_witness(refusal.witness, tensors)


def points(scope: Scope) -> int:
    """The iteration spaces of all stages together."""
    return sum(prod(side.extent for side in stage.domain) for stage in stages(scope))


def seeded(rule: Rule, seed: int) -> Scope:
    """A scope made from one of the rule's examples; seeds below their number give them as they
    are."""
    example = rule.examples[seed % len(rule.examples)]
    scope = read(example.before, **example.shapes)
    return scope if seed < len(rule.examples) else mutate(scope, Random(f"{rule.name} {seed}"))


def mutate(scope: Scope, random: Random) -> Scope:
    """Another scope of the same build, with at most MOST_POINTS points."""
    while True:
        try:
            found = _Mutation(random).scope(scope)
        except ValueError:  # it adds infinities of opposite sign, which has no value anywhere
            continue
        if points(found) <= MOST_POINTS:
            return found


class _Mutation:
    """One change of a whole expression: a tensor gets one new shape, a scope one new form."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.tensors: dict[Tensor, Tensor] = {}
        self.scopes: dict[Scope, Scope] = {}
        self.hardly = random.choice((0.05, 0.15, 0.4))

    def seldom(self) -> bool:
        return self.random.random() < self.hardly

    def scope(self, old: Scope) -> Scope:
        if old not in self.scopes:
            body = rebuild(old.body, self.access)
            if self.seldom():
                body = self.decorate(body, len(old.domain))
            reducer: Reducer = old.reducer
            if old.sums and self.seldom():
                reducer = self.random.choice(("sum", "max", "min", "prod"))
            loops, sums = (tuple(map(self.side, box)) for box in (old.loops, old.sums))
            self.scopes[old] = make_scope(loops, sums, body, reducer)
        return self.scopes[old]

    def side(self, old: Range) -> Range:
        lo = old.lo + self.random.choice((-2, -1, 1, 3)) if self.seldom() else old.lo
        extent = old.extent
        if self.random.random() < 0.6:
            extent = max(1, extent + self.random.randint(-3, 3))
        return Range(lo, lo + (1 if self.seldom() else extent))

    def tensor(self, old: Tensor) -> Tensor:
        if old not in self.tensors:
            changed = (max(1, n + self.random.choice((-2, -1, 0, 0, 0, 1, 3))) for n in old.shape)
            self.tensors[old] = expr.tensor(old.name, changed)
        return self.tensors[old]

    def access(self, old: Access) -> Node:
        if is_position(old):
            return expr.position(self.row(*old.rows))
        is_tensor = isinstance(old.source, Tensor)
        source = self.tensor(old.source) if isinstance(old.source, Tensor) else old.source
        source = self.scope(source) if isinstance(source, Scope) else source
        fill: Number | int = old.fill
        if self.seldom():
            fill = self.random.choice((1, -inf, inf) if is_tensor else (1, 2))
        return expr.access(source, map(self.row, old.rows), fill)

    def row(self, old: Row) -> Row:
        if self.seldom():
            old = affine.shift(old, self.random.choice((-2, -1, 1, 2)))
        if old.terms and self.seldom():
            position, a = self.random.choice(old.terms)
            old = affine.add(old, affine.iterator(position), a * self.random.choice((-2, 1, 2)))
        if self.seldom():
            n = self.random.randint(2, 4)
            old = affine.floordiv(old, n) if self.random.random() < 0.5 else affine.modulo(old, n)
        return old

    def decorate(self, body: Node, count: int) -> Node:
        row = affine.iterator(self.random.randrange(count)) if count else affine.constant(0)
        extra = expr.access(expr.tensor("Z", (3,)), (self.row(row),))
        kind = self.random.choice(("mul", "add", "exp", "square", "less", "divide"))
        if kind == "mul":
            return expr.mul(body, extra)
        if kind == "add":
            return expr.add(body, expr.mul(expr.const(2), extra))
        if kind == "exp":
            return expr.apply("exp", body)
        if kind == "square":
            return expr.power(expr.add(body, extra), 2)
        return expr.subtract(body, extra) if kind == "less" else expr.divide(extra, body)


def corrupt(witness: Witness, random: Random) -> Witness | None:
    """The witness with one thing changed; None where there is nothing to change."""
    types = get_type_hints(type(witness))
    names = [item.name for item in fields(witness) if types[item.name] is not Scope]
    if not names:
        return None
    name = random.choice(names)
    value: Any = getattr(witness, name)
    if types[name] is int:
        value += random.choice((-1, 1))
    elif types[name] is str:
        value = random.choice(list(REAL_LAWS))
    elif types[name] == tuple[int, ...]:
        value = _changed_numbers(value, random)
    else:
        value = _changed_items(value, random)
    changed = replace(witness, **{name: value})
    return changed if changed != witness else None


def _changed_numbers(numbers: tuple[int, ...], random: Random) -> tuple[int, ...]:
    """One number changed, left out or added; of none, a first one."""
    if not numbers:
        return (random.choice((-1, 0, 1)),)
    place = random.randrange(len(numbers))
    changed = list(numbers)
    changed[place] += random.choice((-2, -1, 1, 2))
    return random.choice((tuple(changed), numbers[1:], (*numbers, numbers[0])))


def _changed_items(items: tuple[Any, ...], random: Random) -> tuple[Any, ...]:
    """One row, range or term left out, moved or changed."""
    values: list[Any] = list(items)
    if not values:
        return ()
    place, kind = random.randrange(len(values)), random.random()
    if kind < 0.1:
        values.pop(place)
    elif kind < 0.2:
        other = random.randrange(len(values))
        values[place], values[other] = values[other], values[place]
    elif isinstance(values[place], Range):
        lo, hi = values[place]
        change = random.choice((-2, -1, 1, 2))
        values[place] = random.choice((Range(lo + change, hi), Range(lo, hi + change)))
    elif isinstance(values[place], Scope):
        values[place] = _other_term(values[place], random)
    else:
        values[place] = _corrupt_row(values[place], random)
    return tuple(values)


def _other_term(scope: Scope, random: Random) -> Scope:
    number = expr.const(random.choice((-2, -1, 2, 3)))
    body = random.choice((expr.add, expr.mul))(number, scope.body)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _corrupt_row(row: Row, random: Random) -> Row:
    """The row with one of its numbers changed, not always in canonical form."""
    change = random.choice((-2, -1, 1, 2))
    kinds = ["const"] + ["coefficient", "iterator", "double"] * bool(row.terms)
    kinds += ["divisor", "inner", "floor"] * bool(row.floors)
    kind = random.choice(kinds)
    if kind == "const":
        return affine.shift(row, change)
    if kind in ("coefficient", "iterator", "double"):
        place = random.randrange(len(row.terms))
        i, a = row.terms[place]
        new = {
            "coefficient": [(i, a + change)],
            "iterator": [(i + change, a)],
            "double": [(i, a), (i, change)],
        }[kind]
        return row._replace(terms=(*row.terms[:place], *new, *row.terms[place + 1 :]))
    place = random.randrange(len(row.floors))
    inner, n, b = row.floors[place]
    changed = {
        "divisor": (inner, n + change, b),
        "inner": (_corrupt_row(inner, random), n, b),
        "floor": (inner, n, b + change),
    }[kind]
    return row._replace(floors=(*row.floors[:place], changed, *row.floors[place + 1 :]))
