"""The memory that a call keeps for its backward pass, as torch's hooks for saved tensors see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

PAGE: Final = 4096
"""So few bytes more are no reason against a way: the nodes of torch's graph take about as many."""


def kept_bytes(call: Callable[[], object]) -> int:
    """The bytes of the distinct memory that the call saves, operands and results included."""
    return sum(_kept(call)[0].values())


def keeps_results(call: Callable[[], object]) -> bool:
    """Whether a result may not be changed in place, since the backward pass reads it."""
    found, result = _kept(call)
    results = result if isinstance(result, tuple) else (result,)
    return any(y.untyped_storage().data_ptr() in found for y in results)


def _kept(call: Callable[[], object]) -> tuple[dict[int, int], Any]:
    """The bytes by address, and the result, which holds the memory."""
    found: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        found[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        result = call()
    return found, result
