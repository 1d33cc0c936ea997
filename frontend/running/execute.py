"""A plan as something that runs: one callable a stage, buffers dropped after their last reader."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import torch

from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import FOLDED, Stage
from einderive.eops.library import by_name
from einderive.eops.library.elementwise import ELEMENTWISE
from einderive.eops.opaque import opaque
from einderive.eops.torch_views.stage import lower, lower_all
from einderive.eops.torch_views.types import HALVES, depends_on_inputs, is_whole
from einderive.frontend.running.results import owned
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.subst import nested_scopes, sources

Run = Callable[[Mapping[Any, torch.Tensor]], torch.Tensor]


@dataclass(frozen=True)
class Executable:
    """Stages in order; `runs[i]` computes `scopes[i]` from the inputs and earlier stages.

    `kept` are the stages whose memory later calls read again.  `types` are those of the formula's
    outputs, which a program takes on at its end: its own steps may have left the integers, or not
    left them, where the formula does otherwise.  What a call gives back is memory of its own: see
    `frontend.running.results`."""

    roots: tuple[Scope, ...]
    scopes: tuple[Scope, ...]
    runs: tuple[Run, ...]
    words: tuple[str, ...]
    kept: tuple[Scope, ...] = ()
    types: tuple[torch.dtype, ...] = ()

    @cached_property
    def _dropped(self) -> dict[int, list[Scope]]:
        """For each position, the stages that are not needed after it."""
        held = {*self.roots, *self.kept}
        return {
            position: [scope for scope in read if scope not in held]
            for position, read in _last_use(self.scopes).items()
        }

    def __call__(self, inputs: Mapping[Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        buffers: dict[Any, torch.Tensor] = dict(inputs)
        dropped = self._dropped
        for position, (scope, run) in enumerate(zip(self.scopes, self.runs, strict=True)):
            buffers[scope] = run(buffers)
            for source in dropped.get(position, ()):
                buffers.pop(source, None)
        others = (*inputs.values(), *(buffers[scope] for scope in self.kept))
        results = [buffers[root] for root in self.roots]
        if self.types:
            results = [_cast(y, dtype) for y, dtype in zip(results, self.types, strict=True)]
        return owned(results, others)


def _cast(result: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The result in the type, unless a float would become an integer: it may hold other digits, so
    it stays for acceptance to refuse."""
    return result if is_whole(dtype) and not is_whole(result.dtype) else result.to(dtype)


def _last_use(scopes: Sequence[Scope]) -> dict[int, list[Scope]]:
    """For each position, the scopes that nobody reads after it."""
    last: dict[Scope, int] = {}
    for position, scope in enumerate(scopes):
        pending = [scope]
        while pending:  # an operator may read past its nested scopes, so all that lie below count
            for source in nested_scopes(pending.pop()):
                if last.get(source) != position:
                    last[source] = position
                    pending.append(source)
    found: dict[int, list[Scope]] = {}
    for scope, position in last.items():
        found.setdefault(position, []).append(scope)
    return found


def executable(
    plan: Plan, device: str, types: Sequence[torch.dtype] = (), *, strict: bool = False
) -> Executable:
    """The plan's stages on `cpu` or `cuda`: library operators by their launchers, eOperators
    through torch on strided views on the CPU and as Triton kernels on a GPU.  `types`: see
    `Executable`.  `strict`: eOperators keep NaN and infinities where the stages have them."""
    runs = [_stage(stage, device, strict) for stage in plan.stages]
    return Executable(
        plan.roots,
        tuple(stage.scope for stage in plan.stages),
        tuple(run for run, _ in runs),
        tuple(word for _, word in runs),
        tuple(stage.scope for stage in plan.stages if stage.operator == FOLDED),
        tuple(types),
    )


def _stage(stage: Stage, device: str, strict: bool) -> tuple[Run, str]:
    if stage.operator == FOLDED:
        return _folded(stage.scope, strict), FOLDED
    if stage.operator == ELEMENTWISE.name and device == "cuda" and depends_on_inputs(stage.scope):
        return _elementwise(stage.scope), stage.operator
    if stage.operator is not None and stage.binding is not None:
        return by_name(stage.operator).launch(stage.binding), stage.operator
    if stage.operator is not None:
        return lower(stage.scope, as_written=strict), stage.operator
    if device == "cuda" and depends_on_inputs(stage.scope):  # else its type is the program's
        return triton_stage(stage.scope), "eOperator (Triton)"
    return lower(stage.scope, as_written=strict), "eOperator (strided views)"


def _elementwise(scope: Scope) -> Run:
    """torch's operations, one after the other; a kernel where these would first write out each
    half-precision operand in float32, and then the result (docs/measurements/gpu.md)."""
    library, kernel = lower(scope), triton_stage(scope)
    read = sources(scope.body)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        types = [buffers[source].dtype for source in read]
        halves = reduce(torch.promote_types, types) in HALVES
        return kernel(buffers) if halves else library(buffers)

    return run


def _folded(scope: Scope, strict: bool) -> Run:
    """The stage computed when its weights are first seen, and again when one of them is another
    tensor or was written to through torch.

    The weights seen last are kept alive, so that another one cannot come to lie at their address.
    Threads that call with different weights replace what is kept, and each gives back its own.
    """
    compute = lower_all(scope, as_written=strict)
    needed = input_tensors(scope)
    last: tuple[object, list[torch.Tensor], torch.Tensor] | None = None
    given: tuple[Tensor, ...] = ()

    @opaque
    def kept(*buffers: torch.Tensor) -> torch.Tensor:
        nonlocal last
        inputs = dict(zip(given, buffers, strict=True))
        found = [inputs[source] for source in needed]
        key = [_state(tensor) for tensor in found]
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


def triton_stage(scope: Scope) -> Run:
    """The stage as a generated kernel, for each tuple of element types that it meets."""
    from einderive.eops.triton_kernels.launch import (
        launcher,  # Triton is needed only where a GPU is
    )

    read = sources(scope.body)
    launch = opaque(launcher(scope))
    return lambda buffers: launch(*[buffers[source] for source in read])
