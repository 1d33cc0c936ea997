"""The inner loops of operations whose operands do not share all loops.

    Y[i,j,k] = A[i,j,k]*B[i,j]      one inner loop, over k, for each i and j
    Y[i,j,k] = A[i,j,k]*B[k]        one for each i and j too
    Y[i,j,k] = A[i,j,k]*B[i,j,k]    none: all three loops are one

An operation on whole arrays goes through memory in loops that are as long as all operands step on
together, and each such loop costs time of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.ir import affine
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Access, Const, Node
from einderive.ta.ir.subst import children, walk


def broadcast_rows(body: Node, extents: Sequence[int]) -> float:
    """The number of inner loops of all operations of the body."""
    found = 0.0
    for node in walk(body):
        if isinstance(node, Access | Const):
            continue
        frees = {part.free for part in children(node)} - {0}
        if len(frees) > 1:
            loops = affine.volume(extents, node.free) // _together(node.free, frees, extents)
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
