"""`einderive check`, `run`, `explain` and `export`: commands on a saved derivation."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from einderive.frontend.cli.codes import DONE, FAILED, INTERRUPTED
from einderive.frontend.cli.parameters import FILE, OPTIONS, RACED, examples, options, say

if TYPE_CHECKING:
    from einderive.derivations.record.verify import Report
    from einderive.frontend.api.compiled import CompiledFunction, Derivation

RECORD = click.argument("record", metavar="FILE", type=FILE)


@click.command(
    short_help="Verify every step of a saved derivation.",
    epilog=examples("check"),
)
@RECORD
@options("candidate json", OPTIONS["check"])
def check(record: str, candidate: int | None, as_json: bool) -> int:
    """Verify every step of a derivation that `einderive derive --save` wrote.

    The checker is independent of the search that found the steps.

    Exit codes: 0 every step is right; 1 a step is not; 2 the file cannot be used.
    """
    from rich.text import Text

    from einderive.frontend.report.terminal import Progress, indented, show

    with Progress() as progress:
        progress.write(f"reading {record}")
        from einderive.frontend.api.record import load
        from einderive.frontend.report.data import json_text

        derivation = load(record)
        require_candidate(derivation, candidate)
        count = len(derivation.candidates)
        chosen = [candidate] if candidate else range(1, count + 1)
        reports = {}
        for number in chosen:
            progress.write(f"checking candidate {number} of {count}")
            reports[number] = derivation.check(number - 1)
    if as_json:
        print(json_text([_data(number, report) for number, report in reports.items()]))
    else:
        for number, report in reports.items():
            show(Text(f"candidate {number}", "bold"))
            for line in str(report).splitlines():
                show(indented(line, style="red" if line.startswith("FAIL") else ""))
    return DONE if all(reports.values()) else FAILED


@click.command(epilog=examples("run"))
@RECORD
@options(f"{RACED} json")
def run(record: str, as_json: bool, **options: Any) -> int:
    """Build, check and time the programs of a saved derivation.

    The steps are checked first. Then each program is compared with the formula on random inputs,
    and the programs that agree with it are timed.
    """
    from einderive.frontend.report.terminal import Progress

    with Progress() as progress:
        progress.write(f"reading {record}")
        from einderive.frontend.api.record import load
        from einderive.frontend.limits.asked import limits_of
        from einderive.frontend.report.data import json_text
        from einderive.frontend.trial.effort import effort_of

        limits_of(options["memory"], options["deterministic"])
        derivation = load(record)
        tried = effort_of(options["effort"] or "normal").tried
        for number in range(min(tried, len(derivation.candidates))):
            progress.write(f"checking candidate {number + 1}")
            report = derivation.check(number)
            if not report:
                break
    if not report:
        print(json_text(_data(number + 1, report)) if as_json else report)
        print(f"candidate {number + 1} does not check; nothing was run", file=sys.stderr)
        return FAILED
    compiled = measured(derivation, **options)
    if as_json:
        from einderive.frontend.measurements.data import race_data
        from einderive.frontend.measurements.stages import race_of

        race = race_data(race_of(compiled), compiled.derivation.candidates)
        print(json_text({"measured": race, "interrupted": compiled.interrupted}))
    else:
        print_measured(compiled)
    return INTERRUPTED if compiled.interrupted else DONE


@click.command(
    short_help="Explain the steps of a saved derivation.",
    epilog=examples("explain"),
)
@RECORD
@options("candidate why-not json", OPTIONS["explain"])
def explain(record: str, candidate: int, why_not: str | None, as_json: bool) -> int:
    """Explain the steps of a saved derivation: the change, its proof and its cost.

    With --why-not RULE, explain why that rule is not among the steps.
    """
    from einderive.frontend.api.record import load
    from einderive.frontend.explorer.explained import explained, refusals
    from einderive.frontend.explorer.view import view_of
    from einderive.frontend.explorer.why_not import attempts
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.terminal import show

    derivation = load(record)
    require_candidate(derivation, candidate)
    if why_not is not None:
        found = attempts(derivation, why_not)
        if as_json:
            print(json_text(found))
        else:
            show(*refusals(why_not, found))
        return DONE
    view = view_of(derivation, derivation.recorded_race, checked=candidate)
    if as_json:
        print(json_text(view.candidates[candidate - 1]))
    else:
        show(*explained(view, candidate))
    return DONE


@click.command(
    short_help="Write the fastest program as Python that runs without einderive.",
    epilog=examples("export"),
)
@RECORD
@options(f"dir {RACED} json", OPTIONS["export"])
def export(record: str, folder: str, as_json: bool, **options: Any) -> int:
    """Write the fastest program of a saved derivation as Python that runs without einderive.

    The programs are built, checked and timed first, as by `einderive run`. `program.py` has the
    calls of torch; the generated kernels are files beside it. `python program.py` compares the
    program with the formula in float64.
    """
    from einderive.frontend.api.record import load

    compiled = measured(load(record), **options)
    files = [str(path) for path in compiled.export(folder)]
    say(as_json, files, "\n".join(f"wrote {path}" for path in files))
    return INTERRUPTED if compiled.interrupted else DONE


def _data(number: int, report: Report) -> dict[str, Any]:
    return {"candidate": number, "holds": bool(report), "findings": report.findings}


def require_candidate(derivation: Derivation, number: int | None) -> None:
    from einderive.frontend.arguments import UsageError

    count = len(derivation.candidates)
    if number is not None and number > count:
        raise UsageError(
            f"there is no candidate {number}",
            next_step=f"choose one of 1 to {count}" if count > 1 else "there is only candidate 1",
        )


def measured(derivation: Derivation, effort: object, **options: Any) -> CompiledFunction:
    """The compiled function.  Meanwhile, stderr says what is being done."""
    from einderive.frontend.report.terminal import Progress

    with Progress() as progress:
        progress.write("building, checking and measuring the best candidates")
        options["effort"] = effort or "normal"
        return derivation.compile(progress=progress.write, **options)


def print_measured(compiled: CompiledFunction) -> None:
    from einderive.frontend.report.measured import compiled_parts
    from einderive.frontend.report.terminal import show, terminal_width

    show(*compiled_parts(compiled, terminal_width()))
