"""`einderive bench chosen`: the program that is chosen, beside what more effort finds, and beside
the choice of a second run.

For each formula of `frontend.formulas` at each size, nothing is remembered, and three functions are
compiled: two as by default, and one with more effort, which searches longer and builds, checks and
times more programs.  The three are raced on the same operands.

    loss   =   the first one's seconds / those of the fastest of the three
    same   <=> both runs chose the same program, or two whose seconds differ by 3 % at most

A table in a file grows by one line of JSON for each formula and size, and a second run goes on
where the first one ended.  With `minutes`, what is not begun by then is left for the next run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import monotonic
from typing import Any, cast

import numpy as np
import torch

from einderive.frontend.api.formula import parse
from einderive.frontend.bench.choice import LARGEST
from einderive.frontend.bench.kept import Kept
from einderive.frontend.bench.kept import read as read_rows
from einderive.frontend.bench.never_slower import selected
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.formulas import Formula
from einderive.frontend.trial.timing import LONG_ROUNDS, LONG_SAMPLE, race
from einderive.ta.errors import EinderiveError

EFFORT = 12.0
"""Seconds to compile with more effort."""
RACE_SECONDS = 0.6
CLOSE, SAME = 1.05, 1.03
"""The loss that a choice may have, and by what the times of two equally good ones may differ."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A formula at a size: the labels and seconds of the three functions, the two of the default
    effort first, and their programs.  `failed` says why there are none."""

    formula: str
    size: int
    labels: tuple[str, ...] = ()
    seconds: tuple[float, ...] = ()
    words: tuple[tuple[str, ...], ...] = ()
    failed: str = ""

    @property
    def loss(self) -> float:
        return self.seconds[0] / min(self.seconds)

    @property
    def same(self) -> bool:
        first, second, _ = self.seconds
        alike = (self.labels[0], self.words[0]) == (self.labels[1], self.words[1])
        return alike or max(first, second) <= SAME * min(first, second)


def bench_chosen(
    words: Sequence[str],
    sizes: Sequence[int],
    out: Rows,
    *,
    largest: bool = False,
    effort: float = EFFORT,
    every: int = 1,
    minutes: float | None = None,
    file: str = "",
) -> int:
    """The table, and what it comes to."""
    out.say(f"{torch.get_num_threads()} threads, torch {torch.__version__}, float32")
    end = None if minutes is None else monotonic() + 60 * minutes
    kept = Kept(file, _row, _key)
    done = kept.rows
    for row in done.values():
        _add(out, row)
    left = 0
    for formula, size in [*selected(words, sizes, largest)][::every]:
        if (formula.name, size) in done:
            continue
        if end is not None and monotonic() > end:
            left += 1
            continue
        out.progress.write(f"{formula.name}, {size}")
        row = compared(formula, size, effort)
        kept.add(row)
        _add(out, row)
    for text, data in summary(list(done.values())):
        out.add(text, data)
    if left:
        out.say(f"{left} formulas and sizes are left for another run")
    return 0


def read(file: str) -> dict[tuple[str, int], Chosen]:
    """The rows of a table by formula and size."""
    return read_rows(file, _row, _key)


def _key(row: Chosen) -> tuple[str, int]:
    return row.formula, row.size


def _row(data: Mapping[str, Any]) -> Chosen:
    words = tuple(tuple(each) for each in data["words"])
    labels, seconds = tuple(data["labels"]), tuple(data["seconds"])
    return Chosen(**{**data, "labels": labels, "seconds": seconds, "words": words})


def _add(out: Rows, row: Chosen) -> None:
    told = row.failed
    if not told:
        told = f"loss {row.loss:.2f}  {'same' if row.same else 'other'}  {' | '.join(row.labels)}"
    out.add(f"{row.formula[:44]:<44} {row.size:>7} {told}", row)


def compared(formula: Formula, size: int, effort: float) -> Chosen:
    """The three functions of the formula at a size, timed in one race."""
    try:
        with np.errstate(all="ignore"):
            values = {n: torch.from_numpy(v) for n, v in formula.values(size, "float32").items()}
            if any(value.numel() > LARGEST for value in values.values()):
                return Chosen(formula.name, size, failed="too large")
            program = parse(formula.text, **cast(Any, values), **cast(Any, formula.beside(size)))
            anew = partial(compile_formula, program, target="cpu", remember=False)
            functions = [anew(), anew(), anew(effort=effort)]
            given = [values[tensor.name] for tensor in program.inputs]
            found = race(
                [partial(each, *given) for each in functions],
                seconds=RACE_SECONDS,
                most=LONG_ROUNDS,
                sample=LONG_SAMPLE,
            )
        chosen = [each.chosen for each in functions]
        return Chosen(
            formula.name,
            size,
            tuple(trial.label for trial in chosen),
            tuple(timing.seconds for timing in found),
            tuple(trial.words for trial in chosen),
        )
    except (EinderiveError, RuntimeError, MemoryError) as problem:
        return Chosen(formula.name, size, failed=str(problem).splitlines()[0])


def summary(rows: Sequence[Chosen]) -> Iterator[tuple[str, object]]:
    """Lines, and the same as data: losses, runs that agree, what more effort gains."""
    found = [row for row in rows if not row.failed]
    if not found:
        return
    close, same = sum(row.loss <= CLOSE for row in found), sum(row.same for row in found)
    gains = [min(row.seconds[:2]) / row.seconds[2] for row in found]
    most = max(zip(gains, found, strict=True), key=lambda each: each[0])
    yield (
        f"{close} of {len(found)} choices within {CLOSE} of the fastest; the same in two runs, or "
        f"within {SAME}: {same}",
        {"choices": len(found), "close": close, "within": CLOSE, "same": same},
    )
    yield (
        f"more effort: {median(gains):.2f} x as fast in the median, at most {most[0]:.2f} x "
        f"({most[1].formula}, {most[1].size})",
        {"median": median(gains), "most": most[0], "formula": most[1].formula},
    )
