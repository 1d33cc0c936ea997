"""Random scopes that are products, windows or reductions, in all the forms a binding may meet:
rows with a common factor, merged dimensions, offsets, negative starts, fills, reads that miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from random import Random
from typing import Final, TypeAlias

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Number, Reducer, Scope

KINDS: Final = ("product", "convolution", "transposed", "pool", "reduction")
COEFFICIENTS: Final = (1, 1, 1, 2, -3, Fraction(1, 2), Fraction(1, 6), Fraction(-1, 3))
MOST_TERMS: Final = 3
LONGEST: Final = 14
"""The greatest extent of a tensor's dimension: what lies beyond reads the fill."""

Iterator: TypeAlias = tuple[bool, int]
"""(is a loop, which one)."""
Terms: TypeAlias = list[tuple[Iterator, int]]
"""The iterators in a dimension's index, with their factors."""


@dataclass(slots=True)
class Draft:
    """The ranges given out so far."""

    choose: Random
    loops: list[Range] = field(default_factory=list)
    sums: list[Range] = field(default_factory=list)

    def some(self, counts: Sequence[int], *, loops: bool) -> list[Iterator]:
        """As many new iterators as one of the counts says."""
        ranges = self.loops if loops else self.sums
        found = []
        for _ in range(self.choose.choice(counts)):
            start = self.choose.choice((0, 0, 0, -2, -1, 1, 3))
            found.append((loops, len(ranges)))
            ranges.append(Range(start, start + self.choose.choice((1, 2, 2, 3, 3, 4, 5))))
        return found

    @property
    def domain(self) -> list[Range]:
        return [*self.loops, *self.sums]

    def row(self, terms: Terms) -> Row:
        row = affine.constant(0)
        for (is_loop, place), factor in terms:
            position = place if is_loop else len(self.loops) + place
            row = affine.add(row, affine.iterator(position), factor)
        return row

    def read(self, name: str, dimensions: list[Terms], fill: Number) -> Access:
        """The tensor may begin anywhere in what is read, and end before or after it."""
        rows, shape = [], []
        for row in map(self.row, dimensions):
            low, high = affine.bounds(row, self.domain)
            anywhere = self.choose.randint(low - high, 0)
            first = self.choose.choice((0, 0, 0, 0, 0, -1, 1, 2, anywhere, anywhere))
            extent = high - low + first + 1
            extent = self.choose.choice([1, *[extent] * 5, extent - 2, extent - 1, extent + 2])
            rows.append(affine.shift(row, first - low))
            shape.append(max(1, min(extent, LONGEST)))
        return expr.access(expr.tensor(name, shape, "float64"), rows, fill)

    def plain(self, name: str, dimensions: list[Terms]) -> Access:
        """A read inside its tensor, at the iterators themselves where these are not negative."""
        rows, shape = [], []
        for row in map(self.row, dimensions):
            low, high = affine.bounds(row, self.domain)
            rows.append(affine.shift(row, max(0, -low)))
            shape.append(high + 1 + max(0, -low) + self.choose.choice((0, 1)))
        return expr.access(expr.tensor(name, shape, "float64"), rows)

    def merged(self, dimensions: list[Terms], share: float) -> list[Terms]:
        """Some dimensions as one with the sum of their indices, in a random order."""
        left = list(dimensions)
        while len(left) > 1 and self.choose.random() < share:
            first, second = self.choose.sample(range(len(left)), 2)
            if len(left[first]) + len(left[second]) <= MOST_TERMS:
                factor = self.choose.choice((1, 2, 5))
                joined = left[first] + [(i, factor * a) for i, a in left[second]]
                left = [d for k, d in enumerate(left) if k not in (first, second)] + [joined]
        self.choose.shuffle(left)
        return left


def lone(*groups: list[Iterator]) -> list[Terms]:
    return [[(i, 1)] for group in groups for i in group]


