"""`python -m einderive.frontend.bench.kernels.alone FORMULA X=2000,2000 ...`: kernels alone.

    share of bandwidth = time of a copy that moves as many bytes / time of the kernel

The kernels of a formula as given, without the call of the program around them: each on dense
random operands, called by turns with a copy; the least times count.  To compare two versions of
einderive, run the command in both, by turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.fuse import groups
from einderive.frontend.report.terminal import table_text
from einderive.frontend.text import duration
from einderive.frontend.timed.timing import race
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.dtypes import DTYPES
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse

TYPES = tuple(dtype for dtype in DTYPES if not dtype.startswith("complex"))


class Timed(NamedTuple):
    """One kernel: its stages, the shapes of its results, its seconds, and those of the copy."""

    stages: int
    results: str
    passes: int
    seconds: float
    copy_seconds: float


def kernels(
    text: str, shapes: dict[str, tuple[int, ...]], dtype: str, seconds: float
) -> Iterator[Timed]:
    """The kernels of a formula whose operands have these shapes, each after it was timed for about
    so long."""
    roots = parse(text, shapes, dtypes=dict.fromkeys(shapes, dtype)).roots()
    every = stages(*roots)
    reads = {stage: nested_scopes(stage) for stage in every}
    for group in groups(reads, every, roots):
        yield timed(group, dtype, seconds)


def timed(group: Group, dtype: str, seconds: float) -> Timed:
    """One group of stages as a kernel, beside a copy."""
    kind = getattr(torch, dtype)
    held = [torch.randn([side.extent for side in one.ranges]).to(kind) for one in group.operands]
    typing: Any = typing_of(group, [kind] * len(held))
    kernel = build(group, dense(group), typing)
    run = partial(kernel.launcher(), *held)
    moved = sum(x.numel() * x.element_size() for x in (*held, *run()))
    half = torch.empty(max(1, moved // 2), dtype=torch.uint8)
    own, copy = race([run, half.clone], seconds=seconds)
    results = ", ".join(" x ".join(map(str, out.shape)) or "1" for out in group.outputs)
    return Timed(
        len(group.stages), results, len(kernel.plan.phases), min(own.samples), min(copy.samples)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each kernel."""
    parser = argparse.ArgumentParser(prog="python -m einderive.frontend.bench.kernels.alone")
    parser.add_argument("formula")
    parser.add_argument("shapes", nargs="+", metavar="X=2000,2000", type=shape)
    parser.add_argument("--dtype", default="float32", choices=TYPES, metavar="TYPE")
    parser.add_argument("--seconds", type=float, default=0.3, help="for one kernel")
    parser.add_argument("--threads", type=int, help="default: as many as torch has")
    given = parser.parse_args(arguments)
    torch.set_num_threads(given.threads or torch.get_num_threads())
    rows = list[tuple[str, ...]]()
    try:
        for one in kernels(given.formula, dict(given.shapes), given.dtype, given.seconds):
            share = f"{one.copy_seconds / one.seconds:.0%}"
            counts = str(one.stages), str(one.passes)
            times = duration(one.seconds), duration(one.copy_seconds)
            rows.append((one.results, *counts, *times, share))
    except EinderiveError as error:
        print(error, file=sys.stderr)
        return 2
    heads = ("results", "stages", "passes", "time", "copy", "of the copy")
    print(f"{given.dtype}, {torch.get_num_threads()} threads")
    print(table_text(heads, heads[:1], rows))
    return 0


def shape(text: str) -> tuple[str, tuple[int, ...]]:
    """`X=2000,2000`"""
    name, _, extents = text.partition("=")
    return name, tuple(map(int, extents.split(",")))


if __name__ == "__main__":
    sys.exit(main())
