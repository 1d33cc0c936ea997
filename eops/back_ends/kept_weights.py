"""Stages that read weights alone: computed once for the same weights, and kept.

They are computed again if a weight is another tensor, or was written to through torch, and after a
step of any optimizer: the fused ones write past torch's count.  The weights of the last call are
kept alive, so that no other tensor can take their address.  Threads that call with different
weights replace the kept results, and each returns its own.  A CUDA graph computes them at each
replay: it would not see that weights change, and kept results that were replaced are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.eops.capture import capturing
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.stage import lower_all
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Tensor

_numbers: Final = count(1)
_period = 0


def forget(*_: object) -> None:
    """What is kept is computed again when it is next asked for."""
    global _period
    _period = next(_numbers)


register_optimizer_step_post_hook(forget)


def _lower(task: Task) -> Run | None:
    if not task.weights:
        return None
    computed = task.form or task.scope
    compute = lower_all(computed, as_written=task.strict)
    needed = input_tensors(computed)
    last: tuple[object, list[torch.Tensor], torch.Tensor] | None = None
    given: tuple[Tensor, ...] = ()

    @opaque
    def kept(*buffers: torch.Tensor) -> torch.Tensor:
        nonlocal last
        inputs = dict(zip(given, buffers, strict=True))
        if capturing():
            with torch.no_grad():
                return compute(inputs)
        found = [inputs[source] for source in needed]
        key = [_period, *map(_state, found)]
        held = last  # read once: another thread may replace it at any time
        if held is None or held[0] != key:
            with torch.no_grad():
                held = last = (key, found, compute(inputs))
        return held[2]

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        nonlocal given
        given = given or tuple(source for source in buffers if isinstance(source, Tensor))
        return kept(*(buffers[source] for source in given))  # all, for a constant's type

    return run


def _state(tensor: torch.Tensor) -> object:
    """Equal for two calls only where the tensor holds the same elements, as far as torch knows.
    Writes to a tensor of inference mode are not counted, so it equals nothing."""
    version = object() if tensor.is_inference() else tensor._version
    signs = tensor.is_conj(), tensor.is_neg()  # such views have the memory of what they are of
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, signs, version


KEPT_WEIGHTS = BackEnd(_lower)
