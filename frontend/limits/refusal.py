"""Whether a program keeps within what was asked of it (`asked`), and else why it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import torch

from einderive.derivations.search.extract import Plan
from einderive.eops.library import OPERATORS
from einderive.frontend.call.caller import Caller
from einderive.frontend.limits.asked import Limits
from einderive.frontend.limits.memory import amount
from einderive.frontend.limits.observed import observed
from einderive.frontend.limits.repeatable import why_not_repeatable
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program


class Refusal(NamedTuple):
    """Why a program is left out, and the bytes that it needs, if these are the reason."""

    reason: str
    needed: int = 0


REPAIRING: Final = frozenset(operator.name for operator in OPERATORS if operator.repairs)
Run = Callable[[Mapping[Tensor, torch.Tensor]], Sequence[torch.Tensor]]


def refused(
    limits: Limits, program: Program, run: Run, device: str, operands: Sequence[torch.Tensor]
) -> Refusal | None:
    """The refusal of a program, after it was called as a user calls it.  None where it keeps within
    the limits."""
    caller = Caller(program, run, device)
    for _ in range(2):  # the second call is the one that later calls are like
        caller(*operands)
    if limits.memory is not None:
        found = observed(caller, operands, caller.last).peak
        if found > limits.memory:
            return too_much(found, limits.memory)
    if limits.deterministic:
        reason = why_not_repeatable(caller, operands, device, caller.last)
        if reason:
            return Refusal(reason)
    return None


def refused_unseen(limits: Limits, needed: int) -> Refusal | None:
    """The refusal of a program that needs at least this many bytes, before it runs."""
    over = limits.memory is not None and needed > limits.memory
    return too_much(needed, limits.memory or 0, "at least ") if over else None


def refused_plan(limits: Limits, plan: Plan, *, compiled: bool) -> Refusal | None:
    """The refusal of a derived program before it is built.  Where stages are `compiled`, several
    may be one kernel, which writes fewer tensors."""
    if limits.memory is None:
        return None
    if any(stage.operator in REPAIRING for stage in plan.stages):
        return Refusal("its temporaries depend on the data: it repairs what lost digits")
    return None if compiled else refused_unseen(limits, least_bytes(plan))


def too_much(needed: int, limit: int, least: str = "") -> Refusal:
    """The refusal for these bytes."""
    words = f"its temporaries take {least}{amount(needed)}, and memory= allows {amount(limit)}"
    return Refusal(words, needed)


def least_bytes(plan: Plan) -> int:
    """A lower bound of what the program's stages take besides its results, if each is computed by
    itself: at each stage, its own tensor and those that are still to be read.  What is only seen in
    another way is not counted."""
    own = {stage.scope for stage in plan.stages if stage.seconds} - {*plan.roots}
    last: dict[Scope, int] = {}
    for position, stage in enumerate(plan.stages):
        last.update((scope, position) for scope in (stage.scope, *stage.reads) if scope in own)
    alive, most = dict[Scope, int](), 0
    for position, stage in enumerate(plan.stages):
        if stage.scope in own:
            alive[stage.scope] = stage.scope.size * element_bytes(stage.scope)
        most = max(most, sum(alive.values()))
        alive = {scope: size for scope, size in alive.items() if last[scope] > position}
    return most
