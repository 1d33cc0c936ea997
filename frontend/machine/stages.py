"""The stages of a program, each timed alone, warm, with the operands' real layouts.

T[i] = f(A[i]); Y[i] = g(T[i])      seconds of f on A, then of g on the T that f gave
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from einderive.derivations.search.graph import Stage
from einderive.eops.back_ends import lowered
from einderive.frontend.machine.clock import least
from einderive.frontend.machine.linked import linked
from einderive.frontend.memory.structure import structure
from einderive.frontend.running.execute import task_of
from einderive.ta.ir.node import Node
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.subst import sources

STAGE_SECONDS = 0.01
"""A stage is timed for about so long."""

Time = Callable[[Callable[[], object], float], float]
Buffers = Mapping[Any, torch.Tensor]
"""Tensors and scopes, each with the torch tensor that holds it."""


def timed_stages(
    stages: tuple[Stage, ...],
    inputs: Buffers,
    time: Time = least,
    known: Callable[[str], float | None] = lambda key: None,
) -> Iterator[tuple[Stage, str, float]]:
    """Each stage that computes something, with its key (`stage_key`) and its seconds.  What is
    `known` by its key is not timed again."""
    buffers: dict[Any, torch.Tensor] = dict(inputs)
    with torch.no_grad():
        for stage in stages:
            run, _ = lowered(task_of(stage, "cpu"))
            if not stage.seconds:
                buffers[stage.scope] = run(buffers)
                continue
            key = stage_key(stage, buffers)
            found = known(key)
            if found is None:
                buffers[stage.scope], call = linked(run, buffers)
                found = time(call, STAGE_SECONDS)
            else:
                buffers[stage.scope] = run(buffers)
            yield stage, key, found


def stage_key(stage: Stage, buffers: Buffers) -> str:
    """A digest of what the time of a stage depends on besides the machine: its text without names,
    the operator, and the ranges, types and strides of what it reads.

    The stages of two formulas that differ in names only, or in what comes before them, have the
    same key."""
    task = task_of(stage, "cpu")
    own = [source for source in sources(stage.scope.body) if is_input(source)]
    past = [read.source for read in stage.binding.operands] if stage.binding else []
    read = dict.fromkeys([*own, *past, *task.reads])
    names: dict[Node, str] = {source: f"T{number}" for number, source in enumerate(read)}
    layouts = [
        (source.ranges, tuple(buffers[source].stride()), str(buffers[source].dtype))
        for source in read
        if source in buffers
    ]
    found = (stage.operator or "", structure([stage.scope], names), layouts)
    return hashlib.sha256(repr(found).encode()).hexdigest()[:32]
