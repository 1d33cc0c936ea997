"""`einderive derive`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from einderive.frontend.cli.codes import DONE, INTERRUPTED
from einderive.frontend.cli.parameters import OPTIONS, SHAPES, examples, options

if TYPE_CHECKING:
    from einderive.frontend.api.compiled import Derivation
    from einderive.frontend.trial.effort import Given


class JsonAlone(click.Command):
    """A command whose `--json` takes the name of a file or none."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`--json` before a formula or a shape means stdout: what holds a = is no file's name."""
        found = [
            "--json=-" if word == "--json" and "=" in "".join(args[at + 1 : at + 2]) else word
            for at, word in enumerate(args)
        ]
        return super().parse_args(ctx, found)


@click.command(
    cls=JsonAlone, short_help="Find equal programs for a formula.", epilog=examples("derive")
)
@click.argument("formula")
@SHAPES
@options(
    "target effort seconds states dtype range weights law accuracy nan memory deterministic "
    "candidate json html save search kernels registers run",
    OPTIONS["derive"],
)
def derive(
    formula: str,
    candidate: int,
    json_to: str | None,
    html: str | None,
    save: str | None,
    search: bool,
    kernels: bool,
    registers: bool,
    run: bool,
    **options: Any,
) -> int:
    """Find equal programs for a formula, and print the steps to the best one.

    FORMULA is one argument, in quotes. An index that is not on the left is summed. The formula may
    have several lines, and comments that begin with #.

    The shape of each tensor follows as NAME=SIZE,SIZE,...; that of a scalar is NAME=. The shapes do
    not determine the range of an index such as h in A[h+r]: state it as `--range h=0:7`, or
    write `where h in 0:7` at the end of the formula.

    Sizes may be names, as in A=n,64 and `where h in 0:n-2`; their values follow as n=100.
    """
    records = [path for path in (save, json_to) if path not in (None, "-")]
    _require_folders([path for path in (*records, html) if path is not None])
    raced = {name: options[name] for name in ("effort", "memory", "deterministic")}
    derivation = _derived(formula, **options)
    from einderive.frontend.cli.records import measured, print_measured, require_candidate
    from einderive.frontend.report.data import json_text
    from einderive.frontend.report.derivation import derivation_parts
    from einderive.frontend.report.terminal import show, terminal_width

    interrupted = derivation.stats.stopped == "interrupted"
    if registers:
        derivation = derivation.with_registers()
    kept = {"search": search, "kernels": kernels or registers}
    for path in records:
        derivation.save(path, **kept)
    if html is not None:
        derivation.to_html(html)
    if json_to != "-":
        require_candidate(derivation, candidate)
        show(*derivation_parts(derivation, terminal_width(), candidate - 1))
    compiled = measured(derivation, **raced) if run and not interrupted else None
    if compiled is not None and (records or json_to == "-"):
        from einderive.frontend.measurements.stages import race_of

        derivation = replace(compiled.derivation, recorded_race=race_of(compiled))
        for path in records:
            derivation.save(path, **kept)
    if compiled is not None and html is not None:
        compiled.to_html(html)
    if json_to == "-":
        print(json_text(derivation.data(**kept)))
    elif compiled is not None:
        print()
        print_measured(compiled)
    elif run:
        print("interrupted: nothing was measured", file=sys.stderr)
    interrupted |= compiled is not None and compiled.interrupted
    return INTERRUPTED if interrupted else DONE


def _derived(
    formula: str,
    shapes: tuple[str, ...],
    effort: Given | None,
    seconds: float | None,
    states: int | None,
    dtype: tuple[str, ...],
    over: tuple[str, ...],
    weights: str,
    memory: str | None,
    deterministic: bool,
    **options: Any,
) -> Derivation:
    """The derivation.  Meanwhile, stderr says how far the search is."""
    from einderive.frontend import arguments
    from einderive.frontend.report.terminal import Progress

    extents = arguments.shapes(shapes, names=True)
    types, ranges = arguments.dtypes(dtype), arguments.ranges(over)
    with Progress() as progress:
        progress.write("loading torch and the rules")
        from einderive.derivations.search.strategy import Budget
        from einderive.frontend.api.optimize import derive as derive_program
        from einderive.frontend.limits.asked import limits_of
        from einderive.frontend.trial.effort import effort_of
        from einderive.ta.notation.parse import parse

        limits_of(memory, deterministic)  # an error comes before the search
        if effort is not None and seconds is None and states is None:
            seconds = effort_of(effort).search
        budget = Budget(seconds=seconds) if states is None else Budget(states, seconds=seconds)
        named = arguments.tensors_in(formula, extents)
        tensors, sizes = arguments.without_sizes(extents, named, formula)
        return derive_program(
            parse(formula, tensors, types, ranges, sizes),
            budget=budget,
            progress=progress.show if progress.wanted else None,  # each takes a look at all states
            weights=[name.strip() for name in weights.split(",") if name.strip()],
            **options,
        )


def _require_folders(paths: list[str]) -> None:
    """Refuse before a long search what could not be written after it."""
    from einderive.frontend.arguments import UsageError

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
