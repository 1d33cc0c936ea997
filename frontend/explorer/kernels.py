"""Generated kernels as view models: the stages that each computes, plan, source, configurations."""

from __future__ import annotations

from math import isfinite

from einderive.eops.told import Launch
from einderive.frontend.derived import Derived
from einderive.frontend.explorer.models import CodeView, KernelView, LaunchView, StageView
from einderive.frontend.explorer.pieces.highlight import highlighted
from einderive.frontend.kernels.texts import KernelText
from einderive.frontend.text import counted, duration

WRITTEN = "as it is written for operands without gaps in memory"
RECORDED = "as the derivation keeps it"


def kernel_views(
    derivation: Derived, place: int, stages: tuple[StageView, ...]
) -> tuple[KernelView, ...]:
    """The kernels of a candidate, counted from 0."""
    origin = RECORDED if derivation.recorded_kernels else WRITTEN
    return tuple(_view(each, stages, origin) for each in derivation.kernels(place))


def _view(kernel: KernelText, stages: tuple[StageView, ...], origin: str) -> KernelView:
    own = [stages[number] for number in kernel.stages if number < len(stages)]
    library = dict.fromkeys(stage.operator for stage in own if stage.known)
    return KernelView(
        names=", ".join(stage.name for stage in own) or "partial results",
        lines=tuple(stage.line for stage in own),
        language=kernel.language,
        instead=", ".join(library),
        origin=origin,
        plan=kernel.plan,
        code=CodeView("source", highlighted(kernel.source)),
        launches=tuple(map(_launch, kernel.launches)),
    )


def _launch(one: Launch) -> LaunchView:
    parts = []
    if one.registers is not None:
        parts.append(counted(one.registers, "register"))
    if one.spilled:
        parts.append(f"{one.spilled} spilled")
    if one.shared is not None:
        parts.append(f"{one.shared} bytes shared")
    seconds = "" if one.seconds is None or not isfinite(one.seconds) else duration(one.seconds)
    if seconds:
        seconds += " measured" if one.timed else " predicted"
    elif one.timed:
        seconds = "needs too much memory"
    return LaunchView(one.words, seconds, ", ".join(parts), one.chosen)
