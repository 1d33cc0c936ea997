"""The chosen program as lines of Python that name torch's functions, for later processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import torch

from einderive.frontend.call.record import Call
from einderive.frontend.call.simplify import Simple
from einderive.frontend.call.source import ends_of
from einderive.frontend.call.written import Written, run_of
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
    GPU, where operands are not dense, and where a call is not one of torch: a generated kernel, a
    check of what the formula promises, results of weights that are kept."""
    operands = judge.operands
    if simple is None or judge.device != "cpu":
        return None
    if not all(operand.is_contiguous() for operand in operands):
        return None
    try:
        results = "".join(f"v{number}, " for number in simple.results)
        arrays = (simple.values[n].layout.dtype is not torch.bfloat16 for n in simple.results)
        calls = (*steps(simple, _own, ends_of(simple)), f"return ({results})")
        found = Written(tuple(constants(simple)), calls, tuple(arrays))
        if sum(map(len, (*found.constants, *calls))) > MOST_CHARACTERS:
            return None
        run = run_of(found, len(operands))

        def again(inputs: Mapping[Tensor, torch.Tensor]) -> Sequence[torch.Tensor]:
            given: Sequence[torch.Tensor] = run(*[inputs[t] for t in judge.program.inputs])
            return given

        return found if gives_the_same(again, entrant, judge) else None
    except PROBLEMS:
        return None


def _own(call: Call) -> NoReturn:
    raise BuildError("a call that is not one of torch's")
