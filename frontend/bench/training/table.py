"""The table of `einderive bench backward`: its rows, what they come to, and how they are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from einderive.frontend.bench.never_slower import noise
from einderive.frontend.bench.rows import Rows
from einderive.frontend.text import duration
from einderive.frontend.trial.timing import Timing

ALLOWANCE = 10e-6
IMPROVED = 1.1
"""Derivation improves the call of a formula where it is this many times as fast as the fastest
plain program, at least."""


@dataclass(frozen=True, slots=True)
class Row:
    """One formula at one size; `line` is the number of the fastest plain line, from 1."""

    name: str
    size: int
    own: Timing
    plain: Timing
    again: Timing
    line: int
    kept: int
    plain_kept: int
    chosen: str
    forward: float = 1.0
    refusal: str = ""
    """Why a line that is faster, or keeps less, may not be recorded."""
    alone: bool = False
    """No line may be recorded."""

    @property
    def noise(self) -> float:
        return noise(self.plain, self.again)

    @property
    def ratio(self) -> float:
        """Torch's seconds divided by those of the compiled function."""
        return min(self.plain.seconds, self.again.seconds) / self.own.seconds

    @property
    def slower(self) -> bool:
        base = max(self.plain.seconds, self.again.seconds)
        return not self.alone and self.own.seconds > base + ALLOWANCE + self.noise

    @property
    def larger(self) -> bool:
        """Whether more is kept for the backward pass than by torch."""
        return not self.alone and self.kept > self.plain_kept

    @property
    def improved(self) -> bool:
        """Whether derivation improves the call without its backward pass."""
        return self.forward >= IMPROVED


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A formula that is not measured, and why."""

    name: str
    size: int
    reason: str


HEAD = (
    f"{'formula':<40} {'n':>5} {'torch':>9} {'line':>4} {'einderive':>9} {'faster':>6} "
    f"{'noise':>8} {'kept':>9} {'by torch':>9} {'forward':>7}  verdict"
)


def line_of(row: Row) -> str:
    """The row as text."""
    verdict = ", ".join(
        word
        for word, holds in (
            ("SLOWER", row.slower),
            ("MORE KEPT", row.larger),
            ("all lines refused" if row.alone else "a line refused", bool(row.refusal)),
        )
        if holds
    )
    return (
        f"{row.name[:40]:<40} {row.size:>5} {duration(row.plain.seconds):>9} {row.line:>4} "
        f"{duration(row.own.seconds):>9} {row.ratio:>6.2f} {duration(row.noise):>8} "
        f"{row.kept:>9} {row.plain_kept:>9} {row.forward:>7.2f}  {verdict or 'ok'} ({row.chosen})"
    )


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """How many are slower or keep more; the means, of all and of those that derivation improves."""
    slower, larger = sum(row.slower for row in rows), sum(row.larger for row in rows)
    for row in rows:
        if row.refusal:
            yield f"{row.name}, {row.size}: a line is refused: {row.refusal}"
    yield (
        f"{len(rows)} measured, {slower} slower, {larger} keep more; "
        f"geometric mean {_mean(rows):.2f} times as fast as torch"
    )
    improved = [row for row in rows if row.improved]
    yield (
        f"{len(improved)} whose call alone is at least {IMPROVED} times as fast: "
        f"geometric mean {_mean(improved):.2f}, of the call alone "
        f"{_mean(improved, lambda row: row.forward):.2f}"
    )


def _ratio(row: Row) -> float:
    return row.ratio


def _mean(rows: Sequence[Row], of: Callable[[Row], float] = _ratio) -> float:
    return exp(sum(log(of(row)) for row in rows) / len(rows)) if rows else 1.0


def row_of(data: Mapping[str, Any]) -> Row | LeftOut:
    if "reason" in data:
        return LeftOut(**data)
    times = {
        name: Timing(data[name]["seconds"], data[name]["spread"])
        for name in ("own", "plain", "again")
    }
    return Row(**{**data, **times})


def key_of(row: Row | LeftOut) -> tuple[str, int]:
    return row.name, row.size


def add(out: Rows, row: Row | LeftOut) -> None:
    if isinstance(row, Row):
        out.add(line_of(row), row)
    else:
        out.add(f"{row.name[:40]:<40} {row.size:>5} left out: {row.reason}", row)
