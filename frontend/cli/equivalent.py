"""`einderive equivalent`."""

from __future__ import annotations

import re
from typing import Any

import click

from einderive.frontend.cli.codes import DONE, FAILED, UNDECIDED
from einderive.frontend.cli.parameters import OPTIONS, SHAPES, examples, options, refuse_options


@click.command(short_help="Decide whether two formulas are equal.", epilog=examples("equivalent"))
@click.argument("lhs", metavar="FORMULA")
@click.argument("rhs", metavar="FORMULA")
@SHAPES
@options("law range generic seconds json", OPTIONS["equivalent"])
def equivalent(
    lhs: str,
    rhs: str,
    shapes: tuple[str, ...],
    laws: tuple[str, ...],
    over: tuple[str, ...],
    generic: bool,
    seconds: float | None,
    as_json: bool,
) -> int:
    """Decide whether two formulas give the same outputs for all inputs.

    Both are evaluated exactly. If they differ, a small counterexample is printed. Shapes are given
    as for `derive`. Sizes may be names (A=n,k). Then the formulas are compared at many sizes, and a
    range may use the names: `where i in 0:n-2`.

    Exit codes: 0 equal; 1 different; 2 the input cannot be used; 3 undecided.
    """
    from rich.text import Text

    from einderive.frontend import arguments
    from einderive.frontend.report.terminal import LONGEST, Progress, show

    if re.fullmatch(r"\w+=[\d,]*", rhs):
        raise arguments.UsageError(
            "the second formula is missing: a shape stands in its place",
            text=rhs,
            span=(0, len(rhs)),
            next_step='einderive equivalent "Y[i] = ..." "Y[i] = ..." A=3, each one in quotes',
        )
    sizes: dict[str, Any] = arguments.shapes(shapes, names=True)
    ranges = arguments.ranges(over)
    with Progress() as progress:
        progress.write("comparing")
        from einderive.frontend.equality.equivalent import SECONDS
        from einderive.frontend.equality.equivalent import equivalent as compare
        from einderive.frontend.report.data import json_text

        refuse_options(compare, "equivalent", sizes)
        time = SECONDS if seconds is None else seconds
        verdict = compare(
            lhs, rhs, laws=laws or None, generic=generic, ranges=ranges, seconds=time, **sizes
        )
    if as_json:
        print(json_text(verdict))
    else:
        text = Text(str(verdict), "red" if verdict.kind == "different" else "")
        show(text, width=LONGEST)
    return DONE if verdict else UNDECIDED if verdict.kind == "undecided" else FAILED
