"""Random well-formed programs, drawn from a `random.Random`: equal seeds give equal programs.

A program is one or two scopes of one to three statements.  What a person writes is likelier than
what uniform choices give: tensors mostly fit the rows that read them, rows are lone iterators,
windows, strides, `//` and `%`, and statements read earlier ones over the same ranges.  A part of
the programs are mutated examples of the rules, so that every rule has something to do.

Drawn from hypothesis's `randoms()`, the same programs are found and shrunk by hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from random import Random

from einderive.derivations.rules import RULES
from einderive.ta.exact.interp import input_tensors
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Condition, Const, Node, Number, Reducer, Scope, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import rebuild, stages
from tests.derivations.seeds import mutate, points, read

MOST_POINTS = 1200
"""Of the iteration spaces of all stages of a program together; the time goes to the steps then."""
MOST_EXTENT = 12
EXAMPLES_SHARE = 0.3
"""How many of the programs are mutated examples of the rules."""

INFINITE_SHARE = 0.03
"""Of the numbers of a text."""

INDICES = "IJOY"
"""Tensors whose names begin so hold whole numbers, most of them in an iterator's range."""

UNARY = (
    *("exp", "tanh", "relu", "relu", "abs", "sign", "sqrt", "sigmoid", "log", "rsqrt", "log1p"),
    *(n for n, f in FUNCTIONS.items() if f.arity == 1 and not (f.part or f.digits)),
)
"""Without those of complex numbers, and without those of integers alone."""
BINARY = (
    *("maximum", "minimum") * 6,
    *("floor_divide", "remainder"),
    *(name for name, known in FUNCTIONS.items() if known.arity == 2 and not known.digits),
)
COMPARING = ("less", "less_equal", "equal", "not_equal")


def program(random: Random) -> tuple[Scope, ...]:
    """One or two output scopes with all that they read nested in them, of at most MOST_POINTS
    points together."""
    while True:
        try:
            if random.random() < EXAMPLES_SHARE:
                roots: tuple[Scope, ...] = (mutate(random.choice(_examples()), random),)
            else:
                roots = Program(random).roots()
        except ValueError:  # a constructor refuses, say, inf - inf
            continue
        if sum(map(points, roots)) <= MOST_POINTS and not isinstance(roots[0].body, Const):
            return roots


@cache
def _examples() -> tuple[Scope, ...]:
    return tuple(
        read(example.before, **example.shapes) for rule in RULES for example in rule.examples
    )


