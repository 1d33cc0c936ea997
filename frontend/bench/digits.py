"""`einderive bench digits`: formulas with differences on data with an offset and in clusters.

For each formula of `digits.toml`, which subtracts what may be nearly equal: the correct decimal
digits of the plain torch lines and of the compiled function, -log10(max|y - r|/max|r|) with r from
the plain lines in float64; the digits that the compiled function loses against the plain lines on
the row, or the whole, where it loses most (`accuracy.digits`); and both calls' times, interleaved,
in each kind of data, since a program may decide at run time how it computes.  The data are
the families of `frontend.accuracy.inputs.families`, drawn anew: compilation has seen others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, log10
from typing import Any, Self, cast

import torch

from einderive.frontend.accuracy import digits
from einderive.frontend.accuracy.inputs.families import FAMILIES, Wanted, normal
from einderive.frontend.accuracy.levels import Accuracy
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.formula import parse
from einderive.frontend.api.optimize import derive
from einderive.frontend.bench.rows import Rows
from einderive.frontend.bench.suite import one_line
from einderive.frontend.formulas.entry import LIBRARIES
from einderive.frontend.formulas.lines import line_as_function
from einderive.frontend.text import duration
from einderive.frontend.timed.timing import race
from einderive.ta.errors import NameUnknownError
from einderive.ta.ir.node import Tensor
from einderive.ta.listing import beside


@dataclass(frozen=True, slots=True)
class Difference:
    """A formula, the shapes of its tensors, the ones that have an offset or lie in clusters, and
    its plain torch lines, which take the tensors in order of first appearance.  Other tensors are
    normal numbers."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    data: tuple[str, ...]
    plain: Callable[..., torch.Tensor]

    @classmethod
    def read(cls, name: str, entry: dict[str, Any]) -> Self:
        """The formula of an entry of the file."""
        plain = line_as_function(entry["plain"], entry["shapes"], LIBRARIES)
        return cls(name, one_line(entry["text"]), entry["shapes"], entry["data"], plain)


DIFFERENCES = tuple(Difference.read(name, entry) for name, entry in beside(__name__).items())


SEED = 1001
EPSILON = torch.finfo(torch.float32).eps
ROUNDS = 7
KINDS = {"offset": "a mean of 1000 and a deviation of 1", "clusters": "clusters at +-1000"}
MOST_SLOWER = 1.2
"""On clusters the compiled function may take this many times as long as the plain lines."""
FASTER = 3.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One formula on one kind of data: seconds and correct digits of the plain lines and of the
    compiled function, and the digits lost."""

    plain_seconds: float
    seconds: float
    plain_digits: float
    digits: float
    lost: float

    @property
    def ratio(self) -> float:
        """Plain seconds over compiled seconds."""
        return self.plain_seconds / self.seconds


def bench_digits(words: Sequence[str], accuracy: Accuracy, seconds: float, out: Rows) -> int:
    """Print the table and what it comes to; 1 where a digit too many is lost."""
    chosen = [found for found in DIFFERENCES if not words or any(w in found.name for w in words)]
    if not chosen:
        names = ", ".join(found.name for found in DIFFERENCES)
        raise NameUnknownError(f"no formula has {words[0]!r} in its name; there are: {names}")
    out.say(
        f"float32, {torch.get_num_threads()} threads, accuracy {accuracy}\n"
        "digits: of the plain lines and of the compiled function; lost: the most on any row"
    )
    head = (f"{kind:>9} {'digits':>8} {'lost':>4} {'time':>17} {'ratio':>6}" for kind in KINDS)
    out.say(f"{'formula':<33}{'  '.join(head)}  program")
    found: list[dict[str, Outcome]] = []
    for difference in chosen:
        out.progress.write(difference.name)
        program = parse(difference.text, **cast(Any, difference.shapes))
        compiled = derive(program, accuracy=accuracy).compile(seconds=seconds)
        outcomes = {kind: outcome(difference, compiled, kind) for kind in KINDS}
        found.append(outcomes)
        cells = "  ".join(map(_cell, outcomes.values()))
        label = compiled.chosen.label
        data = {"formula": difference.name, "program": label, **outcomes}
        out.add(f"{difference.name:<33}{cells}  {label}", data)
    out.say("\n".join(_summary(found)))
    return int(any(o.lost > digits.MOST_LOST for outcomes in found for o in outcomes.values()))


def _cell(o: Outcome) -> str:
    return (
        f"{'':>9} {o.plain_digits:>3.1f}, {o.digits:>3.1f} {o.lost:>4.1f} "
        f"{duration(o.plain_seconds):>8} {duration(o.seconds):>8} {o.ratio:>5.1f}x"
    )


def _summary(found: Sequence[dict[str, Outcome]]) -> Iterator[str]:
    for kind in KINDS:
        outcomes = [each[kind] for each in found]
        fine = sum(o.lost <= digits.MOST_LOST for o in outcomes)
        fast = sum(o.ratio >= FASTER for o in outcomes)
        slow = sum(o.ratio < 1 / MOST_SLOWER for o in outcomes)
        yield (
            f"{kind}: {fine} of {len(found)} lose at most {digits.MOST_LOST:g} digit, {fast} take "
            f"at most 1/{FASTER:g} of the plain lines' time, {slow} more than {MOST_SLOWER:g} of it"
        )


def outcome(difference: Difference, compiled: CompiledFunction, kind: str) -> Outcome:
    """The formula on one kind of data."""
    given = data(compiled.derivation.source.inputs, difference, kind)
    exact = difference.plain(*(value.to(torch.float64) for value in given))
    with torch.no_grad():
        plain, own = difference.plain(*given), compiled(*given)
        runs = (partial(difference.plain, *given), partial(compiled, *given))
        lines, calls = race(runs, seconds=inf, most=ROUNDS)
    rows = [_rows(value) for value in (exact, plain, own)]
    judged = _judged(rows[0], rows[1])
    return Outcome(
        lines.seconds,
        calls.seconds,
        _correct(plain, exact),
        _correct(own, exact),
        digits.loss(judged, rows[2], EPSILON).digits,
    )


def data(tensors: Sequence[Tensor], difference: Difference, kind: str) -> list[torch.Tensor]:
    """The operands: the family's values where the formula's data are meant, normal ones else."""
    make = next(family.make for family in FAMILIES if family.name == KINDS[kind])
    generator = torch.Generator().manual_seed(SEED)
    made: list[torch.Tensor] = []
    for tensor in tensors:
        chosen = make if tensor.name in difference.data else normal
        made.append(chosen(Wanted(tensor, made, generator)))
    return [value.to(torch.float32) for value in made]


def _rows(values: torch.Tensor) -> list[digits.Array]:
    wide = values.to(torch.float64).numpy()
    return list(wide.reshape(-1, wide.shape[-1])) if wide.ndim else [wide.reshape(1)]


def _judged(exact: list[digits.Array], plain: list[digits.Array]) -> tuple[digits.Row, ...]:
    info = torch.finfo(torch.float32)
    rows = [digits.Values(r, r, r, (w,)) for r, w in zip(exact, plain, strict=True)]
    return digits.rows_of(rows, rows, digits.Limits(info.eps, info.tiny, info.max))


def _correct(values: torch.Tensor, exact: torch.Tensor) -> float:
    """-log10 of the error's norm over the result's, at most the digits of the type, 0 at least."""
    off = float((values - exact).abs().max() / exact.abs().max())
    return min(max(0.0, -log10(off)) if off else 99.0, -log10(EPSILON))
