"""What the commands of the command line do; `frontend.cli.main` reads what was typed.

Each takes the options of its command and returns the exit code.  Whatever is slow to import is
imported by the command that needs it.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from einderive.frontend import arguments
from einderive.frontend.arguments import UsageError
from einderive.frontend.report.terminal import Progress, has_colour
from einderive.ta.errors import NameUnknownError
from einderive.ta.ir.names import close_matches

DONE, FAILED, UNUSABLE, UNDECIDED, INTERRUPTED = 0, 1, 2, 3, 130


def derive_formula(options: argparse.Namespace) -> int:
    shapes = arguments.shapes(options.shapes)
    ranges = arguments.ranges(options.over)
    dtypes = arguments.dtypes(options.dtype)
    records = [path for path in (options.save, options.json) if path not in (None, "-")]
    _require_folders([*records, *([options.html] if options.html is not None else [])])
    from einderive.derivations.search.strategy import Budget
    from einderive.frontend.api.optimize import derive
    from einderive.ta.notation.parse import parse

    limits = {"seconds": options.seconds, "states": options.states}
    program = parse(options.text, shapes, dtypes, ranges)
    with Progress(sys.stderr) as progress:
        derivation = derive(
            program,
            target=options.target,
            budget=Budget(**{name: value for name, value in limits.items() if value is not None}),
            progress=progress.show if progress.wanted else None,  # each takes a look at all states
            weights=[name.strip() for name in options.weights.split(",") if name.strip()],
            accuracy=options.accuracy,
            nan=options.nan,
            laws=options.law,
        )
    interrupted = derivation.stats.stopped == "interrupted"
    for path in records:
        derivation.save(path)
    if options.html is not None:
        derivation.to_html(options.html)
    to_stdout = options.json == "-"
    if not to_stdout:
        _print_derivation(derivation, options.candidate)
    measured = _compiled(derivation, 1.0) if options.run and not interrupted else None
    if to_stdout:
        data = derivation.data()
        if measured is not None:
            data["measured"] = _trials(measured)
        print(json.dumps(data, indent=1, ensure_ascii=False))
    elif measured is not None:
        _print_compiled(measured, "\n")
    elif options.run:
        print("interrupted: nothing was measured", file=sys.stderr)
    interrupted |= measured is not None and measured.interrupted
    return INTERRUPTED if interrupted else DONE


def compare_formulas(options: argparse.Namespace) -> int:
    shapes: dict[str, Any] = dict(arguments.symbolic_shapes(options.shapes))
    ranges = arguments.ranges(options.over)
    from einderive.frontend.api.option_names import option_names
    from einderive.frontend.equality.equivalent import equivalent

    for name in option_names(equivalent):
        if name in shapes:
            raise UsageError(
                f"{name} is a word of `einderive equivalent`, and no tensor can have this name",
                next_step="choose another name for the tensor",
            )
    verdict = equivalent(
        options.lhs,
        options.rhs,
        laws=options.law,
        generic=options.generic,
        ranges=ranges,
        **shapes,
    )
    ink = _ink()
    text = str(verdict)
    print(ink.bad(text) if verdict.kind == "different" else text)
    if verdict:
        return DONE
    return UNDECIDED if verdict.kind == "undecided" else FAILED


def check_record(options: argparse.Namespace) -> int:
    from einderive.frontend.api.record import load

    derivation = load(options.file)
    _require_candidate(derivation, options.candidate)
    chosen = range(1, len(derivation.candidates) + 1)
    good = True
    for number in [options.candidate] if options.candidate else chosen:
        report = derivation.check(number - 1)
        good &= bool(report)
        ink = _ink()
        text = str(report).replace("FAIL", ink.bad("FAIL"))
        print(ink.bold(f"candidate {number}"))
        print("\n".join(f"  {line}" for line in text.splitlines()))
    return DONE if good else FAILED


def run_record(options: argparse.Namespace) -> int:
    from einderive.frontend.api.record import load
    from einderive.frontend.trial.choose import TRIED

    derivation = load(options.file)
    for number in range(min(TRIED, len(derivation.candidates))):
        report = derivation.check(number)
        if not report:
            print(report)
            print(f"candidate {number + 1} does not check; nothing was run", file=sys.stderr)
            return FAILED
    compiled = _compiled(derivation, options.seconds)
    _print_compiled(compiled)
    return INTERRUPTED if compiled.interrupted else DONE


def bench(options: argparse.Namespace) -> int:
    if options.what == "search":
        from einderive.frontend.bench.run import bench_search

        return bench_search(options.case, options.states, options.target, options.throughput)
    if options.what == "call":
        from einderive.frontend.bench.call import bench_call

        return bench_call()
    if options.what == "digits":
        from einderive.frontend.bench.digits import bench_digits

        return bench_digits(options.formula, options.accuracy, options.seconds)
    from einderive.frontend.bench.never_slower import bench_slower

    with Progress(sys.stderr) as progress:
        return bench_slower(
            options.formula, options.size, progress, numpy=options.numpy, seconds=options.seconds
        )


def show_rules(options: argparse.Namespace) -> int:
    from einderive.derivations.rule import equation
    from einderive.derivations.rules import ALL_RULES
    from einderive.frontend.report.catalogue import rule_text
    from einderive.frontend.report.derivation import terminal_width

    ink = _ink()
    if options.name is None:
        wide = max(len(rule.name) for rule in ALL_RULES)
        for rule in ALL_RULES:
            print(f"{ink.name(rule.name)}{' ' * (wide - len(rule.name) + 2)}{equation(rule)}")
        return DONE
    by_name = {rule.name: rule for rule in ALL_RULES}
    print(rule_text(_named(options.name, by_name, "rule", "rules"), ink, terminal_width()))
    return DONE


def show_operators(options: argparse.Namespace) -> int:
    from einderive.eops.library import OPERATORS
    from einderive.frontend.report.catalogue import operator_text
    from einderive.frontend.report.derivation import terminal_width

    ink = _ink()
    if options.name is None:
        wide = max(len(operator.name) for operator in OPERATORS)
        for operator in OPERATORS:
            pad = " " * (wide - len(operator.name) + 2)
            print(f"{ink.name(operator.name)}{pad}{operator.summary}")
        return DONE
    by_name = {operator.name: operator for operator in OPERATORS}
    print(operator_text(_named(options.name, by_name, "operator", "ops"), ink, terminal_width()))
    return DONE


def _named(name: str, known: dict[str, Any], what: str, command: str) -> Any:
    if name not in known:
        near = close_matches(name, known)
        raise NameUnknownError(
            f"there is no {what} {name!r:.60}",
            next_step=f"{near or 'choose one of ' + ', '.join(known)} "
            f"(`einderive {command}` lists them)",
        )
    return known[name]


def _require_candidate(derivation: Any, number: int | None) -> None:
    count = len(derivation.candidates)
    if number is not None and number > count:
        raise UsageError(
            f"there is no candidate {number}",
            next_step=f"choose one of 1 to {count}" if count > 1 else "there is only candidate 1",
        )


def _print_derivation(derivation: Any, candidate: int) -> None:
    from einderive.frontend.report.derivation import derivation_text, terminal_width

    _require_candidate(derivation, candidate)
    colour, width = has_colour(sys.stdout), terminal_width()
    print(derivation_text(derivation, colour=colour, width=width, candidate=candidate - 1))


def _print_compiled(compiled: Any, before: str = "") -> None:
    from einderive.frontend.report.derivation import terminal_width
    from einderive.frontend.report.measured import compiled_text

    text = compiled_text(compiled, colour=has_colour(sys.stdout), width=terminal_width())
    print(before + text)


def _compiled(derivation: Any, seconds: float) -> Any:

    with Progress(sys.stderr) as progress:
        progress.write("building, checking and measuring the best candidates")
        return derivation.compile(seconds=seconds, progress=progress.write)


def _trials(compiled: Any) -> list[dict[str, Any]]:
    """The measurements as plain data; null where there is none."""

    def finite(value: float) -> float | None:
        return value if value == value and abs(value) != float("inf") else None

    return [
        {
            "label": trial.label,
            "operators": list(trial.words),
            "seconds": finite(trial.seconds),
            "spread": trial.spread,
            "error": finite(trial.error),
            "steps_that_can_cancel": list(trial.cancelling),
            "hard_inputs": [
                {
                    "family": family.family,
                    "error": finite(family.error),
                    "written_error": finite(family.written),
                    "digits_lost": family.digits,
                }
                for family in trial.families
            ],
            "verdict": trial.verdict,
            "chosen": trial is compiled.chosen,
        }
        for trial in compiled.trials
    ]


def _require_folders(paths: list[str]) -> None:
    """Refuse before a long search what could not be written after it."""
    for path in paths:
        if not Path(path).parent.is_dir():
            raise UsageError(
                f"cannot write {path}: there is no folder {Path(path).parent}",
                next_step="make the folder first, or name a file in one that exists",
            )
        if not path or Path(path).is_dir():
            raise UsageError(
                f"cannot write {path or 'to an empty name'}: a file's name is needed",
                next_step="for example --save conv.json, --html conv.html",
            )


def _ink() -> Any:
    from einderive.frontend.report.derivation import Ink

    return Ink(has_colour(sys.stdout))