@dataclass
class Program:
    """The statements and tensors drawn so far."""

    random: Random
    statements: list[Scope] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    indices: list[Tensor] = field(default_factory=list)

    def roots(self) -> tuple[Scope, ...]:
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            self.statements.append(self.statement())
        last = self.statements[-1]
        if self.random.random() < 0.25 and self.sibling(last) is not last:
            return (last, self.sibling(last))
        unread = [s for s in self.statements[:-1] if s not in stages(last)]
        return (last, self.random.choice(unread)) if unread else (last,)

    def statement(self) -> Scope:
        return Statement(self).scope()

    def sibling(self, scope: Scope) -> Scope:
        """The scope with some of its tensors replaced by others, as two projections of one input
        are."""
        names = sorted({tensor.name for tensor in input_tensors(scope)})
        kept = self.random.choice(names) if names else ""

        def other(access: Access) -> Node:
            source = access.source
            if isinstance(source, Scope) or source is INDEX or source.name == kept:
                return access
            return expr.access(
                expr.tensor(source.name + "2", source.shape, source.dtype), access.rows, access.fill
            )

        return make_scope(scope.loops, scope.sums, rebuild(scope.body, other), scope.reducer)

    def new_tensor(self, shape: tuple[int, ...]) -> Tensor:
        made = expr.tensor("ABCDEFGHKMNPQRTUVWXZ"[len(self.tensors) % 20], shape)
        self.tensors.append(made)
        return made

    def new_index(self, shape: tuple[int, ...], dtype: str = "float32") -> Tensor:
        count = len(self.indices)
        letters = INDICES[count % len(INDICES)] + str(count // len(INDICES) or "")
        self.indices.append(expr.tensor(letters, shape, dtype))
        return self.indices[-1]


class Statement:
    """One scope; rows speak of its iterators."""

    def __init__(self, program: Program) -> None:
        self.program, self.random = program, program.random
        known = [side for made in program.statements for side in made.loops]
        sides = [self.side(known) for _ in range(self.random.choice((0, 1, 2, 2, 3, 3, 3, 4, 5)))]
        inner = min(len(sides), self.random.choice((0, 1, 1, 1, 1, 2, 2, 3)))
        self.first = len(sides) - inner
        self.domain = tuple(sides)
        reducers: tuple[Reducer, ...] = ("sum",) * 7 + ("max", "max", "min", "prod")
        self.reducer: Reducer = self.random.choice(reducers) if inner else "sum"

    def scope(self) -> Scope:
        loops, sums = self.domain[: self.first], self.domain[self.first :]
        kind = self.random.random()
        if kind < 0.4:
            body = self.contraction(range(len(self.domain)))
        elif kind < 0.5 and self.domain:
            body = self.picked()
        else:
            body = self.expression(2)
        return make_scope(loops, sums, body, self.reducer)

    def side(self, known: list[Range]) -> Range:
        random = self.random
        if known and random.random() < 0.6:
            return random.choice(known)
        extent = random.choice((1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6))
        if random.random() < 0.015:
            extent = 0
        low = random.choice((-3, -2, -1, 1, 2)) if random.random() < 0.2 else 0
        return Range(low, low + extent)

    def contraction(self, iterators: Sequence[int]) -> Node:
        """A product of reads that together use these iterators, each one once or twice; some are
        masked."""
        count = self.random.choice((1, 2, 2, 2, 3, 3, 4))
        places: list[list[int]] = [[] for _ in range(count)]
        for i in iterators:
            for k in self.random.sample(range(count), min(count, self.random.choice((1, 1, 2)))):
                places[k].append(i)
        factors = [self.tensor_read([self.row(i) for i in used]) for used in places]
        if self.random.random() < 0.8:
            return expr.mul(*factors)
        return self.masked(factors, self.random.choice([used for used in places if used] or [[]]))

    def masked(self, factors: list[Node], used: list[int]) -> Node:
        """The product where a condition on some iterators holds, as of a triangular matrix; a part
        of it, or nothing, elsewhere."""
        random = self.random
        row = affine.shift(self.row(), random.randint(-2, 1))
        if used and random.random() < 0.8:
            i, j = (affine.iterator(random.choice(used)) for _ in range(2))
            row = affine.shift(affine.add(i, j, -1), random.randint(-1, 1))
            row = row if row.terms else affine.shift(i, random.randint(-2, -1))
        otherwise: Node = expr.const(0)
        if random.random() < 0.3:
            otherwise = expr.mul(*random.sample(factors, random.randint(1, len(factors))))
        return expr.select(
            [Condition(random.choice((">=", ">=", "==")), row)], expr.mul(*factors), otherwise
        )

    def picked(self) -> Node:
        """Terms that data choose, among those of a sum, as a gather does, or for each element, as a
        scatter does."""
        random, count = self.random, len(self.domain)
        nothing = expr.const(REDUCERS[self.reducer].identity)
        chosen = random.sample(range(count), min(count, random.choice((1, 1, 1, 2))))
        left_out = {v for v in chosen if v < self.first and random.random() < 0.8}
        body = self.contraction([i for i in range(count) if i not in left_out])
        if random.random() < 0.3:
            body = expr.mul(expr.const(-1), body)
        for v in chosen:
            others = [i for i in range(count) if i != v]
            place = self.place(random.sample(others, min(len(others), random.choice((1, 1, 1, 2)))))
            there = expr.apply("equal", place, expr.position(affine.iterator(v)))
            body = expr.apply("choose", there, body, nothing)
        return body

    def place(self, used: list[int]) -> Node:
        """A whole number that is data, or is computed from such by a row or by `//` and `%`."""
        random = self.random
        rows = [self.row(i) if random.random() < 0.2 else affine.iterator(i) for i in used]
        value = expr.access(self.program.new_index(self.shape(rows)), rows, self.fill())
        kind = random.random()
        if kind < 0.6:
            return value
        if kind < 0.8:
            function = random.choice(("floor_divide", "remainder"))
            return expr.apply(function, value, expr.const(random.choice((2, 3, -2))))
        factor = expr.const(random.choice((-1, 1, 2)))
        return expr.add(expr.mul(factor, value), self.position())

    def expression(self, height: int) -> Node:
        random = self.random
        kind = random.random()
        if height == 0 or kind < 0.1:
            if random.random() < 0.9:
                return self.access() if random.random() < 0.85 else self.position()
            return expr.const(self.number()) if random.random() < 0.9 else expr.apply("pi")
        if kind < 0.36:
            factors = [self.factor(height) for _ in range(random.choice((1, 2, 2, 2, 3, 3, 4)))]
            if random.random() < 0.2:
                factors.append(expr.const(self.number()))
            return expr.mul(*factors)
        if kind < 0.48:
            return self.sum_of_terms(height)
        if kind < 0.53:
            return expr.power(self.expression(height - 1), random.choice((2, 2, 3)))
        if kind < 0.57:
            return expr.divide(self.expression(height - 1), self.access())
        if kind < 0.62:
            return expr.power(self.expression(height - 1), random.choice((-1, -1, -2, -2, -3)))
        if kind < 0.86:
            return self.function(height)
        return self.choice(height)

    def factor(self, height: int) -> Node:
        return self.access() if self.random.random() < 0.7 else self.expression(height - 1)

    def sum_of_terms(self, height: int) -> Node:
        random = self.random
        terms = [self.expression(height - 1) for _ in range(random.choice((2, 2, 3)))]
        if random.random() < 0.3:  # a common factor
            common = self.access()
            terms = [expr.mul(common, term) for term in terms]
        if random.random() < 0.3:
            terms.append(expr.const(self.number()))
        if random.random() < 0.3:
            terms[0] = expr.mul(expr.const(-1), terms[0])
        return expr.add(*terms)

    def function(self, height: int) -> Node:
        random = self.random
        if random.random() < 0.2:
            pair = self.expression(height - 1), self.expression(height - 1)
            return expr.apply(random.choice(BINARY), *pair)
        if random.random() < 0.12:
            return self.comparison(height)
        if random.random() < 0.15:
            condition = self.comparison(height) if random.random() < 0.8 else self.access()
            chosen = self.expression(height - 1), self.otherwise(height)
            return expr.apply("choose", condition, *chosen)
        if random.random() < 0.15:
            return expr.apply("exp", expr.add(self.access(), self.access()))
        argument = self.expression(height - 1)
        if random.random() < 0.5:
            argument = expr.mul(expr.const(self.number()), argument)
        return expr.apply(random.choice(UNARY), argument)

    def comparison(self, height: int) -> Node:
        """Of two terms, of a term and a number, or of what is read at an index, as a gather has
        it."""
        random = self.random
        kind = random.random()
        if kind < 0.3:
            return expr.apply("equal", self.access(), self.position())
        left = self.expression(height - 1)
        right = expr.const(self.number()) if kind < 0.6 else self.expression(height - 1)
        if random.random() < 0.5:
            left, right = right, left
        return expr.apply(random.choice(COMPARING), left, right)

    def position(self) -> Node:
        """An iterator, or a row of these, as a value."""
        return expr.position(self.row())

    def choice(self, height: int) -> Node:
        random = self.random
        conditions = [
            Condition(random.choice((">=", ">=", "==")), self.row())
            for _ in range(random.choice((1, 1, 2)))
        ]
        if height > 1 and random.random() < 0.4:
            then = self.choice(height - 1)
        else:
            then = self.expression(height - 1)
        return expr.select(conditions, then, self.otherwise(height))

    def otherwise(self, height: int) -> Node:
        random = self.random
        if random.random() < (0.4 if self.reducer in ("max", "min") else 0.05):
            return expr.const(self.infinity())
        if random.random() < 0.4:
            return self.expression(height - 1)
        return expr.const(0)

    def number(self) -> Number:
        if self.random.random() < INFINITE_SHARE:
            return self.infinity()
        whole = self.random.choice((-3, -2, -1, 1, 2, 2, 3))
        return Fraction(whole, 2 if self.random.random() < 0.05 else 1)

    def infinity(self) -> float:
        if self.reducer in ("max", "min") and self.random.random() < 0.8:
            return -math.inf if self.reducer == "max" else math.inf
        return self.random.choice((-math.inf, math.inf))

    def fill(self) -> Number:
        if self.random.random() < 0.75:
            return Fraction(0)
        if self.random.random() < (0.6 if self.reducer in ("max", "min") else 0.2):
            return self.infinity()
        return Fraction(self.random.choice((-1, 1, 2)))

    def access(self) -> Node:
        random = self.random
        if self.program.statements and random.random() < 0.5:
            source = random.choice(self.program.statements)
            return expr.access(source, [self.row_into(side) for side in source.loops], self.fill())
        if self.program.tensors and random.random() < 0.3:
            tensor = random.choice(self.program.tensors)
            return expr.access(tensor, [self.row() for _ in tensor.shape], self.fill())
        return self.tensor_read(self.distinct_rows(random.choice((0, 1, 1, 2, 2, 2, 3))))

    def tensor_read(self, rows: list[Row]) -> Node:
        return expr.access(self.program.new_tensor(self.shape(rows)), rows, self.fill())

    def shape(self, rows: list[Row]) -> tuple[int, ...]:
        """Mostly as the rows need it, sometimes less (then the rest is padding) or more."""
        extents = []
        for row in rows:
            needed = self.random.choice((1, 2, 3, 4))
            if all(side.extent for side in self.domain):
                needed = affine.bounds(row, self.domain)[1] + 1
            if self.random.random() < 0.4:
                needed += self.random.choice((-3, -2, -1, -1, 1, 2))
            extents.append(min(MOST_EXTENT, max(1, needed)))
        return tuple(extents)

    def row_into(self, side: Range) -> Row:
        """A row for a dimension of this range: an iterator of the same range where there is one."""
        same = [i for i, own in enumerate(self.domain) if own == side]
        if same and self.random.random() < 0.7:
            return affine.iterator(self.random.choice(same))
        return affine.shift(self.row(), side.lo)

    def distinct_rows(self, count: int) -> list[Row]:
        """Rows that mostly use different iterators."""
        places = list(range(len(self.domain)))
        self.random.shuffle(places)
        return [self.row(places[k] if k < len(places) else None) for k in range(count)]

    def row(self, place: int | None = None) -> Row:
        random, count = self.random, len(self.domain)
        if count == 0:
            return affine.constant(random.randint(-1, 2))
        i = affine.iterator(random.randrange(count) if place is None else place)
        j = affine.iterator(random.randrange(count))
        kind = random.random()
        if kind < 0.45:
            return i
        if kind < 0.53:
            return affine.shift(i, random.choice((-2, -1, 1, 2)))
        if kind < 0.75:  # a window, a stride, a dilation
            a, b = random.choice(((1, 1), (1, 1), (1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (2, 3)))
            window = affine.add(affine.scale(i, a), j, b)
            return affine.shift(window, random.choice((-2, -1, -1, 0, 0, 1)))
        if kind < 0.82:
            return affine.shift(affine.scale(i, -1), random.randint(0, 4))
        if kind < 0.86:
            return affine.shift(affine.add(i, j, random.choice((-1, -2))), random.randint(-1, 2))
        n = random.randint(2, 4)
        if kind < 0.97:
            inner = i
            if random.random() < 0.4:
                inner = affine.add(affine.scale(i, random.choice((1, 2, 3))), j)
            inner = affine.shift(inner, random.choice((-1, 0, 0, 1)))
            if kind < 0.91:
                return affine.floordiv(inner, n)
            if kind < 0.95:
                return affine.modulo(inner, n)
            digits = affine.scale(affine.floordiv(inner, n), random.choice((1, n)))
            return affine.add(digits, affine.modulo(random.choice((i, j)), n))
        return affine.constant(random.randint(-1, 3))
