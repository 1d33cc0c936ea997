"""The part of an iterator's range that a sum needs: outside of it the body is 0, unless 0*inf
occurs.

    S[r:0:9] A[h+r]*K[r]    with h in 0:4 and A of 6 elements:  r in 0:6

It is found with intervals.  Code that cuts a range by it has to show that the body is 0 outside
(`ta.facts.zeros.vanishes_outside`).
"""

from __future__ import annotations

from functools import lru_cache

from einderive.ta.facts.zeros import zero_reads
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope


def needed(scope: Scope, position: int) -> Range:
    """The part of the iterator's range outside which a factor surely reads outside its source."""
    return _needed(scope)[position]


@lru_cache(maxsize=64)
def _needed(scope: Scope) -> tuple[Range, ...]:
    domain = scope.domain
    lows, highs = [lo for lo, _ in domain], [hi for _, hi in domain]
    for row, bound in zero_reads(scope.body):
        least, greatest = affine.bounds(Row(row.const, row.terms), domain)
        for position, a in row.terms:
            lo, hi = domain[position]
            # what the rest of the row can be, whatever this iterator is
            first, last = (a * lo, a * (hi - 1)) if a > 0 else (a * (hi - 1), a * lo)
            rest = Range(least - first, greatest - last + 1)
            if row.floors:
                if any(position in affine.iterators(inner) for inner, _, _ in row.floors):
                    continue
                rest = affine.row_range(affine.add(row, affine.iterator(position), -a), domain)
            down, up = bound.lo - (rest.hi - 1), bound.hi - 1 - rest.lo
            if a < 0:
                down, up = -up, -down
            lows[position] = max(lows[position], -(-down // abs(a)))
            highs[position] = min(highs[position], up // abs(a) + 1)
    return tuple([Range(lo, max(lo, hi)) for lo, hi in zip(lows, highs, strict=True)])