def _product(draft: Draft) -> list[list[Terms]]:
    """A[b,m,k] * B[b,n,k]."""
    choose = draft.choose
    b, m, n = (draft.some((0, 1, 2), loops=True) for _ in range(3))
    k = draft.some((1, 2), loops=False)
    sides: list[list[Terms]] = [
        [[(i, choose.choice((1, 1, 1, 2, -1)))] for i in (*b, *own, *k)] for own in (m, n)
    ]
    return [draft.merged(side, 0.4) for side in sides]


def _convolution(draft: Draft, *, transposed: bool) -> list[list[Terms]]:
    """A[n,g,c,u*(s*h+d*r)] * K[g,f,c,r]; transposed: A[n,g,c,r] * K[g,f,c,u*(h-s*r)]."""
    choose = draft.choose
    windows = choose.choice((1, 1, 2, 3))
    n, g, f = (draft.some(counts, loops=True) for counts in ((0, 1, 1, 2), (0, 0, 1), (0, 1, 1)))
    c = draft.some((0, 1, 1), loops=False)
    h, r = draft.some((windows,), loops=True), draft.some((windows,), loops=False)
    unit = choose.choice((1, 1, 1, 2, 3))
    sliding: list[Terms] = []
    for loop, tap in zip(h, r, strict=True):
        stride = 1 if transposed else choose.choice((1, 1, 2, 3))
        step = -choose.choice((1, 1, 2, 3)) if transposed else choose.choice((1, 1, 2, -1, -2))
        sliding.append([(loop, unit * stride), (tap, unit * step)])
    data, kernel = lone(n, g, c), lone(g, f, c)
    if transposed:
        data, kernel = data + lone(r), kernel + sliding
    else:
        data, kernel = data + sliding, kernel + lone(r)
    return [draft.merged(side, 0.2) for side in (data, kernel)]


def _pool(draft: Draft) -> list[list[Terms]]:
    """A[b,u*(s*h+d*r)]."""
    choose = draft.choose
    windows = choose.choice((1, 1, 2, 3))
    b = draft.some((0, 1, 2), loops=True)
    h, r = draft.some((windows,), loops=True), draft.some((windows,), loops=False)
    unit = choose.choice((1, 1, 1, 2))
    sliding: list[Terms] = [
        [(loop, unit * choose.choice((1, 1, 2, 3))), (tap, unit * choose.choice((1, 1, 1, -1, 2)))]
        for loop, tap in zip(h, r, strict=True)
    ]
    return [draft.merged(lone(b) + sliding, 0.25)]


def _reduction(draft: Draft) -> list[list[Terms]]:
    """A[b,k]."""
    dimensions = lone(draft.some((0, 1, 2), loops=True), draft.some((1, 2), loops=False))
    draft.choose.shuffle(dimensions)
    return [dimensions]


def random_scope(kind: str, choose: Random) -> Scope:
    """A scope of one of KINDS, of which some match no operator.

    A reduction reads inside its tensor; other fills than 0 are rare."""
    draft = Draft(choose)
    reducers: tuple[Reducer, ...] = ("sum",)
    if kind == "product":
        operands = _product(draft)
    elif kind == "pool":
        operands, reducers = _pool(draft), ("sum", "max")
    elif kind == "reduction":
        operands, reducers = _reduction(draft), ("sum", "max", "min", "prod")
    else:
        operands = _convolution(draft, transposed=kind == "transposed")
    reducer = choose.choice(reducers)
    if choose.random() < 0.2:
        draft.some((1,), loops=True)  # a loop that no operand holds
    fills: list[Number] = [*[Fraction(0)] * 6, Fraction(1), Fraction(-2)]
    if reducer in ("max", "min"):
        fills += [-inf if reducer == "max" else inf] * 6
    reads = []
    for name, dimensions in zip("AK", operands, strict=False):
        if kind == "reduction":
            reads.append(draft.plain(name, dimensions))
        else:
            reads.append(draft.read(name, dimensions, choose.choice(fills)))
    body = expr.mul(expr.const(choose.choice(COEFFICIENTS)), *reads)
    return make_scope(draft.loops, draft.sums, body, reducer)
