"""Measurements as view models: the programs that were tried, their times, errors and sources."""

from __future__ import annotations

from math import isfinite

from einderive.frontend.explorer.highlight import highlighted
from einderive.frontend.explorer.models import CodeView, HardView, MeasuredView, TrialView
from einderive.frontend.export.module import files
from einderive.frontend.report.measured import (
    ERRORS,
    NOTICED,
    error,
    loss,
    resting,
    speed,
    spread,
    verdict,
    warning,
)
from einderive.frontend.text import duration, operators
from einderive.frontend.trial.outcome import Outcome
from einderive.frontend.trial.trial import Trial
from einderive.ta.errors import BuildError

ACCEPTED = ("accepted", "baseline")
NO_DIGITS = ("-", "no digit", "-")


def measured_view(outcome: Outcome) -> MeasuredView:
    """What was measured, the baselines first."""
    times = [trial.seconds for trial in outcome.trials if isfinite(trial.seconds)]
    longest = max(times, default=1.0)
    return MeasuredView(
        device=outcome.device,
        trials=tuple(_trial(outcome, trial, longest) for trial in outcome.trials),
        verdict=verdict(outcome),
        warning=warning(outcome),
        promised=resting(outcome),
        kernels=_kernels(outcome),
        error=ERRORS[outcome.derivation.accuracy],
    )


def _trial(outcome: Outcome, trial: Trial, longest: float) -> TrialView:
    return TrialView(
        label=trial.label,
        words=operators(trial.words),
        seconds=duration(trial.seconds),
        spread=spread(trial),
        width=100 * trial.seconds / longest if isfinite(trial.seconds) else 0.0,
        speed=speed(outcome, trial),
        error=error(trial),
        verdict=trial.verdict,
        accepted=trial.verdict in ACCEPTED,
        chosen=trial is outcome.chosen,
        hard=tuple(
            HardView(family.family, *_figures(family.error, family.written, family.digits))
            if family.standard
            else HardView(family.family, *NO_DIGITS)
            for family in trial.families
        ),
        loss=loss(trial),
        source=CodeView(trial.label, highlighted(trial.text)) if trial.text else None,
    )


def _figures(own: float, written: float, lost: float) -> tuple[str, str, str]:
    return f"{own:.1e}", f"{written:.1e}", f"{lost:.1f}" if lost >= NOTICED else "none"


def _kernels(outcome: Outcome) -> tuple[CodeView, ...]:
    """The chosen program as Python, and the sources of its kernels; none where the program decides
    from its data, since no file says that."""
    label = f"{outcome.chosen.label}: {', '.join(outcome.chosen.words)}"
    try:
        found = files(outcome.derivation.source, outcome.run, outcome.device, label)
    except BuildError:
        return ()
    return tuple(
        CodeView(name.removesuffix(".txt"), highlighted(text))
        for name, text in found.items()
        if name.endswith((".py", ".txt")) and not name.endswith(("_threads.py", "_loops.py"))
    )
