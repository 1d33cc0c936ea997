"""A long reduction to few results, in two kernels, so that all of a GPU works on it.

    S[k in 0:N] f(k)  =  S[u in 0:P] R[u],    R[u] = S[v in 0:C] where(C*u+v < N, f(C*u+v), 0)

Without this, one program reduces each output, or each tile of a product, and the rest of the GPU
waits.  R has the type that the stage computes in.  Only the order of the terms changes.  The loop
over u comes first: the lanes of a block run along the stage's own last loop, and so they read and
write elements that lie side by side, as without the division.
"""

from __future__ import annotations

from math import prod
from typing import Final

from einderive.eops import dtypes as types
from einderive.eops.triton_kernels.contraction import contraction
from einderive.eops.triton_kernels.plan import default_dtype
from einderive.eops.triton_kernels.tuning.blocks import UNITS
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Scope
from einderive.ta.ir.subst import accesses, sources, substitute
from einderive.ta.traffic.walks import dense_strides

PROGRAMS: Final = 2 * UNITS
"""This many programs keep a GPU busy."""
TILE: Final = 64
"""Rows and columns of a usual tile of a product."""
TERMS: Final = 4096
"""The least number of terms in a part of a reduction."""
DEPTH: Final = 512
"""The same for a product, which multiplies a tile with each term."""
ABREAST: Final = 32
"""Outputs that a program reduces at once where no operand runs along the sums: each load is a line
of memory."""
ABREAST_TERMS: Final = 512
"""The least number of terms in a part of such a reduction."""
BUSIER: Final = 8
"""Times as many programs keep a GPU busy with loads of such lines: 256 programs reach half of the
bandwidth of an H200 (columns of 8192 x 8192 in bfloat16)."""
WIDE: Final = 4
"""Times as many keep it busy with products that have no matrix instructions, which wait for each
other: 128 programs reach a third of the library's speed there (a convolution in float32)."""


def split(stage: Scope) -> tuple[Scope, Scope] | None:
    """The stage's parts, with one more loop, and the stage as a reduction of these.  None if one
    kernel is as good."""
    if stage.empty or stage.reducer == "prod":
        return None
    count = parts(stage)
    if count < 2:
        return None
    loops, sums = stage.loops, list(stage.sums)
    longest = max(range(len(sums)), key=lambda s: sums[s].extent)
    side = sums[longest]
    step = -(-side.extent // _near_divisor(side.extent, min(count, side.extent)))
    count = -(-side.extent // step)
    rows = [affine.iterator(1 + i) for i in range(len(loops) + len(sums))]
    inside = rows[len(loops) + longest]
    term = affine.shift(affine.add(inside, affine.iterator(0), step), side.lo)
    rows[len(loops) + longest] = term
    body = substitute(stage.body, rows)
    if side.extent % step:
        beyond = affine.add(affine.constant(side.hi - 1), term, -1)
        identity = expr.const(REDUCERS[stage.reducer].identity)
        body = expr.select([Condition(">=", beyond)], body, identity)
    sums[longest] = affine.Range(0, step)
    partial = make_scope([(0, count), *loops], sums, body, stage.reducer)
    read = [affine.iterator(len(loops)), *affine.iterator_rows(len(loops))]
    return partial, make_scope(loops, [(0, count)], expr.access(partial, read), stage.reducer)


def parts(stage: Scope) -> int:
    """The number of parts that keeps a GPU busy, where each is long enough."""
    terms = prod(side.extent for side in stage.sums)
    roles = contraction(stage)
    outputs = max(prod(stage.shape), 1)
    if roles is None:
        if _runs_along_sums(stage):
            return min(PROGRAMS // outputs, terms // TERMS)
        return min(BUSIER * PROGRAMS // -(-outputs // ABREAST), terms // ABREAST_TERMS)
    batch, m, n = (
        prod(stage.domain[i].extent for i in role) for role in (roles.batch, roles.m, roles.n)
    )
    tiles = batch * -(-m // TILE) * -(-n // TILE)
    exact = {types.BYTES[default_dtype(source)] >= 4 for source in sources(stage.body)}
    return min((WIDE if any(exact) else 1) * PROGRAMS // tiles, terms // DEPTH)


def _runs_along_sums(stage: Scope) -> bool:
    """Whether some operand, or none, has its elements one after the other along a sum."""
    first = len(stage.loops)
    reads = [dense_strides(read.source, read.rows) for read in accesses(stage.body)]
    along = [abs(steps.get(i, 0)) == 1 for steps in reads for i in range(first, len(stage.domain))]
    beside = [abs(steps.get(i, 0)) == 1 for steps in reads for i in range(first)]
    return any(along) or not any(beside)


def _near_divisor(extent: int, parts: int) -> int:
    """The greatest divisor of the extent among the upper half of the numbers up to `parts`, so that
    no part is shorter than others; else `parts`."""
    divisors = (p for p in range(parts, parts // 2, -1) if extent % p == 0)
    return next(divisors, parts)
