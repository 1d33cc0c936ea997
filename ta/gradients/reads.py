"""What a read passes back: the sum over all places that read an element.

    A[r(z)] with the adjoint a(z), z in Z:      dA[p] = sum[z in Z](where(r(z) == p, a(z), 0))

Each equation r_k(z) = p_k is solved for an iterator of z, and one sum less is left:

    p = z + m*t + c     t = (p - c)//m, z = (p - c) % m    windows side by side: z in 0:k, k <= m
    a_i = 1 or -1       z_i = (p - rest)/a_i             a convolution's gradient is a convolution
    e(z)//n in r_k      e = n*q + s, s in 0:n, solved for an iterator of e;  then e//n is q
    another a_i         z_i = (p - rest)//a_i            where a_i divides p - rest

An equation without such an iterator stays as a condition.

Where several iterators could be solved for, those with 1 or -1 come first: so the gradient of a
convolution with a stride is a transposed convolution.  Where a is no such product, or conditions
have to say which terms count, windows that overlap are cut into parts side by side, if the sum over
the few parts is then left,

    A[4*f+t], t in 0:8       t = 4*q + s, s in 0:4       sum[q](a((p//4)-q, 4*q + p%4))

or the iterators with the largest ranges come first:

    A[3*i+2*k]^2             sum[k](where((p-2*k) % 3 == 0, a((p-2*k)//3, k), 0))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import Literal, TypeAlias

from einderive.ta.facts.zeros import vanishes_outside
from einderive.ta.gradients.narrowed import narrowed
from einderive.ta.gradients.products import ZERO, where
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.node import Access, Condition, Mul, Node, Scope
from einderive.ta.ir.subst import accesses, map_rows, rename

Order: TypeAlias = Literal["units", "largest", "parts"]
MOST_OPENED = 16
"""At most this many quotients are opened."""
WORTH = 4
"""Another solution is taken if the sum then visits this many times fewer points."""


def passed_back(read: Access, adjoint: Node, domain: Sequence[Range]) -> Scope:
    """The adjoint's part in the cotangent of what is read, a scope over the ranges of the source.

    The read and its adjoint hold iterators with the ranges `domain`."""
    if not all(side.extent for side in domain):
        return make(read.source.ranges, (), ZERO)
    first = len(read.source.ranges)
    moved = {i: i + first for i in range(len(domain))}
    body = rename(adjoint, moved)
    equations = [
        affine.add(affine.rename(row, moved), affine.iterator(dimension), -1)
        for dimension, row in enumerate(read.rows)
    ]

    def solved(order: Order) -> tuple[Scope, bool]:
        box = [*read.source.ranges, *domain]
        sums = _Sums(first, box, body, [*equations], order)
        sums.solve()
        return sums.scope()

    found, conditional = solved("units")
    if not conditional and (not found.sums or _is_convolution(read, adjoint)):
        return found
    fewer = min((solved("parts")[0], solved("largest")[0]), key=_points)
    return fewer if WORTH * _points(fewer) <= _points(found) else found


def _is_convolution(read: Access, adjoint: Node) -> bool:
    """Whether the adjoint is a product of several reads, each of which holds one iterator at most
    of those that the read adds up in an index."""
    core = expr.split_coefficient(adjoint)[1]
    factors = core.factors if isinstance(core, Mul) else (core,)
    masks = [affine.mask(row) for row in read.rows]
    apart = all((factor.free & mask).bit_count() <= 1 for factor in factors for mask in masks)
    return apart and sum(bool(accesses(factor)) for factor in factors) > 1


def _points(scope: Scope) -> int:
    return prod(side.extent for side in scope.sums)


@dataclass
class _Sums:
    """A sum in the making: iterators from `first` on are summed, equations are rows that are 0."""

    first: int
    ranges: list[Range]
    body: Node
    equations: list[Row]
    order: Order = "units"
    """Iterators with the factor 1 or -1 come first, or those with the largest ranges; or windows
    that overlap are cut into parts."""
    conditions: list[Condition] = field(default_factory=list)
    within: list[tuple[Row, Range]] = field(default_factory=list)
    solved: set[int] = field(default_factory=set)
    opened: int = 0

    def solve(self) -> None:
        """Solves equations as long as there is one that can be solved."""
        while (
            self._by_digits()
            or (self._by_largest() if self.order == "largest" else self._by_unit())
            or self._by_opening()
            or self._by_division()
        ):
            pass

    def scope(self) -> tuple[Scope, bool]:
        """The sum over the iterators that are left, and whether conditions say which of them
        count."""
        left = [i for i in range(self.first, len(self.ranges)) if i not in self.solved]
        positions = {i: i for i in range(self.first)}
        positions |= {old: self.first + new for new, old in enumerate(left)}
        loops, sums = self.ranges[: self.first], [self.ranges[i] for i in left]
        box = [*loops, *sums]

        def in_place(row: Row) -> Row:
            return affine.simplify(affine.rename(row, positions), box)

        equal = [Condition("==", row) for row in self.equations]
        conditions = [Condition(c.relation, in_place(c.row)) for c in (*self.conditions, *equal)]
        body = where(conditions, rename(self.body, positions))
        conditional = bool(conditions)
        for row, bound in self.within:
            row = in_place(row)
            if vanishes_outside(body, box, [(row, bound)]):
                continue
            rooms = [Condition(">=", room) for room in affine.room(row, bound)]
            body, conditional = where(rooms, body), True
        sums, body = narrowed(loops, sums, body)
        return make(loops, sums, body), conditional

    def _by_digits(self) -> bool:
        """`z + m*t + rest = 0` with z in 0:k, k <= m, and iterators of the source alone in the
        rest: z = -rest % m and t = -rest//m, which is an equation with a number less."""
        for place, row in enumerate(self.equations):
            terms = self._terms(row)
            units = [i for i, a in terms if abs(a) == 1]
            m = gcd(*(a for _, a in terms if abs(a) != 1))
            if len(units) != 1 or m < 2 or not self._is_plain(row):
                continue
            (i,) = units
            if self.ranges[i].extent > m:
                if self.order == "parts":
                    self._cut(i, m)
                    return True
                continue
            row = affine.scale(row, row.coefficient(i))
            rest = Row(row.const, tuple(t for t in row.terms if t[0] < self.first), row.floors)
            low, high = self.ranges[i]
            w = affine.shift(affine.scale(rest, -1), -low)
            whole = affine.floordiv(w, m)
            others = [(j, a // m) for j, a in row.terms if j >= self.first and j != i]
            self.equations[place] = affine.add(Row(0, tuple(others)), whole, -1)
            digit = affine.shift(affine.add(w, whole, -m), low)
            self._replace(i, digit, demanded=high - low < m)
            return True
        return False

    def _cut(self, i: int, m: int) -> None:
        """z = m*q + s with s in 0:m."""
        low, extent = self.ranges[i].lo, self.ranges[i].extent
        q, s = len(self.ranges), len(self.ranges) + 1
        self.ranges += [Range(0, -(-extent // m)), Range(0, m)]
        self._replace(i, Row(low, ((q, m), (s, 1))), demanded=extent % m > 0)

    def _is_plain(self, row: Row) -> bool:
        """Whether no summed iterator is divided in the row."""
        return not any(affine.mask(inner) >> self.first for inner, _, _ in row.floors)

    def _by_unit(self) -> bool:
        """`a*z + rest = 0` with a = 1 or -1: z = -a*rest.  Equations of a single iterator come
        first, then the iterator with the largest range."""
        choices = [
            (len(terms), -self.ranges[i].extent, place, i)
            for place, row in enumerate(self.equations)
            if (terms := self._terms(row))
            for i, a in terms
            if abs(a) == 1
        ]
        if not choices:
            return False
        _, _, place, i = min(choices)
        row = self.equations.pop(place)
        a = row.coefficient(i)
        self._replace(i, affine.scale(affine.add(row, affine.iterator(i), -a), -a))
        return True

    def _by_largest(self) -> bool:
        """The iterator with the largest range, whatever its factor."""
        choices = [
            (-self.ranges[i].extent, abs(a), place, i)
            for place, row in enumerate(self.equations)
            for i, a in self._terms(row)
        ]
        return bool(choices) and self._divided(*min(choices)[2:])

    def _by_division(self) -> bool:
        """The iterator with the smallest factor."""
        choices = [
            (abs(a), -self.ranges[i].extent, place, i)
            for place, row in enumerate(self.equations)
            for i, a in self._terms(row)
        ]
        return bool(choices) and self._divided(*min(choices)[2:])

    def _divided(self, place: int, i: int) -> bool:
        """`a*z + rest = 0`: z = -rest//a, where a divides the rest.  There, multiples of a*z are
        those of -rest."""
        row = self.equations.pop(place)
        a = row.coefficient(i)
        self._change_rows(
            lambda old: (
                affine.add(old, row, -(old.coefficient(i) // a))
                if old.coefficient(i) % a == 0
                else old
            )
        )
        rest = affine.scale(affine.add(row, affine.iterator(i), -a), -1 if a > 0 else 1)
        if abs(a) != 1:
            self.conditions.append(Condition("==", affine.modulo(rest, abs(a))))
        self._replace(i, affine.floordiv(rest, abs(a)))
        return True

    def _by_opening(self) -> bool:
        """`e//n` in an equation: e = n*q + s, solved for an iterator z of e, where q and s are new
        iterators."""
        for row in self.equations:
            for inner, n, _ in row.floors:
                units = [i for i, a in self._terms(inner) if abs(a) == 1]
                if units and self.opened < MOST_OPENED:
                    self.opened += 1
                    low, high = affine.bounds(inner, self.ranges)
                    q, s = affine.iterator(len(self.ranges)), affine.iterator(len(self.ranges) + 1)
                    self.ranges += [Range(low // n, high // n + 1), Range(0, n)]
                    i = max(units, key=lambda i: self.ranges[i].extent)
                    a = inner.coefficient(i)
                    rest = affine.add(inner, affine.iterator(i), -a)
                    whole = affine.add(affine.scale(q, n), s)
                    self._replace(i, affine.scale(affine.add(whole, rest, -1), a))
                    return True
        return False

    def _terms(self, row: Row) -> list[tuple[int, int]]:
        """The summed iterators outside of all `//` of the row, and their coefficients."""
        inside = 0
        for inner, _, _ in row.floors:
            inside |= affine.mask(inner)
        return [(i, a) for i, a in row.terms if i >= self.first and not inside >> i & 1]

    def _replace(self, i: int, row: Row, *, demanded: bool = True) -> None:
        """Puts the row in the place of the iterator, whose range is a demand on it, unless the row
        always lies there."""
        rows = {j: affine.iterator(j) for j in range(len(self.ranges))} | {i: row}

        def on_row(old: Row) -> Row:
            return affine.simplify(affine.substitute(old, rows), self.ranges)

        self._change_rows(on_row)
        if demanded:
            self.within.append((row, self.ranges[i]))
        self.solved.add(i)

    def _change_rows(self, on_row: Callable[[Row], Row]) -> None:
        """Changes every row of the sum."""
        self.body = map_rows(self.body, on_row)
        self.equations = [on_row(each) for each in self.equations]
        self.conditions = [Condition(c.relation, on_row(c.row)) for c in self.conditions]
        self.within = [(on_row(each), bound) for each, bound in self.within]
