"""What a measurement says to a reader, as text: what was tried, how fast and how exact it was, what
was chosen, and what digits it costs on hard inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from textwrap import wrap

from einderive.frontend.accuracy.accept import FACTOR, FLOOR
from einderive.frontend.accuracy.digits import MOST_LOST
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.report.derivation import step_list
from einderive.frontend.report.terminal import WIDTH, Ink
from einderive.frontend.text import duration, figure, hanging, operators, tensors
from einderive.frontend.trial.outcome import Outcome
from einderive.frontend.trial.races import MARGIN
from einderive.frontend.trial.trial import Trial
from einderive.ta.printing.show import show_program

NOTICED = 0.5
"""Decimal digits; a smaller loss is within what rounding does by chance."""
ERRORS = {
    "normwise": "max|y - r|/max|r|",
    "fast": "max|y - r|/max|r|",
    "componentwise": "the largest |y - r|/|f|, |f| the formula on absolute values",
}


def compiled_text(compiled: Outcome, *, colour: bool = False, width: int = WIDTH) -> str:
    """What was tried, how fast and how exact it was, and what was chosen."""
    ink, accuracy = Ink(colour), compiled.derivation.accuracy
    lines = [
        ink.bold(line)
        for text in show_program(compiled.derivation.source).splitlines()
        for line in hanging(text, "", width)
    ]
    lines += hanging(
        f"{tensors(compiled.derivation.source.inputs)}; measured on {compiled.device}", "  ", width
    )
    lines += ["", *_trials(compiled, ink, width), ""]
    for trial in compiled.trials:
        lines += _hard(compiled, trial, ink, width)
    lines += [ink.bold(line) for line in wrap(verdict(compiled), width)]
    lines += [ink.bad(line) for line in wrap(warning(compiled), width)]
    note = (
        "baseline: the formula as one writes it in torch, in one way or another, with its lines "
        "below. candidate: a derived program, numbered as in its derivation, with its operators "
        "below. time: the median of interleaved calls; +-: half of what the middle half of them "
        "differs by. speed: the fastest baseline's time over this one's. "
        f"error: {ERRORS[accuracy]}, r in float64, accepted up to {FACTOR:g} x that of the "
        f"formula as written + {FLOOR:g} roundings."
    )
    return "\n".join([*lines, *(ink.dim(line) for line in wrap(note, width))])


def _trials(compiled: Outcome, ink: Ink, width: int) -> Iterator[str]:
    labels = max(len(trial.label) for trial in compiled.trials)
    header = f"  {'program':<{labels}}  {'time':>8}  {'+-':>8}  {'speed':>6}  {'error':>7}  verdict"
    yield ink.bold(header)
    for trial in compiled.trials:
        mark = "*" if trial is compiled.chosen else " "
        lead = (
            f"{mark} {trial.label:<{labels}}  {duration(trial.seconds):>8}  "
            f"{spread(trial):>8}  {speed(compiled, trial):>6}  {error(trial):>7}  "
        )
        paint = ink.good if trial.verdict in ("accepted", "baseline") else ink.bad
        parts = wrap(trial.verdict, width - len(lead)) or [""]
        yield lead + paint(parts[0])
        yield from (" " * len(lead) + paint(part) for part in parts[1:])
        for text in trial.text.splitlines()[1:] or [operators(trial.words)]:
            folded = wrap(text, width - 6, subsequent_indent="    ", break_on_hyphens=False)
            yield from (ink.dim(f"      {line.removeprefix('    ')}") for line in folded)


def _hard(compiled: Outcome, trial: Trial, ink: Ink, width: int) -> list[str]:
    """The errors on hard inputs of a program that has any."""
    if not trial.families:
        return []
    names = max(len(family.family) for family in trial.families)
    lines = [ink.bold(f"  {'inputs with':<{names}}  {trial.label:>12}  as written  digits lost")]
    for family in trial.families:
        off, base = (f"{value:.1e}" for value in (family.error, family.written))
        lost = f"{family.digits:.1f}" if family.digits >= NOTICED else "none"
        if not family.standard:
            off, base, lost = "-", "no digit", "-"
        lines.append(f"  {family.family:<{names}}  {off:>12}  {base:>10}  {lost:>11}")
    return [*lines, *(f"  {line}" for line in wrap(loss(trial), width - 2)), ""]


def loss(trial: Trial) -> str:
    """Which steps can cancel and what that cost at most, in a sentence; empty where none can."""
    if not trial.cancelling:
        return ""
    steps = step_list(trial.cancelling)
    worst = trial.worst
    if worst is None or worst.digits < NOTICED:
        return f"{steps} can cancel; on these inputs no digits were lost."
    parts = [f"{lost:.1f} by step {step}" for step, lost in trial.step_digits if lost >= NOTICED]
    return f"{steps} can cancel: {_lost(worst)}{': ' if parts else ''}{', '.join(parts)}."


def _lost(worst: FamilyError) -> str:
    return (
        f"{worst.digits:.1f} digits were lost on inputs with {worst.family}, error "
        f"{worst.error:.1e} where the formula as written has {worst.written:.1e}"
    )


def warning(compiled: Outcome) -> str:
    """What digits the chosen program may lose, and on which inputs; empty where it loses none."""
    worst = compiled.chosen.worst
    if worst is None or worst.digits < NOTICED:
        return ""
    text = f"it may lose digits: {_lost(worst)}"
    if compiled.derivation.accuracy != "fast":
        return f"{text}; more than {MOST_LOST:g} would refuse it"
    return f'{text}; accuracy="normwise", the default, refuses a program that loses more than one'


def spread(trial: Trial) -> str:
    """Half of what the middle half of the times differs by; `-` where there was no race."""
    return duration(trial.spread) if trial.spread else "-"


def speed(compiled: Outcome, trial: Trial) -> str:
    """`7.01x`: baseline seconds over the trial's; `-` where one was not timed."""
    timed = isfinite(trial.seconds) and isfinite(compiled.baseline.seconds)
    return f"{figure(compiled.baseline.seconds / trial.seconds)}x" if timed else "-"


def error(trial: Trial) -> str:
    """`2.1e-07`; `-` where the program did not run."""
    return "-" if trial.error == float("inf") else f"{trial.error:.1e}"


def verdict(compiled: Outcome) -> str:
    """Which program was chosen, and why, in a sentence."""
    stopped = " (interrupted: not all were tried or timed)" if compiled.interrupted else ""
    if compiled.chosen is compiled.baseline:
        if any(t.verdict == "accepted" for t in compiled.trials):
            why = f"no accepted candidate takes less than {MARGIN:.0%} of its time"
        elif len(compiled.trials) > 1:
            why = "no candidate was accepted"
        else:
            why = "every candidate is the same program or predicted to be far slower"
        return f"chosen: {compiled.chosen.label}, a plain program of torch; {why}{stopped}"
    if not isfinite(compiled.baseline.seconds):
        return f"chosen: {compiled.chosen.label}{stopped}"
    faster = f"{figure(compiled.ratio)} x as fast as the baseline"
    return f"chosen: {compiled.chosen.label}, {faster}{stopped}"
