"""How operations on whole arrays go through memory.

    Y[i,j,k] = A[i,j,k]*B[i,j]      one inner loop, over k, for each i and j
    Y[i,j,k] = A[i,j,k]*E[i,j,k]    none: all three loops are one
    Y[i] = sum[k](A[k,i])           adds rows of memory to each other
    Y[i] = sum[k](A[i,k])           adds along rows

An operation goes through memory in loops that are as long as all operands step on together, and
each such loop costs time of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row, bits
from einderive.ta.ir.node import Access, Const, Node, Scope, Source
from einderive.ta.ir.subst import children, walk


def broadcast_rows(body: Node, extents: Sequence[int]) -> float:
    """The number of inner loops of all operations of the body."""
    found = 0.0
    for node in walk(body):
        if isinstance(node, Access | Const):
            continue
        frees = {part.free for part in children(node)} - {0}
        if len(frees) > 1:
            loops = affine.volume(extents, node.free) / max(1, _together(node.free, frees, extents))
            found += loops * max(1, len(children(node)) - 1)
    return found


def _together(free: int, frees: set[int], extents: Sequence[int]) -> int:
    """The elements over which all operands step on together: the product of the last extents whose
    iterators occur in the same operands."""
    length, first = 1, None
    for i in reversed([*bits(free)]):
        if extents[i] == 1:
            continue
        held = frozenset(each for each in frees if each >> i & 1)
        first = first or held
        if held != first:
            break
        length *= extents[i]
    return length


def dense_strides(source: Source, rows: Sequence[Row]) -> dict[int, int]:
    """Each iterator's step through a densely stored source: sum of coefficient * stride."""
    steps: dict[int, int] = {}
    stride = 1
    for row, extent in zip(reversed(rows), reversed(source.shape), strict=True):
        for i, a in row.terms:
            steps[i] = steps.get(i, 0) + a * stride
        stride *= extent
    return steps


def adds_rows(scope: Scope, read: Access) -> bool:
    """Whether a loop of the scope runs along the memory of what it reads: then a reduction combines
    whole rows, and many results at once."""
    steps = dense_strides(read.source, read.rows)
    return any(
        abs(steps.get(i, 0)) == 1 and extent > 1
        for i, extent in enumerate(scope.extents[: len(scope.loops)])
    )
