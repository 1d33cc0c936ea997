"""The integers of which each picks an element of a dimension: the indices of gathers and scatters.

    Y[n,b] = E[I[n],b]        I[n] is compared with the iterator of E's first dimension

Random indices reach the whole dimension, as users' do: what a gather costs depends on how far apart
its reads are, and a loop over indices that lie outside now and then on the branches it takes.
"""

from __future__ import annotations

from collections.abc import Mapping

from einderive.eops.dtypes import LIMITS
from einderive.ta.exact.one_term import equalities
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Node, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages, walk

Reach = Mapping[Tensor, Range]
"""The range of a dimension by the tensor of its indices."""


def reach_of(program: Program) -> Reach:
    """The tensors of indices, with the least range that holds all dimensions that they pick from.
    An index that is computed from several tensors, or from numbers, says nothing of these."""
    found: dict[Tensor, Range] = {}
    for stage in stages(*program.roots()):
        for node in walk(stage.body):
            for iterator, value in equalities(node):
                tensor = _indices(value)
                if tensor is not None:
                    bound = stage.domain[iterator]
                    known = found.get(tensor, bound)
                    found[tensor] = Range(min(known.lo, bound.lo), max(known.hi, bound.hi))
    return found


def _indices(value: Node) -> Tensor | None:
    if not isinstance(value, Access) or not isinstance(value.source, Tensor):
        return None
    return value.source if is_input(value.source) and value.source.dtype in LIMITS else None
