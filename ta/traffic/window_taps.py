"""Reductions over sliding windows that are computed tap by tap.

    Y[h] = S[r] A[h+r-1] * K[r]:     Y[1:] += A[:-1]*K[0];   Y += A*K[1];   Y[:-1] += A[1:]*K[2]

Each tap is a pass over all outputs, along the loops.
"""

from __future__ import annotations

from math import prod
from typing import Final

from einderive.ta.functions import REDUCERS
from einderive.ta.ir.affine import Row
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Mul, Scope

MOST_TAPS: Final = 128
BLOCK: Final = 1 << 18
"""Outputs that stay in the cache while all taps are added to them."""
LEAST_LOOPS: Final = 1 << 12
"""With fewer outputs than this, the calls cost more than the passes that they save."""


def tapped(scope: Scope) -> tuple[Access, ...] | None:
    """The reads of a reduction that is computed tap by tap; None if that does not apply or does not
    pay.

    It applies to one read, or to a product of two of which one brings no loop of its own, if some
    row adds a reduction iterator to a loop iterator and reads outside give the identity.

    Over one window iterator, torch's own reduction is faster (31 taps on 16 x 256 x 256: 0.7
    against 4.6 ms).  Over two it is slower (5 x 5: 23 against 3.9 ms), and its padding costs time
    if the source is larger than the result.
    """
    if not 1 < prod(bound.extent for bound in scope.sums) <= MOST_TAPS or scope.size < LEAST_LOOPS:
        return None
    coefficient, core = split_coefficient(scope.body)
    factors = core.factors if isinstance(core, Mul) else (core,)
    reads = tuple(factor for factor in factors if isinstance(factor, Access))
    if len(reads) < len(factors) or len(reads) > 2:
        return None
    if scope.reducer != "sum" and (len(reads) > 1 or coefficient != 1):
        return None
    identity = REDUCERS[scope.reducer].identity
    loops = (1 << len(scope.loops)) - 1
    if len(reads) == 2:
        used = [read.free & loops for read in reads]
        if used[0] | used[1] not in used:
            return None
    one_window = len(reads) == 1 and len(scope.sums) == 1
    if one_window and reads[0].source.size <= 2 * scope.size:
        return None
    suits = all(read.fill == identity and _one_loop_each(read, loops) for read in reads) and any(
        _slides(row, loops) for read in reads for row in read.rows
    )
    return reads if suits else None


def _one_loop_each(read: Access, loops: int) -> bool:
    """Whether every row is affine with at most one loop iterator, of positive coefficient."""
    for row in read.rows:
        signs = [a > 0 for i, a in row.terms if loops >> i & 1]
        if row.floors or len(signs) > 1 or not all(signs):
            return False
    return True


def _slides(row: Row, loops: int) -> bool:
    return len({bool(loops >> i & 1) for i, _ in row.terms}) == 2
