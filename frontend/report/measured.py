"""The report of a measurement as text: what was tried, how fast and how exact it was, what was
chosen, and the digits that it loses on hard inputs."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from einderive.derivations.record.assumptions import used_by_all
from einderive.eops.back_ends.compilers import known_failure, missing
from einderive.frontend.accuracy.accept import FACTOR, FLOOR
from einderive.frontend.accuracy.digits import MOST_LOST
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.measurements.recorded import Race, RecordedRace
from einderive.frontend.report.derivation import plan_operators, step_list
from einderive.frontend.report.terminal import WIDTH, formula, indented, rendered, with_heads
from einderive.frontend.text import (
    capitalised,
    duration,
    figure,
    listed,
    minute,
    operators,
    tensors,
)
from einderive.frontend.timed.steady import MARGIN
from einderive.frontend.timed.trial import GIVEN, Trial, in_float64, in_loops, program_of
from einderive.ta.ir.program import Assumption
from einderive.ta.printing.show import show_program

NOTICED = 0.5
"""Decimal digits; a smaller loss is within what rounding does by chance."""
NO_DIGIT = ("-", "no digit", "-")
ERRORS = {
    "normwise": "max|y - r|/max|r|",
    "fast": "max|y - r|/max|r|",
    "componentwise": "the largest |y - r|/|f|, |f| the formula on absolute values",
}


def compiled_text(compiled: Race) -> str:
    """The programs that were tried, how fast and how exact they were, and the chosen one."""
    return rendered(compiled_parts(compiled, WIDTH), WIDTH)


def compiled_parts(compiled: Race, width: int) -> Iterator[RenderableType]:
    """The programs that were tried and the chosen one, for rich."""
    source = compiled.source
    for text in show_program(source).splitlines():
        yield formula(text, "", width, "bold")
    operands = f"{tensors(source.inputs)}; " if source.inputs else ""
    yield formula(f"{operands}{measured_where(compiled)}", "  ", width)
    yield ""
    if plain := underived(compiled):
        yield indented(capitalised(f"{plain}."))
        yield ""
    if lacking := without_loops(compiled):
        yield indented(lacking)
        yield ""
    yield from _trials(compiled)
    yield ""
    for trial in compiled.trials:
        yield from _hard(trial)
    yield Text(verdict(compiled), "bold")
    if assumed := resting(compiled):
        yield indented(assumed)
    if found := warning(compiled):
        yield Text(found, "red")
    yield Text(
        "baseline: the formula as one writes it in torch, in one way or another, with its lines "
        "below. candidate: a derived program, numbered as in its derivation, with its operators "
        "below. time: the median of interleaved calls; +-: half of what the middle half of them "
        "differs by. speed: the fastest baseline's time over this one's. "
        f"error: {ERRORS[compiled.accuracy]}, r in float64, accepted up to {FACTOR:g} x "
        f"that of the formula as written + {FLOOR:g} roundings.",
        "dim",
    )


def measured_where(compiled: Race) -> str:
    """Where it was measured, and when, if that is not now."""
    if isinstance(compiled, RecordedRace):
        return f"measured {compiled.where}, as the record states; not measured anew"
    when = compiled.remembered
    return f"measured on {compiled.device}{f', remembered from {minute(when)}' if when else ''}"


def _trials(compiled: Race) -> Iterator[RenderableType]:
    labels = max(len(trial.label) for trial in compiled.trials)
    header = f"  {'program':<{labels}}  {'time':>8}  {'+-':>8}  {'speed':>6}  {'error':>7}  verdict"
    yield Text(header, "bold")
    for trial in compiled.trials:
        mark = "*" if trial is compiled.chosen else " "
        table = Table.grid()
        table.add_column(no_wrap=True)
        table.add_row(
            f"{mark} {trial.label:<{labels}}  {duration(trial.seconds):>8}  "
            f"{spread(trial):>8}  {speed(compiled, trial):>6}  {error(trial):>7}  ",
            Text(trial.verdict, "green" if trial.verdict in ("accepted", "baseline") else "red"),
        )
        yield table
        for text in trial.text.splitlines()[1:] or [_operators(trial)]:
            yield indented(text.removeprefix("    "), 6, "dim")


def _operators(trial: Trial) -> str:
    """The operators that ran; of a program that was not built, those that were predicted."""
    if trial.words or trial.plan is None:
        return operators(trial.words)
    return plan_operators(trial.plan)


def _hard(trial: Trial) -> Iterator[RenderableType]:
    """The errors on hard inputs of a program that has any."""
    if not trial.families:
        return
    rows = []
    for family in trial.families:
        cells = [f"{value:.1e}" for value in (family.error, family.written)]
        cells.append(f"{family.digits:.1f}" if family.digits >= NOTICED else "none")
        rows.append((f"  {family.family}", *(cells if family.standard else NO_DIGIT)))
    heads = ("  inputs with", trial.label, "as written", "digits lost")
    yield with_heads(heads, heads[:1], rows)
    if found := loss(trial):
        yield indented(found)
    yield ""


def loss(trial: Trial) -> str:
    """The steps that can cancel and the most digits that they lost, in a sentence.  Empty if there
    are none."""
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


def warning(compiled: Race) -> str:
    """The digits that the chosen program may lose, and on which inputs.  Empty if it loses none."""
    worst = compiled.chosen.worst
    if worst is None or worst.digits < NOTICED:
        return ""
    text = f"it may lose digits: {_lost(worst)}"
    if compiled.accuracy != "fast":
        return f"{text}; more than {MOST_LOST:g} would refuse it"
    return f'{text}; accuracy="normwise", the default, refuses a program that loses more than one'


def resting(compiled: Race) -> str:
    """The assumptions on which the chosen program rests, in a sentence.  Empty if there are
    none."""
    plan = compiled.chosen.plan
    used = used_by_all(plan.steps) if plan is not None else ()
    if not used:
        return ""
    named = listed([str(Assumption(tensor.name, tensor.bounds)) for tensor in used])
    checked = "each call checks" if compiled.checks else "no call checks"
    return f"it rests on what is assumed, {named}; {checked} it"


def spread(trial: Trial) -> str:
    """Half of the interquartile range of the times; `-` if there was no race."""
    return duration(trial.spread) if trial.spread else "-"


def speed(compiled: Race, trial: Trial) -> str:
    """`7.01x`: baseline seconds over the trial's; `-` if one was not timed."""
    timed = isfinite(trial.seconds) and isfinite(compiled.baseline.seconds)
    return f"{figure(compiled.baseline.seconds / trial.seconds)}x" if timed else "-"


