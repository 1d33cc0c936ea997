"""`einderive bench choice`: predicted beside measured seconds of stages, and the choice that
predictions make.

For each formula of `frontend.formulas` at each size: the programs of least predicted seconds that a
short search finds, and the formula as it is given.  Each of their stages is run and timed alone, in
float32, on the formula's operands (`machine.stages`); two stages that are alike are timed once.
Views and what is computed once for all calls count as free, and are left out.

    loss   =   measured seconds of the program predicted fastest / those of the fastest program

A program's measured seconds are the sum of its stages' here.  A table in a file grows by one line
of JSON for each formula and size, and a second run goes on where the first one ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from statistics import correlation, median
from typing import Any

import numpy as np
import torch

from einderive.derivations.search.extract import Plan
from einderive.frontend.api.optimize import derive
from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.choices.asked import LARGEST, PROBLEMS, asked, asked_of
from einderive.frontend.bench.rows import Rows
from einderive.frontend.formulas import Formula
from einderive.frontend.machine.extraction import refined
from einderive.frontend.machine.stages import timed_stages
from einderive.ta.ir.node import Tensor

SEARCH_SECONDS = 0.2
SLOWEST = 0.3
"""Programs that are predicted to take more seconds are left out, and those with a stage of more
than `LARGEST` elements."""
CLOSE = 1.25
"""The loss that a prediction may have."""
KERNEL = "torch operations"
"""The word for a stage that no library operator computes."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One stage: what computes it, its text, its seconds, and its key (`machine.stages`)."""

    key: str
    operator: str
    text: str
    predicted: float
    measured: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A formula at a size: its stages that no formula before had, and for each program the
    predicted seconds and the measured ones.  `failed` says why there are none."""

    formula: str
    size: int
    stages: tuple[Timed, ...] = ()
    programs: tuple[tuple[float, float], ...] = ()
    refined: float = 0.0
    """The measured seconds of the program that measured extraction ranks first; 0 where it was not
    asked."""
    failed: str = ""

    @property
    def best(self) -> float:
        found = min(measured for _, measured in self.programs)
        return min(found, self.refined) if self.refined else found

    @property
    def loss(self) -> float:
        """At least 1."""
        _, chosen = min(self.programs)
        return chosen / self.best


def bench_choice(
    out: Rows, *, programs: int = 4, measuring: float | None = None, **asked: Any
) -> int:
    """The table, and what it comes to."""
    campaign = Campaign(out, **asked)
    table = campaign.kept(row_of, asked_of, _add)
    known = {stage.key: stage.measured for row in table.rows.values() for stage in row.stages}
    for formula, size in campaign.formulas(table.rows):
        table.add(row := measured(formula, size, programs, known, measuring))
        _add(out, row)
    for text, data in summary([*table.rows.values()]):
        out.add(text, data)
    return 0


def row_of(data: Mapping[str, Any]) -> Measured:
    stages = tuple(Timed(**stage) for stage in data["stages"])
    programs = tuple((predicted, seconds) for predicted, seconds in data["programs"])
    return Measured(**{**data, "stages": stages, "programs": programs})


def _add(out: Rows, row: Measured) -> None:
    if row.failed:
        out.add(f"{row.formula[:44]:<44} {row.size:>7} {row.failed}", row)
    else:
        errors = median_error(*_columns(row.stages))
        told = f"{len(row.stages):>3} new stages, error {errors:>5.0%}, loss {row.loss:.2f}"
        out.add(f"{row.formula[:44]:<44} {row.size:>7} {told}", row)


def measured(
    formula: Formula,
    size: int,
    programs: int,
    known: dict[str, float],
    measuring: float | None = None,
) -> Measured:
    """The formula at a size.  `known` are the times of stages, and grows.  `measuring` are the
    seconds for measured extraction."""
    try:
        program, inputs = asked(formula, size)
        derivation = derive(program, target="cpu", budget=SEARCH_SECONDS)
        plans = [derivation.unchanged, *derivation.candidates[:programs]]
        found = _timed(formula.name, size, inputs, plans, known)
        if measuring and not found.failed:
            best = refined(derivation, inputs, measuring).candidates[0]
            found = replace(found, refined=_total(best, inputs, known))
        return found
    except PROBLEMS as problem:
        return Measured(formula.name, size, failed=str(problem).splitlines()[0])


def _timed(
    name: str,
    size: int,
    inputs: Mapping[Tensor, torch.Tensor],
    plans: Sequence[Plan],
    known: dict[str, float],
) -> Measured:
    stages: list[Timed] = []
    totals: list[tuple[float, float]] = []
    for plan in {plan.roots: plan for plan in plans}.values():
        large = any(stage.scope.size > LARGEST for stage in plan.stages)
        if large or plan.seconds > SLOWEST:
            continue
        total = 0.0
        for stage, key, seconds in timed_stages(plan.stages, inputs, known=known.get):
            total += seconds
            if key not in known:
                known[key] = seconds
                operator = stage.operator or KERNEL
                stages.append(Timed(key, operator, repr(stage.scope), stage.seconds, seconds))
        if total:
            totals.append((plan.seconds, total))
    if not totals:
        return Measured(name, size, failed="no program that computes and is small enough")
    return Measured(name, size, tuple(stages), tuple(totals))


def _total(plan: Plan, inputs: Mapping[Tensor, torch.Tensor], known: dict[str, float]) -> float:
    """The measured seconds of the program."""
    total = 0.0
    for _, key, seconds in timed_stages(plan.stages, inputs, known=known.get):
        total += known.setdefault(key, seconds)
    return total


def _columns(stages: Sequence[Timed]) -> tuple[list[float], list[float]]:
    return [stage.predicted for stage in stages], [stage.measured for stage in stages]


def summary(rows: Sequence[Measured]) -> Iterator[tuple[str, object]]:
    """Lines, and the same as data: all stages, the stages by operator, the choices."""
    stages = [stage for row in rows for stage in row.stages]
    by_operator: dict[str, list[Timed]] = {}
    for stage in stages:
        by_operator.setdefault(stage.operator, []).append(stage)
    ordered = sorted(by_operator.items(), key=lambda item: -len(item[1]))
    yield f"{'stages':<20} {'count':>6} {'rank':>6} {'error':>6} {'predicted/measured':>18}", {}
    for name, found in [("all", stages), *ordered]:
        predicted, seconds = _columns(found)
        rank, error = rank_correlation(predicted, seconds), median_error(predicted, seconds)
        ratio = median(p / m for p, m in zip(predicted, seconds, strict=True)) if found else inf
        yield (
            f"{name:<20} {len(found):>6} {rank:>6.3f} {error:>6.0%} {ratio:>18.2f}",
            {"stages": name, "count": len(found), "rank": rank, "error": error, "ratio": ratio},
        )
    several = [row for row in rows if not row.failed and len(row.programs) > 1]
    yield _choices("prediction", [row.loss for row in several])
    if any(row.refined for row in several):
        yield _choices("measured extraction", [row.refined / row.best for row in several])


def _choices(by: str, losses: Sequence[float]) -> tuple[str, object]:
    close = sum(loss <= CLOSE for loss in losses)
    told = f"{close} of {len(losses)} choices by {by} within {CLOSE} of the fastest program"
    return told, {"by": by, "choices": len(losses), "close": close, "within": CLOSE}


FEWEST = 3


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """NaN for fewer than three pairs, or where one of the sequences is constant."""
    left, right = ranks(one), ranks(other)
    if len(left) < FEWEST or len(set(left)) < 2 or len(set(right)) < 2:
        return nan
    return correlation(left, right)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value among all, from 0; the mean place of equal ones."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    means: list[float] = (np.cumsum(counts) - (counts + 1) / 2)[places].tolist()
    return means


def median_error(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """The median of the relative errors; NaN for none."""
    errors = [abs(p - m) / m for p, m in zip(predicted, measured, strict=True)]
    return median(errors) if errors else nan
