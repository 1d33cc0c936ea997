"""The chosen program as lines of Python that name torch's functions and compiled loops on disk, for
later processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from einderive.eops.opaque import kernel_of
from einderive.frontend.call.record import Call
from einderive.frontend.call.simplify import Simple
from einderive.frontend.call.source import ends_of
from einderive.frontend.call.written import LOOPS, Written, run_of
from einderive.frontend.export.calls import constants, steps
from einderive.frontend.trial.entrants import PROBLEMS, Entrant, Judge, gives_the_same, links
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import Tensor

MOST_CHARACTERS = 1 << 16
"""Longer texts are not kept."""


def forms(entrant: Entrant, judge: Judge) -> dict[str, Any]:
    """The fields of an `Outcome` that say in which other forms the program may run."""
    linked, simple = links(entrant, judge)
    return {"linked": linked, "written": written(simple, entrant, judge)}


def written(simple: Simple | None, entrant: Entrant, judge: Judge) -> Written | None:
    """The lines of a recorded program, run once and judged as the program itself was.  None on a
    GPU, where operands are not dense, and where a call is neither one of torch nor compiled loops
    that are kept: a check of assumptions, results of weights, a scatter."""
    operands = judge.operands
    if simple is None or judge.device != "cpu":
        return None
    if not all(operand.is_contiguous() for operand in operands):
        return None
    try:
        results = "".join(f"v{number}, " for number in simple.results)
        arrays = (simple.values[n].layout.dtype is not torch.bfloat16 for n in simple.results)
        kernels = _Kernels(simple)
        calls = (*steps(simple, kernels.call, ends_of(simple)), f"return ({results})")
        found = Written((*constants(simple), *kernels.lines), calls, tuple(arrays))
        if sum(map(len, (*found.constants, *calls))) > MOST_CHARACTERS:
            return None
        run = run_of(found, len(operands))

        def again(inputs: Mapping[Tensor, torch.Tensor]) -> Sequence[torch.Tensor]:
            given: Sequence[torch.Tensor] = run(*[inputs[t] for t in judge.program.inputs])
            return given

        return found if gives_the_same(again, entrant, judge) else None
    except PROBLEMS:
        return None


@dataclass
class _Kernels:
    """The lines that bind a program's kernels to names."""

    simple: Simple
    lines: list[str] = field(default_factory=list)

    def call(self, call: Call) -> str:
        """The text of a call of a kernel.  BuildError where it is none, or is not kept."""
        layouts = [self.simple.values[arg.number].layout for arg in call.args]
        if any(any(layout.signs) for layout in layouts):
            raise BuildError("a lazy negation or conjugation")
        kernel = kernel_of(call.function, [layout.meta() for layout in layouts])
        kept = None if kernel is None else kernel.kept()
        if kept is None:
            raise BuildError("a call that is neither one of torch's nor a kernel on disk")
        name = f"k{len(self.lines)}"
        self.lines.append(f"{name}{LOOPS}{', '.join(map(repr, kept))})")
        arguments = ", ".join(f"v{arg.number}" for arg in call.args)
        return f"{name}({arguments}){'' if call.spread else '[0]'}"