def error(trial: Trial) -> str:
    """`2.1e-07`; `-` if the program did not run."""
    return "-" if trial.error == float("inf") else f"{trial.error:.1e}"


def underived(compiled: Race) -> str:
    """What runs, where no step of the derivation does, and why the best derived program does not
    run, in a sentence.  Empty where a derived program was chosen."""
    chosen = compiled.chosen
    if chosen.plan is not None and chosen.plan.steps:
        return ""
    if in_loops(chosen.label) and program_of(chosen.label) == GIVEN:
        form = "compiled loops" if compiled.device == "cpu" else "generated kernels"
        form += " in float64" if in_float64(chosen.label) else ""
        runs = f"the formula as given, as {form}"
    elif chosen.label == GIVEN:
        runs = "the formula as given, by the library's operators"
    elif chosen.verdict == "baseline":
        runs = f"the plain program of torch, {chosen.label}"
    else:
        runs = f"the formula as given ({chosen.label})"
    derived = [trial for trial in compiled.trials if trial.plan is not None and trial.plan.steps]
    text = f"what runs is {runs}, without any derived step"
    if not derived:
        return f"{text}; no derived program was tried"
    accepted = [trial for trial in derived if trial.verdict == "accepted"]
    best = min(accepted or derived, key=lambda trial: trial.seconds)
    taken, own = duration(best.seconds), duration(chosen.seconds)
    if not isfinite(best.seconds) or not accepted:
        why = f": {best.verdict}"
    elif best.seconds > chosen.seconds:
        why = f", because it takes {taken}, and what runs {own}"
    else:
        why = f", because it takes {taken}, not clearly less than {own}"
    return f"{text}. The best derived program, {best.label}, was not chosen{why}"


def without_loops(compiled: Race) -> str:
    """Why no loops were compiled for a CPU, in a sentence, and what to do about it, where a package
    is not there or cannot be imported.  Empty otherwise, and for a race of another machine."""
    if isinstance(compiled, RecordedRace) or compiled.device != "cpu":
        return ""
    if any(in_loops(trial.label) for trial in compiled.trials):
        return ""  # a remembered race
    if not missing():
        failing = known_failure()
        if failing is None:
            return ""
        name, error = failing
        return (
            f"No loops were compiled, since {name} cannot be imported here ({error}); "
            f"`pip install --upgrade {name}` may install one that can."
        )
    return (
        f"No loops were compiled, since {listed(missing())} cannot be imported here; "
        f"`pip install {' '.join(missing())}` installs what is missing."
    )


def verdict(compiled: Race) -> str:
    """The chosen program, and the reason, in a sentence."""
    stopped = " (interrupted: not all were tried or timed)" if compiled.interrupted else ""
    if compiled.chosen is compiled.baseline:
        if any(t.verdict == "accepted" for t in compiled.trials):
            why = f"no accepted candidate takes clearly less than {MARGIN:.0%} of its time"
        elif len(compiled.trials) > 1:
            why = "no candidate was accepted"
        else:
            why = "every candidate is the same program or predicted to be far slower"
        return f"chosen: {compiled.chosen.label}, a plain program of torch; {why}{stopped}"
    if not isfinite(compiled.baseline.seconds):
        return f"chosen: {compiled.chosen.label}{stopped}"
    faster = f"{figure(compiled.ratio)} x as fast as the baseline"
    return f"chosen: {compiled.chosen.label}, {faster}{stopped}"
