"""A plan as something that runs: one callable a stage, buffers dropped after their last reader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, cast

import torch

from einderive.derivations.record.assumptions import used_by_all
from einderive.derivations.search.extract import Plan
from einderive.derivations.search.graph import FOLDED, VIEW, Stage
from einderive.eops.back_ends import fused, lowered
from einderive.eops.back_ends.narrow_products import LANES, LEAST_APART, is_narrow
from einderive.eops.back_ends.task import Fused, Run, Task
from einderive.eops.back_ends.window_products import has_long_sums
from einderive.eops.library.matmul import MATMUL
from einderive.eops.timed import untimed
from einderive.eops.torch_views.types import depends_on_inputs, is_whole
from einderive.frontend.assumptions.check import Check, check_of
from einderive.frontend.running.about_maxima import about_maxima
from einderive.frontend.running.constants import once
from einderive.frontend.running.products import narrow_product
from einderive.frontend.running.results import owned
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.subst import nested_scopes


@dataclass(frozen=True)
class Executable:
    """A program that runs stage by stage: `runs[i]` computes `scopes[i]` from the inputs and
    earlier stages.

    - `kept` are the stages whose memory later calls read again.
    - `assumed` are the inputs whose assumptions each call checks.
    - `types` are the element types of the formula's outputs.  The results are converted to them,
      since a derived program may compute in others: floats where the formula has integers, or
      integers where it has floats.
    - `timed`: the form of a narrow product may be chosen by timing when it runs (`eops.timed`).

    Results have memory of their own (`frontend.running.results`)."""

    roots: tuple[Scope, ...]
    scopes: tuple[Scope, ...]
    runs: tuple[Run, ...]
    words: tuple[str, ...]
    kept: tuple[Scope, ...] = ()
    types: tuple[torch.dtype, ...] = ()
    assumed: tuple[Tensor, ...] = ()
    timed: bool = False

    @cached_property
    def _checks(self) -> list[tuple[Tensor, Check]]:
        return [(tensor, check_of(tensor)) for tensor in self.assumed]

    @cached_property
    def _dropped(self) -> dict[int, list[Scope]]:
        """For each position, the stages that are not needed after it."""
        held = {*self.roots, *self.kept}
        return {
            position: [scope for scope in read if scope not in held]
            for position, read in _last_use(self.scopes).items()
        }

    def __call__(self, inputs: Mapping[Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        for tensor, check in self._checks:
            check(inputs[tensor])
        buffers: dict[Any, torch.Tensor] = dict(inputs)
        dropped = self._dropped
        with nullcontext() if self.timed else untimed():
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
    plan: Plan,
    device: str,
    types: Sequence[torch.dtype] = (),
    *,
    strict: bool = False,
    compiled: bool = False,
    wide: bool = False,
    open_sizes: bool = False,
    sizes: Iterable[int] = (),
    checked: bool = True,
    timed: bool = True,
) -> Executable:
    """The plan's stages on `cpu` or `cuda`: library operators by their launchers, eOperators
    through torch on strided views on the CPU and as Triton kernels on a GPU.  `types`: see
    `Executable`.  `strict`: eOperators keep NaN and infinities where the stages have them.
    `compiled`: stages, and groups of these, become compiled loops on the CPU, where that may be
    faster, and generated kernels on a GPU, also where an operator computes them; with `open_sizes`,
    these serve other sizes too than `sizes`, which have names.  `wide`: compiled loops compute in
    float64 what the formula computes in float32.  `checked`: each call checks the
    assumptions that the plan's steps used.  `timed`: see `Executable`."""
    inputs = tuple(tensor.dtype for tensor in input_tensors(*plan.roots))
    tasks = [
        replace(task, open_sizes=open_sizes, inputs=inputs, sizes=tuple(sizes), wide=wide)
        for task in tasks_of(plan.stages, device, strict, compiled)
    ]
    units = _in_order(tasks, fused(tasks, plan.roots))
    scopes: list[Scope] = []
    runs: list[Run] = []
    words: list[str] = []
    constant: list[Scope] = []
    for unit in units:
        if isinstance(unit, Fused):
            scopes += unit.outputs
            runs += _one_by_one(unit)
            words.append(unit.word)
        else:
            run, word = lowered(replace(unit, alone=unit.alone or _may_be_alone(unit)))
            scopes.append(unit.scope)
            if not depends_on_inputs(unit.scope):
                constant.append(unit.scope)
                run = once(run)
            runs.append(run)
            words.append(word)
    return Executable(
        plan.roots,
        tuple(scopes),
        tuple(runs),
        tuple(words),
        (*(stage.scope for stage in plan.stages if stage.operator == FOLDED), *constant),
        tuple(types),
        used_by_all(plan.steps) if checked else (),
        timed,
    )


