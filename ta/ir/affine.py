"""Quasi-affine index rows as plain integer tuples.

A row is   c + sum_i a_i * x_i + sum_j b_j * (r_j // n_j)   with integers c, a_i, b_j, positive
integers n_j and rows r_j.  `x_i` is the iterator at position i of the scope that holds the row.
`e % n` is stored as `e - n*(e // n)`, so there is one auxiliary form only.

Rows are compared, hashed and sorted as tuples; no symbolic library takes part (see `show` and
`domain` for those).  Canonical form: terms sorted by iterator, auxiliary entries sorted, no zero
coefficient, and what is divisible pulled out of every `//`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple


class Range(NamedTuple):
    """The half-open integer range `lo <= x < hi`."""

    lo: int
    hi: int

    @property
    def extent(self) -> int:
        return self.hi - self.lo if self.hi > self.lo else 0


class Row(NamedTuple):
    """`const + sum(a*x_i for i, a in terms) + sum(b*(inner // n) for inner, n, b in floors)`."""

    const: int
    terms: tuple[tuple[int, int], ...] = ()
    floors: tuple[tuple[Row, int, int], ...] = ()

    def coefficient(self, iterator: int) -> int:
        """The coefficient of `x_iterator` outside any `//`."""
        for position, value in self.terms:
            if position == iterator:
                return value
        return 0

    @property
    def lone(self) -> int | None:
        """The iterator, if the row is one iterator and nothing else; else None."""
        const, terms, floors = self
        if len(terms) == 1 and not const and not floors and terms[0][1] == 1:
            return terms[0][0]
        return None


_Fields = tuple[int, tuple[tuple[int, int], ...], tuple[tuple[Row, int, int], ...]]
_row: Final[Callable[[_Fields], Row]] = partial(tuple.__new__, Row)
"""`Row(*fields)` in half the time.  A search makes more rows than anything else."""

ZERO = Row(0)


def constant(value: int) -> Row:
    return Row(value)


_MANY: Final = 64
_ITERATORS: Final = tuple([Row(0, ((position, 1),)) for position in range(_MANY)])
"""The rows of one iterator, made once: most rows are among them."""


def iterator(position: int) -> Row:
    """The row `x_position`."""
    return _ITERATORS[position] if 0 <= position < _MANY else Row(0, ((position, 1),))


def iterator_rows(count: int) -> tuple[Row, ...]:
    """The rows `x_0, ..., x_(count-1)`."""
    if count <= _MANY:
        return _ITERATORS[:count]
    return tuple([iterator(position) for position in range(count)])


Floors = tuple[tuple["Row", int, int], ...]


def _merged_floors(left: Floors, right: Floors, factor: int) -> Floors:
    if not left and abs(factor) == 1:
        return right if factor == 1 else tuple([(inner, n, -b) for inner, n, b in right])
    totals = {(inner, n): b for inner, n, b in left}
    for inner, n, b in right:
        totals[inner, n] = totals.get((inner, n), 0) + factor * b
    return tuple(sorted([(inner, n, b) for (inner, n), b in totals.items() if b]))


def add(left: Row, right: Row, factor: int = 1) -> Row:
    """`left + factor * right`."""
    const, terms, floors = left
    const += factor * right.const
    if right.terms:
        totals = dict(terms)
        for i, a in right.terms:
            totals[i] = totals.get(i, 0) + factor * a
        terms = tuple(sorted([(i, a) for i, a in totals.items() if a]))
    if right.floors:
        floors = _merged_floors(floors, right.floors, factor)
    return _row((const, terms, floors))


def shift(row: Row, amount: int) -> Row:
    return _row((row.const + amount, row.terms, row.floors)) if amount else row


def scale(row: Row, factor: int) -> Row:
    if factor == 1:
        return row
    if factor == 0:
        return ZERO
    return Row(
        row.const * factor,
        tuple((i, a * factor) for i, a in row.terms),
        tuple((inner, n, b * factor) for inner, n, b in row.floors),
    )


def floordiv(row: Row, divisor: int) -> Row:
    """`row // divisor`.  Terms that `divisor` divides leave the floor: `(4*i+r)//4 = i + r//4`."""
    if divisor <= 0:
        raise ValueError("// needs a positive divisor")
    if divisor == 1:
        return row
    out_terms = tuple([(i, a // divisor) for i, a in row.terms if a % divisor == 0])
    in_terms = tuple([(i, a) for i, a in row.terms if a % divisor])
    out_floors = in_floors = row.floors
    if out_floors:
        out_floors = tuple([(r, n, b // divisor) for r, n, b in row.floors if b % divisor == 0])
        in_floors = tuple([(r, n, b) for r, n, b in row.floors if b % divisor])
    quotient, rest = divmod(row.const, divisor)
    outside = _row((quotient, out_terms, out_floors))
    if not in_terms and not in_floors:
        return outside
    if not in_terms and len(in_floors) == 1 and in_floors[0][2] == 1 and not out_floors:
        inner, n, _ = in_floors[0]  # (r//n + c)//d = (r + c*n)//(n*d)
        nested = floordiv(shift(inner, rest * n), n * divisor)
        return add(outside, nested)
    return add(outside, _row((0, (), ((_row((rest, in_terms, in_floors)), divisor, 1),))))


def modulo(row: Row, divisor: int) -> Row:
    """`row % divisor`, as `row - divisor*(row // divisor)`."""
    return add(row, floordiv(row, divisor), -divisor)


def substitute(row: Row, replacement: Sequence[Row] | Mapping[int, Row]) -> Row:
    """The row with every `x_i` replaced by the row `replacement[i]`."""
    const, terms, floors = row
    if not floors and len(terms) == 1 and terms[0][1] == 1:
        part = replacement[terms[0][0]]
        return shift(part, const) if const else part
    if not terms and not floors:
        return row
    totals: dict[int, int] = {}
    divided: dict[tuple[Row, int], int] = {}
    parts = [(replacement[i], a) for i, a in terms]
    if floors:
        parts += [(floordiv(substitute(inner, replacement), n), b) for inner, n, b in floors]
    for (part_const, part_terms, part_floors), factor in parts:
        const += factor * part_const
        for i, a in part_terms:
            totals[i] = totals.get(i, 0) + factor * a
        if part_floors:
            for inner, n, b in part_floors:
                divided[inner, n] = divided.get((inner, n), 0) + factor * b
    found = [(i, a) for i, a in totals.items() if a]
    if len(found) > 1:
        found.sort()
    rest = tuple(sorted([(r, n, b) for (r, n), b in divided.items() if b])) if divided else ()
    return _row((const, tuple(found), rest))


def rename(row: Row, positions: Sequence[int] | Mapping[int, int]) -> Row:
    """The row with iterator `i` at position `positions[i]` (a bijection on those that occur)."""
    const, terms, floors = row
    if len(terms) > 1:
        terms = tuple(sorted([(positions[i], a) for i, a in terms]))
    elif terms:
        ((i, a),) = terms
        terms = ((positions[i], a),)
    if floors:
        floors = tuple(sorted((rename(r, positions), n, b) for r, n, b in floors))
    return _row((const, terms, floors))


def iterators(row: Row) -> set[int]:
    """The positions that occur in the row, also inside `//`."""
    found = {i for i, _ in row.terms}
    for inner, _, _ in row.floors:
        found |= iterators(inner)
    return found


def mask(row: Row) -> int:
    """The positions that occur in the row, also inside `//`, as a bit set."""
    found = 0
    for i, _ in row.terms:
        found |= 1 << i
    for inner, _, _ in row.floors:
        found |= mask(inner)
    return found


@lru_cache(maxsize=16384)
def bits(positions: int) -> tuple[int, ...]:
    """The positions of the set bits, ascending."""
    found = []
    while positions:
        low = positions & -positions
        found.append(low.bit_length() - 1)
        positions ^= low
    return tuple(found)


def volume(extents: Sequence[int], positions: int) -> int:
    """The product of the extents at the positions in the bit set."""
    total = 1
    for position in bits(positions):
        total *= extents[position]
    return total


Ranges = Sequence[Range] | Mapping[int, Range]
"""The range of each iterator, by its position."""


def bounds(row: Row, ranges: Ranges) -> tuple[int, int]:
    """Inclusive `(least, greatest)` bounds of the row over the box `ranges` (none of them empty).

    Exact for affine rows; an enclosing interval where `//` correlates with other terms.
    """
    const, terms, floors = row
    if len(terms) == 1 and not floors:
        ((i, a),) = terms
        lo, hi = ranges[i]
        if a == 1:
            return const + lo, const + hi - 1
    low = high = const
    for i, a in terms:
        lo, hi = ranges[i]
        if a > 0:
            low += a * lo
            high += a * (hi - 1)
        else:
            low += a * (hi - 1)
            high += a * lo
    if not floors:
        return low, high
    for inner, n, b in floors:
        first, last = bounds(inner, ranges)
        first, last = first // n * b, last // n * b
        low += min(first, last)
        high += max(first, last)
    return _tighten_modulo(row, ranges, low, high)


def magnitude(row: Row, ranges: Ranges) -> int:
    """A bound on every partial sum in the evaluation of the row."""
    total = abs(row.const)
    for i, a in row.terms:
        total += abs(a) * max(abs(ranges[i].lo), abs(ranges[i].hi))
    for inner, n, b in row.floors:
        total += max(magnitude(inner, ranges) + n, abs(b) * (magnitude(inner, ranges) // n + 1))
    return total


def row_range(row: Row, ranges: Ranges) -> Range:
    """A range that holds every value of the row over the box."""
    low, high = bounds(row, ranges)
    return Range(low, high + 1)


def room(row: Row, bound: Range) -> tuple[Row, Row]:
    """Two rows, which are both at least 0 where the row lies in the range and nowhere else."""
    return shift(row, -bound.lo), shift(scale(row, -1), bound.hi - 1)


def leaving(
    rows: Sequence[Row], allowed: Sequence[Range], ranges: Ranges
) -> list[tuple[Row, Range]]:
    """The rows that may leave their allowed ranges somewhere in the box, each with its range."""
    found = []
    for row, (lo, hi) in zip(rows, allowed, strict=True):
        low, high = bounds(row, ranges)
        if low < lo or high >= hi:
            found.append((row, Range(lo, hi)))
    return found


def within(rows: Sequence[Row], allowed: Sequence[Range], ranges: Ranges) -> bool:
    """Whether every row stays in its allowed range over the box, as far as its bounds show."""
    return not leaving(rows, allowed, ranges)


def _tighten_modulo(row: Row, ranges: Ranges, low: int, high: int) -> tuple[int, int]:
    """Bounds of `e + b*(r//n)` where `-b/n` copies of `r` are in `e`: that part is `r % n`."""
    for position, (inner, n, b) in enumerate(row.floors):
        if b % n:
            continue
        copies = -(b // n)  # b*(r//n) = copies*(r%n) - copies*r
        others = row.floors[:position] + row.floors[position + 1 :]
        rest = add(Row(row.const, row.terms, others), inner, -copies)
        if len(rest.terms) + len(rest.floors) > len(row.terms) + len(others):
            continue
        first, last = bounds(rest, ranges)
        spread = copies * (n - 1)
        low = max(low, first + min(0, spread))
        high = min(high, last + max(0, spread))
    return low, high


def simplify(row: Row, ranges: Sequence[Range]) -> Row:
    """The row with the value of each `//` that is constant over the box `ranges` in its place."""
    if not row.floors:
        return row
    result = Row(row.const, row.terms)
    for inner, n, b in row.floors:
        inner = simplify(inner, ranges)
        result = add(result, _simplify_floor(inner, n, ranges), b)
    return result


def _simplify_floor(inner: Row, n: int, ranges: Sequence[Range]) -> Row:
    if any(ranges[i].extent == 0 for i in iterators(inner)):
        return floordiv(inner, n)
    floor = floordiv(inner, n)
    if not floor.floors:
        return floor
    low, high = bounds(inner, ranges)
    if low // n == high // n:
        return constant(low // n)
    # What is a multiple of g in r = g*m + rest, 0 <= rest < g, does not see the rest when g | n.
    for g in sorted({abs(a) for _, a in inner.terms}, reverse=True):
        if g > 1 and n % g == 0 and not inner.floors:
            coarse = tuple((i, a) for i, a in inner.terms if a % g == 0)
            fine = Row(inner.const % g, tuple((i, a) for i, a in inner.terms if a % g))
            if not fine.terms and not fine.const:
                continue
            least, greatest = bounds(fine, ranges)
            if least // g == greatest // g:
                total = Row(inner.const // g + least // g, tuple((i, a // g) for i, a in coarse))
                return _simplify_floor(total, n // g, ranges)
    return floor


def evaluate(row: Row, value_of: Callable[[int], Any]) -> Any:
    """The row's value, where `value_of(i)` gives `x_i` (an integer or an integer array)."""
    total: Any = row.const
    for i, a in row.terms:
        total = total + a * value_of(i)
    for inner, n, b in row.floors:
        total = total + b * (evaluate(inner, value_of) // n)
    return total
