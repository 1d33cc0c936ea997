"""Calls within `torch.autograd.grad(..., is_grads_batched=True)`.

torch maps the backward pass there by an older mechanism than `torch.func.vmap`, whose tensors few
functions take.  Here the call is mapped by `torch.func.vmap`, and the results are handed back as
tensors of the older one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

batched: Final = torch._C._functorch.is_legacy_batchedtensor


def called(function: Callable[..., Any], operands: Sequence[torch.Tensor]) -> Any:
    """The results of the function, some of whose operands may be tensors of the older mechanism."""
    older = any(map(batched, operands))
    return mapped(function, operands) if older else function(*operands)


def mapped(function: Callable[..., Any], operands: Sequence[torch.Tensor]) -> Any:
    """The results of the function, some of whose operands are tensors of the older mechanism."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    places = tuple(0 if batched(operand) else None for operand in operands)
    given = [
        operand if place is None else torch._remove_batch_dim(operand, level, 1, place)
        for operand, place in zip(operands, places, strict=True)
    ]
    found = torch.func.vmap(function, places)(*given)
    # torch strides a tangent like its output, which the older mechanism does for a batch that comes
    # first in memory
    if isinstance(found, tuple):
        return tuple(torch._add_batch_dim(result.contiguous(), 0, level) for result in found)
    return torch._add_batch_dim(found.contiguous(), 0, level)