def tasks_of(
    stages: Sequence[Stage], device: str, strict: bool = False, compiled: bool = False
) -> list[Task]:
    """The tasks of a program's stages for back ends.  A small narrow product, or one of few terms,
    is computed by itself only where nothing else is computed."""
    tasks = [task_of(stage, device, strict, compiled) for stage in stages]
    if sum(stage.operator != VIEW for stage in stages) < 2:
        return tasks
    return [replace(task, alone=_may_be_alone(task) and not _has_few_terms(task)) for task in tasks]


def _may_be_alone(task: Task) -> bool:
    return is_narrow(task.binding, task.operator, LEAST_APART)


def _has_few_terms(task: Task) -> bool:
    """Whether it takes longer to write the elements of the product and to read them than to compute
    them where they are needed: rows of so many elements are written out or fill vectors."""
    if task.binding is None or task.binding.extent("k") > FEW_TERMS:
        return False
    row = task.scope.shape[-1]
    return row <= FEW_COLUMNS or row >= LANES


def task_of(stage: Stage, device: str, strict: bool = False, compiled: bool = False) -> Task:
    """The task of the stage for back ends, if nothing else is computed."""
    weights = stage.operator == FOLDED
    loops = compiled and device == "cpu"
    if loops and stage.operator is None and (product := narrow_product(stage.scope)):
        stage = stage._replace(operator=MATMUL.name, binding=product)
    name = stage.operator or ""
    narrow = is_narrow(stage.binding, stage.operator)
    apart = has_long_sums(stage.binding, stage.operator) or _library_is_faster(stage)
    own = compiled and (narrow or not (loops and apart))
    form = about_maxima(stage.scope) if weights and not strict else None
    return Task(
        stage.scope, device, name, stage.binding, weights, strict, own, alone=narrow, form=form
    )


def _library_is_faster(stage: Stage) -> bool:
    """Whether the stage is a sum of products that its library operator computes in less time than a
    loop over its points, as far as predictions say."""
    if stage.operator is None or not stage.scope.sums or stage.reads_past:
        return False
    loop = prod(stage.scope.extents) * PRODUCT_SECONDS / torch.get_num_threads()
    return loop > CLEARLY * stage.seconds > 0


FEW_TERMS = 4
"""A product of at most so many terms may be a part of another stage's kernel."""
FEW_COLUMNS = 4
"""Rows of 5 to 15 elements would be vectors that are not full."""
PRODUCT_SECONDS = 1e-10
"""A loop takes about so long for a product and its sum, on one thread."""
CLEARLY = 1.5


def _in_order(tasks: Sequence[Task], together: Sequence[Fused]) -> list[Task | Fused]:
    """Stages, and groups of these, so that each comes after what it reads."""
    inside = {stage for one in together for stage in one.stages}
    units: list[Task | Fused] = [task for task in tasks if task.scope not in inside]
    if not together:
        return units
    units += together
    reads = {task.scope: task.reads for task in tasks}

    def needed(unit: Task | Fused) -> set[Scope]:
        stages = unit.stages if isinstance(unit, Fused) else (unit.scope,)
        read = {source for stage in stages for source in reads[stage]} - {*stages}
        return read & reads.keys()

    made: set[Scope] = set()
    found: list[Task | Fused] = []
    while units:
        ready = next(unit for unit in units if needed(unit) <= made)
        units.remove(ready)
        found.append(ready)
        made |= {*(ready.outputs if isinstance(ready, Fused) else (ready.scope,))}
    return found


def _one_by_one(unit: Fused) -> list[Run]:
    """The outputs of a group one after the other: the first run computes all of them and puts the
    others among the buffers."""
    others = unit.outputs[1:]

    def whole(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        found = unit.run(buffers)
        cast(dict[Any, torch.Tensor], buffers).update(zip(unit.outputs, found, strict=True))
        return found[0]

    def part(scope: Scope) -> Run:
        return lambda buffers: buffers[scope]

    return [whole, *(part(scope) for scope in others)]
