"""`einderive bench`: the measurements."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pkgutil import resolve_name
from typing import Any

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

FORMULAS = click.option(
    "--formula",
    "words",
    multiple=True,
    metavar="WORD",
    help="Only formulas with this word in their name or source, or in this field. [default: all]",
)
SIZES = click.option(
    "--size", "sizes", multiple=True, type=number, help="Only this size: 8, 32, ... [default: all]"
)
LARGEST = click.option(
    "--largest", is_flag=True, help="Measure each formula at its largest size only."
)
MINUTES = click.option(
    "--minutes",
    type=seconds,
    metavar="MINUTES",
    help="Start no measurement after this many minutes. [default: no limit]",
)
KEPT = click.option(
    "--file",
    default="",
    metavar="FILE",
    type=FILE,
    help="Write the measurements to this file, and continue where an earlier run ended.",
)
EVERY = click.option(
    "--every",
    type=number,
    default=1,
    show_default=True,
    help="Measure one of this many formulas and sizes: with 7, every seventh.",
)


def reported(place: str) -> Callable[[Callable[[], None]], Callable[..., int]]:
    """A command whose rows a function of `frontend.bench` measures, and which prints them as rows
    of a table, or as JSON."""

    def made(described: Callable[[], None]) -> Callable[..., int]:
        @JSON
        @wraps(described)
        def command(as_json: bool, **options: Any) -> int:
            from einderive.frontend.bench.rows import Rows

            with Rows(as_json) as rows:
                found: int = resolve_name(f"einderive.frontend.bench.{place}")(out=rows, **options)
                return found

        return command

    return made


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
    help="Measure only the expressions that the search visits in a second.",
)
@click.option(
    "--states",
    type=number,
    default=4000,
    show_default=True,
    help="The largest number of expressions that a search visits.",
)
@click.option(
    "--target",
    default="cuda:90",
    show_default=True,
    help="The device whose costs the search predicts.",
)
@reported("run:bench_search")
def search() -> None:
    """Measure the search on four cases, under growing budgets."""


@bench.command(epilog=examples("einderive bench call", "einderive bench call --json"))
@reported("call:bench_call")
def call() -> None:
    """Measure the time of a call beyond its computation."""


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
@reported("never_slower:bench_slower")
def never_slower() -> None:
    """Time compiled functions beside plain lines of torch.

    The plain lines are hand-written calls of torch, or of NumPy, for the same formulas.
    """


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
@reported("training.backward:bench_backward")
def backward() -> None:
    """Time training steps beside plain lines of torch.

    A step is a call and its backward pass.  The table also shows the bytes that are kept between
    the two.
    """


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
    help="The number of programs for each formula: those that are predicted to be the fastest.",
)
@click.option(
    "--measuring",
    type=seconds,
    help="Seconds for measured extraction of each formula; its choice is compared too. "
    "[default: none]",
)
@EVERY
@KEPT
@reported("choices.choice:bench_choice")
def choice() -> None:
    """Compare the predicted times of stages with measured ones.

    It prints the rank correlation and the median relative error, for all stages and by operator.
    It also prints how often the program that is predicted to be the fastest is about the fastest.
    """


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
    help="Only find programs, or only time those of an earlier run.",
)
@click.option("--held-out", is_flag=True, help="Measure only the held-out third of the formulas.")
@KEPT
@reported("choices.chosen:bench_chosen")
def chosen() -> None:
    """Compare the chosen program with the fastest one.

    Each formula is compiled twice with the default options. One race times these two functions, the
    program that effort="high" finds, and 20 programs that are drawn at random. To find them takes
    about a minute for each formula, and other work on the machine has no influence: run
    `--part find` first.
    """


@bench.command(epilog=examples("einderive bench digits --formula distances --accuracy fast"))
@FORMULAS
@ACCURACY
@SECONDS
@reported("digits:bench_digits")
def digits() -> None:
    """Compare correct digits with those of plain lines."""


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
    help="Only stages with about this many elements: 400, 40000 or 4000000. [default: all]",
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
@reported("kernels.run:bench_kernels")
def kernels() -> None:
    """Time single stages beside torch, torch.compile and JAX.

    The stages are elementwise chains, reductions, normalisations, stencils and others, from public
    sources, at three sizes. Compiled functions are called as users call them.
    """


@bench.command(epilog=examples("einderive bench bandwidth --picture docs/measurements"))
@click.option(
    "--picture",
    default="",
    metavar="FOLDER",
    type=FILE,
    help="Write the curves as SVG pictures into this folder, which has to exist.",
)
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="The device of the operands.",
)
@click.option(
    "--power",
    "powers",
    multiple=True,
    type=number,
    help="Only sizes of 2 to this power elements. [default: 12, 14, ... 24]",
)
@SECONDS
@reported("kernels.bandwidth:bench_bandwidth")
def bandwidth() -> None:
    """Measure the bandwidth of addition and row softmax by size.

    For comparison, torch's own kernels and a copy of the same number of bytes are measured too.
    """
