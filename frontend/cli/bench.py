"""`einderive bench`: the measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from einderive.frontend.cli.parameters import (
    ACCURACY,
    FILE,
    JSON,
    SECONDS,
    Known,
    examples,
    number,
    seconds,
)

if TYPE_CHECKING:
    from einderive.frontend.bench.rows import Rows

FORMULAS = click.option(
    "--formula",
    "words",
    multiple=True,
    metavar="WORD",
    help="Only formulas with this word in their name or source, or of this field. [default: all]",
)
SIZES = click.option(
    "--size", "sizes", multiple=True, type=number, help="Only this size: 8, 32, ... [default: all]"
)
LARGEST = click.option(
    "--largest", is_flag=True, help="Measure each formula at its largest size only."
)
MINUTES = click.option(
    "--minutes", type=seconds, help="Begin nothing after so many minutes. [default: no limit]"
)
KEPT = click.option(
    "--file",
    default="",
    metavar="FILE",
    type=FILE,
    help="Keep what is measured in this file, and go on where an earlier run ended.",
)
EVERY = click.option(
    "--every",
    type=number,
    default=1,
    show_default=True,
    help="Take one of so many formulas and sizes.",
)


def reported(measurement: Callable[..., int]) -> Callable[..., int]:
    """A command whose results are printed as rows of a table, or as JSON."""

    @JSON
    @wraps(measurement)
    def command(as_json: bool, **options: Any) -> int:
        from einderive.frontend.bench.rows import Rows

        with Rows(as_json) as rows:
            return measurement(rows=rows, **options)

    return command


@click.group(
    short_help="Measure the search, calls and compiled functions.",
    epilog=examples("einderive bench search --case 1", "einderive bench call --json"),
)
def bench() -> None:
    """Measure the search, calls, compiled functions, or single stages."""


@bench.command(
    epilog=examples("einderive bench search --case 4", "einderive bench search --throughput")
)
@click.option(
    "--case",
    type=number,
    help="The number of the case: 1, 4, 6 or 7. [default: all, and throughput]",
)
@click.option(
    "--throughput",
    is_flag=True,
    help="Measure only how many expressions the search visits in a second.",
)
@click.option(
    "--states",
    type=number,
    default=4000,
    show_default=True,
    help="The most expressions that a search visits.",
)
@click.option(
    "--target",
    default="cuda:90",
    show_default=True,
    help="The device whose costs the search predicts.",
)
@reported
def search(rows: Rows, case: int | None, throughput: bool, states: int, target: str) -> int:
    """Measure the search on four cases, under growing budgets."""
    from einderive.frontend.bench.run import bench_search

    return bench_search(case, states, target, rows, throughput)


@bench.command(epilog=examples("einderive bench call", "einderive bench call --json"))
@reported
def call(rows: Rows) -> int:
    """Measure what a call costs beyond its computation."""
    from einderive.frontend.bench.call import bench_call

    return bench_call(rows)


@bench.command(
    "never-slower",
    epilog=examples("einderive bench never-slower --formula conv --size 32 --seconds 0.2"),
)
@FORMULAS
@SIZES
@LARGEST
@click.option(
    "--numpy", is_flag=True, help="Call the functions with NumPy arrays, not torch tensors."
)
@SECONDS
@reported
def never_slower(rows: Rows, **options: Any) -> int:
    """Time compiled functions beside plain lines of torch.

    The plain lines compute the same by hand-written calls of torch, or of NumPy.
    """
    from einderive.frontend.bench.never_slower import bench_slower

    return bench_slower(out=rows, **options)


@bench.command(
    epilog=examples(
        "einderive bench backward --formula softmax --largest",
        "einderive bench backward --every 9 --minutes 15 --file backward.jsonl",
    )
)
@FORMULAS
@SIZES
@LARGEST
@EVERY
@SECONDS
@MINUTES
@KEPT
@reported
def backward(rows: Rows, **options: Any) -> int:
    """Time training steps beside plain lines of torch.

    A step is a call and its backward pass.  The bytes that are kept between the two are shown too.
    """
    from einderive.frontend.bench.training.backward import bench_backward

    return bench_backward(out=rows, **options)


@bench.command(
    epilog=examples(
        "einderive bench choice --formula conv --size 32",
        "einderive bench choice --every 7 --file choice.jsonl",
    )
)
@FORMULAS
@SIZES
@LARGEST
@click.option(
    "--programs",
    type=number,
    default=4,
    show_default=True,
    help="The number of programs of each formula, those predicted fastest.",
)
@click.option(
    "--measuring",
    type=seconds,
    help="Seconds for measured extraction of each formula; its choice is compared too. "
    "[default: none]",
)
@EVERY
@KEPT
@reported
def choice(rows: Rows, **options: Any) -> int:
    """Compare predicted seconds of stages with measured ones.

    It prints the rank correlation and the median relative error, for all stages and by operator,
    and how often the program predicted fastest is about the fastest.
    """
    from einderive.frontend.bench.choices.choice import bench_choice

    return bench_choice(out=rows, **options)


@bench.command(
    epilog=examples(
        "einderive bench chosen --formula softmax --size 32",
        "einderive bench chosen --every 7 --minutes 15 --file chosen.jsonl",
    )
)
@FORMULAS
@SIZES
@LARGEST
@EVERY
@MINUTES
@click.option(
    "--part",
    type=click.Choice(("both", "find", "time")),
    default="both",
    show_default=True,
    help="Only find programs, or only time those that were found before.",
)
@click.option("--held-out", is_flag=True, help="The third of the formulas that is held out.")
@KEPT
@reported
def chosen(rows: Rows, **options: Any) -> int:
    """Compare the chosen program with the fastest of all that are found.

    Each formula is compiled twice as by default. The two functions are timed in one race with what
    effort="high" finds, and with 20 programs that are drawn at random. Finding them takes about a
    minute a formula, and needs no quiet machine: do it ahead with `--part find`.
    """
    from einderive.frontend.bench.choices.chosen import bench_chosen

    return bench_chosen(out=rows, **options)


@bench.command(epilog=examples("einderive bench digits --formula distances --accuracy fast"))
@FORMULAS
@ACCURACY
@SECONDS
@reported
def digits(rows: Rows, **options: Any) -> int:
    """Compare correct digits with those of plain lines."""
    from einderive.frontend.bench.digits import bench_digits

    return bench_digits(rows=rows, **options)


@bench.command(
    epilog=examples(
        "einderive bench kernels --stage softmax --elements 40000",
        "einderive bench kernels --peer torch --peer JAX --seconds 0.2 --json",
        "einderive bench kernels --minutes 10 --file kernels.jsonl",
    )
)
@click.option(
    "--stage",
    "words",
    multiple=True,
    metavar="WORD",
    help="Only stages with this word in their name, kind or source. [default: all]",
)
@click.option(
    "--elements",
    multiple=True,
    type=number,
    help="Only stages of about so many elements: 400, 40000 or 4000000. [default: all]",
)
@click.option(
    "--peer",
    "wanted",
    multiple=True,
    type=Known("peer", "einderive.frontend.bench.kernels.rivals:PEERS"),
    metavar="NAME",
    help="Only this peer: torch, Inductor or JAX. [default: all that are installed]",
)
@SECONDS
@MINUTES
@KEPT
@reported
def kernels(rows: Rows, **options: Any) -> int:
    """Time single stages beside torch, torch.compile and JAX.

    Elementwise chains, reductions, normalisations, stencils and others from public sources, at
    three sizes, by the public call.
    """
    from einderive.frontend.bench.kernels.run import bench_kernels

    return bench_kernels(out=rows, **options)


@bench.command(epilog=examples("einderive bench bandwidth --picture docs/measurements"))
@click.option(
    "--picture",
    default="",
    metavar="FOLDER",
    type=FILE,
    help="Draw the curves as SVG pictures into this folder, which has to exist.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="Where the operands lie.",
)
@click.option(
    "--power",
    "powers",
    multiple=True,
    type=number,
    help="Only 2 to this power elements. [default: 12, 14, ... 24]",
)
@SECONDS
@reported
def bandwidth(rows: Rows, powers: tuple[int, ...], **options: Any) -> int:
    """Measure the bandwidth of addition and row softmax by size.

    Torch's own kernels and a copy of as many bytes are measured beside them.
    """
    from einderive.frontend.bench.kernels.bandwidth import POWERS, bench_bandwidth

    return bench_bandwidth(powers or POWERS, out=rows, **options)
