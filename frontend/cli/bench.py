"""`einderive bench`: the measurements."""

from __future__ import annotations

from typing import Any

import click

from einderive.frontend.cli.parameters import (
    ACCURACY,
    JSON,
    SECONDS,
    examples,
    number,
)

FORMULAS = click.option(
    "--formula",
    "formulas",
    multiple=True,
    metavar="WORD",
    help="Whose name or source holds it, or whose field it is. [default: all]",
)


@click.group(epilog=examples("einderive bench search --case 1", "einderive bench call --json"))
def bench() -> None:
    """Measure the search, calls, or compiled functions."""


@bench.command(
    epilog=examples("einderive bench search --case 4", "einderive bench search --throughput")
)
@click.option("--case", type=number, help="1, 4, 6 or 7. [default: all, and throughput]")
@click.option("--throughput", is_flag=True, help="States a second, nothing else.")
@click.option("--states", type=number, default=4000, show_default=True, help="At most so many.")
@click.option("--target", default="cuda:90", show_default=True, help="Whose costs are predicted.")
@JSON
def search(case: int | None, throughput: bool, states: int, target: str, as_json: bool) -> int:
    """The search on four known cases, in three ways and under growing budgets."""
    from einderive.frontend.bench.rows import Rows
    from einderive.frontend.bench.run import bench_search

    with Rows(as_json) as rows:
        return bench_search(case, states, target, rows, throughput)


@bench.command(epilog=examples("einderive bench call", "einderive bench call --json"))
@JSON
def call(as_json: bool) -> int:
    """What a call costs beyond its computation."""
    from einderive.frontend.bench.call import bench_call
    from einderive.frontend.bench.rows import Rows

    with Rows(as_json) as rows:
        return bench_call(rows)


@bench.command(
    "never-slower",
    epilog=examples("einderive bench never-slower --formula conv --size 32 --seconds 0.2"),
)
@FORMULAS
@click.option("--size", "sizes", multiple=True, type=number, help="8, 32, ... [default: all]")
@click.option("--largest", is_flag=True, help="Only the largest size of each.")
@click.option("--numpy", is_flag=True, help="Call with NumPy arrays.")
@SECONDS
@JSON
def never_slower(
    formulas: tuple[str, ...],
    sizes: tuple[int, ...],
    largest: bool,
    numpy: bool,
    seconds: float,
    as_json: bool,
) -> int:
    """Compiled functions beside plain lines of torch or NumPy, for formulas from public sources."""
    from einderive.frontend.bench.never_slower import bench_slower
    from einderive.frontend.bench.rows import Rows

    with Rows(as_json) as rows:
        return bench_slower(formulas, sizes, rows, numpy=numpy, seconds=seconds, largest=largest)


@bench.command(epilog=examples("einderive bench digits --formula distances --accuracy fast"))
@FORMULAS
@ACCURACY
@SECONDS
@JSON
def digits(formulas: tuple[str, ...], accuracy: Any, seconds: float, as_json: bool) -> int:
    """Compiled functions beside the plain lines of torch, in correct digits."""
    from einderive.frontend.bench.digits import bench_digits
    from einderive.frontend.bench.rows import Rows

    with Rows(as_json) as rows:
        return bench_digits(formulas, accuracy, seconds, rows)
