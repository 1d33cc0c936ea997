"""Assumptions of a formula about the elements of a tensor: `assume A > 0`, `assume 0 <= A < 1`.

An assumption is part of the tensor, `Tensor.bounds`, so that every expression that reads the tensor
carries it.  It holds for the elements alone: a read outside of the tensor gives the fill.  Under
any assumption, no element is NaN.  An element may be infinite if the bounds allow it: `assume
A < inf`.
"""

from __future__ import annotations

from einderive.ta.ir import expr
from einderive.ta.ir.node import ANY, Scope, Tensor
from einderive.ta.ir.sources import with_tensors
from einderive.ta.ir.subst import sources, stages


def assuming(scope: Scope) -> tuple[Tensor, ...]:
    """The tensors with assumptions that the scope reads, directly or through other scopes."""
    read = (source for stage in stages(scope) for source in sources(stage.body))
    found = (each for each in read if isinstance(each, Tensor) and each.bounds != ANY)
    return tuple(dict.fromkeys(found))


def forgotten(scope: Scope, tensors: frozenset[Tensor]) -> Scope:
    """The scope in which these tensors have no assumptions."""

    def plain(tensor: Tensor) -> Tensor:
        if tensor not in tensors:
            return tensor
        return expr.tensor(tensor.name, tensor.shape, tensor.dtype)

    return with_tensors(scope, plain)
