"""Measurements as view models: the programs that were tried, their times, errors and sources."""

from __future__ import annotations

from math import isfinite

from einderive.frontend.explorer.models import CodeView, HardView, MeasuredView, TrialView
from einderive.frontend.explorer.pieces.highlight import highlighted
from einderive.frontend.export.module import files
from einderive.frontend.measurements.recorded import Race, RecordedRace
from einderive.frontend.report.measured import (
    ERRORS,
    NOTICED,
    error,
    loss,
    measured_where,
    resting,
    speed,
    spread,
    underived,
    verdict,
    warning,
    without_loops,
)
from einderive.frontend.text import KERNEL, duration, operators
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.errors import BuildError

ACCEPTED = ("accepted", "baseline")
NO_DIGITS = ("-", "no digit", "-")


def measured_view(outcome: Race) -> MeasuredView:
    """What was measured, the baselines first."""
    raced = [trial for trial in outcome.trials if trial.verdict in ACCEPTED or trial.spread]
    times = [trial.seconds + trial.spread for trial in raced if isfinite(trial.seconds)]
    longest = max(times, default=0.0) or 1.0
    return MeasuredView(
        device=outcome.device,
        where=measured_where(outcome),
        environment=tuple(outcome.environment.items()) if isinstance(outcome, RecordedRace) else (),
        trials=tuple(_trial(outcome, trial, longest) for trial in outcome.trials),
        verdict=verdict(outcome),
        underived=underived(outcome),
        without_loops=without_loops(outcome),
        warning=warning(outcome),
        assumed=resting(outcome),
        kernels=_kernels(outcome),
        error=ERRORS[outcome.accuracy],
    )


def _trial(outcome: Race, trial: Trial, longest: float) -> TrialView:
    return TrialView(
        label=trial.label,
        words=operators(trial.words or _planned(trial)),
        seconds=duration(trial.seconds),
        spread=spread(trial),
        width=_width(trial.seconds, longest),
        beyond=isfinite(trial.seconds) and trial.seconds > longest,
        whisker=_whisker(trial, longest),
        predicted="" if trial.plan is None else duration(trial.plan.seconds),
        predicted_width=0.0 if trial.plan is None else _width(trial.plan.seconds, longest),
        speed=speed(outcome, trial),
        error=error(trial),
        worst=_worst(trial),
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


def _planned(trial: Trial) -> tuple[str, ...]:
    """The operators of a program that was not built."""
    return () if trial.plan is None else tuple(s.operator or KERNEL for s in trial.plan.stages)


def _width(seconds: float, longest: float) -> float:
    return min(100.0, 100 * seconds / longest) if isfinite(seconds) else 0.0


def _whisker(trial: Trial, longest: float) -> tuple[float, float]:
    if not isfinite(trial.seconds) or not trial.spread:
        return 0.0, 0.0
    begin = max(0.0, trial.seconds - trial.spread)
    return 100 * begin / longest, 100 * (trial.seconds + trial.spread - begin) / longest


def _worst(trial: Trial) -> str:
    errors = [family.error for family in trial.families if family.standard]
    return f"{max(errors):.1e}" if errors else "-"


def _figures(own: float, written: float, lost: float) -> tuple[str, str, str]:
    return f"{own:.1e}", f"{written:.1e}", f"{lost:.1f}" if lost >= NOTICED else "none"


def _kernels(outcome: Race) -> tuple[CodeView, ...]:
    """The chosen program as Python, and the sources of its kernels; none where the program decides
    from its data, since no file says that, nor of a race that was read from a record."""
    if not isinstance(outcome, Outcome):
        return ()
    label = f"{outcome.chosen.label}: {', '.join(outcome.chosen.words)}"
    try:
        found = files(outcome.source, outcome.run, outcome.device, label)
    except BuildError:
        return ()
    return tuple(
        CodeView(name.removesuffix(".txt"), highlighted(text))
        for name, text in found.items()
        if name.endswith((".py", ".txt")) and not name.endswith(("_threads.py", "_loops.py"))
    )
