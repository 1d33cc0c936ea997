"""`einderive bench backward`: a training step through a formula, beside torch's autograd.

    step(f)   =   f(operands), and the gradients by all its floating-point operands
    pass     <=>  f <= b + 10 us + noise,  and f keeps no more bytes for the backward pass than b

f is the compiled function as its users call it, b the fastest plain line: those of the list
(`frontend.formulas`) that are lines of torch, and those that einderive writes itself, all under
torch's autograd.  A line whose gradients differ from those of the others is left out.  All are
measured in one run, in alternation; the fastest line runs a second time, and what it differs by
from itself, or from round to round, is the noise.  What is slower is raced twice more, and the race
in the middle counts.

Kept bytes are those of the distinct memory that torch's hooks for saved tensors see in one call:
operands and results count, as they do for torch.

`forward` is what the derivation gains in the call alone: the seconds of the fastest plain program
divided by those of the chosen one, as they were timed when the formula was compiled.  It is 1 where
a plain program was chosen.

A table in a file grows by one line of JSON for each formula and size, and a second run goes on
where the first one ended.  With `minutes`, what is not begun by then is left for the next run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import exp, log
from pathlib import Path
from time import monotonic
from typing import Any, cast

import torch

from einderive.frontend.autograd.node import Node
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.bench.never_slower import noise, selected
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.files import write_whole
from einderive.frontend.formulas import Formula
from einderive.frontend.gradients.grad import grad
from einderive.frontend.text import duration
from einderive.frontend.training.kept import kept_bytes
from einderive.frontend.trial.timing import LONG_SAMPLE, Timing, race, timed
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program

ALLOWANCE = 10e-6
FAR_BEHIND = 3.0
"""A line that takes this many times the fastest one's on its first runs is not raced."""
IMPROVED = 1.1
"""Derivation improves the call of a formula where it is so many times as fast as the fastest plain
program, at least."""
DIGITS = 1e-2
"""Lines whose gradients differ by more, beside the largest entry, compute something else."""

Tensors = Sequence[torch.Tensor]
Step = Callable[[], Sequence[torch.Tensor | None]]


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
        return self.own.seconds > base + ALLOWANCE + self.noise

    @property
    def larger(self) -> bool:
        """Whether more is kept for the backward pass than by torch."""
        return self.kept > self.plain_kept

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
        word for word, holds in (("SLOWER", row.slower), ("MORE KEPT", row.larger)) if holds
    )
    return (
        f"{row.name[:40]:<40} {row.size:>5} {duration(row.plain.seconds):>9} {row.line:>4} "
        f"{duration(row.own.seconds):>9} {row.ratio:>6.2f} {duration(row.noise):>8} "
        f"{row.kept:>9} {row.plain_kept:>9} {row.forward:>7.2f}  {verdict or 'ok'} ({row.chosen})"
    )


def differentiable(formula: Formula, size: int) -> Program | None:
    """The formula in float32, if it has a gradient."""
    values = {n: torch.from_numpy(v) for n, v in formula.values(size, "float32").items()}
    types = {name: type_name(value) for name, value in values.items()}
    beside = {**formula.shapes(size), **formula.beside(size)}
    try:
        found = grad(formula.text, dtypes=types, **cast(Any, beside))
    except EinderiveError:
        return None
    return found.of


def measured(formula: Formula, program: Program, size: int, seconds: float) -> Row | LeftOut:
    """The row, or why there is none."""
    operands = {n: torch.from_numpy(v) for n, v in formula.values(size, "float32").items()}
    for value in operands.values():
        value.requires_grad_(value.is_floating_point())
    compiled = compile_formula(program, target="cpu", grad=True)
    given = [operands[tensor.name] for tensor in program.inputs]
    lines: list[Callable[[], Any]] = []
    if not formula.arrays:
        lines += [partial(plain, *operands.values()) for plain in formula.plain]
    lines += [partial(rival.call, *given) for rival in rivals(program, "cpu")]
    own = partial(compiled, *given)
    seeds = _seeds(own())
    step = _step(own, seeds, given)
    expected = step()
    steps = {}
    for number, line in enumerate(lines):
        found = _step(line, seeds, given)
        if _agree(found, expected):
            steps[number] = found
    if not steps:
        reason = "no plain line has these gradients by torch's autograd"
        return LeftOut(formula.name, size, reason)
    firsts = {k: min(timed(each, False) for _ in range(3)) for k, each in steps.items()}
    near = [k for k in firsts if firsts[k] <= FAR_BEHIND * min(firsts.values())]
    kept = kept_bytes(own)
    chosen = "torch's autograd" if _on_torchs_graph(own()) else "derived"
    forward = 1.0 if compiled.chosen.plan is None else compiled.ratio

    def row() -> Row:
        runs = [step, *(steps[k] for k in near for _ in range(2))]
        times = race(runs, seconds=seconds, sample=LONG_SAMPLE)
        pairs = [*zip(near, times[1::2], times[2::2], strict=True)]
        k, plain, again = min(pairs, key=lambda pair: pair[1].seconds + pair[2].seconds)
        plain_kept = kept_bytes(lines[k])
        own_time, plain, again = (replace(each, samples=()) for each in (times[0], plain, again))
        return Row(
            name=formula.name,
            size=size,
            own=own_time,
            plain=plain,
            again=again,
            line=k + 1,
            kept=kept,
            plain_kept=plain_kept,
            chosen=chosen,
            forward=round(forward, 3),
        )

    rows = [row()]
    if rows[0].slower:
        rows += [row(), row()]
    rows.sort(key=lambda one: one.ratio)
    return rows[len(rows) // 2]


def _on_torchs_graph(found: Any) -> bool:
    """Whether a plain line was recorded."""
    return not any(isinstance(y.grad_fn, Node._backward_cls) for y in _outputs(found))


def _outputs(found: Any) -> list[torch.Tensor]:
    """The results that have derivatives."""
    every = found if isinstance(found, tuple | list) else (found,)
    return [y for y in every if isinstance(y, torch.Tensor) and y.requires_grad]


def _seeds(found: Any) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(y.shape, dtype=y.dtype, generator=generator) for y in _outputs(found)]


def _step(call: Callable[[], Any], seeds: Tensors, given: Tensors) -> Step:
    """The call and its backward pass: the gradients by the operands."""
    leaves = [operand for operand in given if operand.requires_grad]

    def step() -> Sequence[torch.Tensor | None]:
        for leaf in leaves:
            leaf.grad = None
        torch.autograd.backward(_outputs(call()), list(seeds))
        return [leaf.grad for leaf in leaves]

    return step


def _agree(step: Step, expected: Sequence[torch.Tensor | None]) -> bool:
    """Whether the plain line's gradients are these."""
    try:
        found = step()
    except (RuntimeError, TypeError, ValueError):
        return False  # a line that writes in place, or to a shape of its own
    pairs = [*zip(found, expected, strict=True)]
    entries = [y[y.isfinite()].abs() for _, y in pairs if y is not None]
    scale = max((float(y.max()) for y in entries if y.numel()), default=0.0)
    for one, other in pairs:
        one = torch.zeros(()) if one is None else one
        other = torch.zeros(()) if other is None else other
        if not torch.allclose(one, other, rtol=DIGITS, atol=DIGITS * scale, equal_nan=True):
            return False
    return True


def bench_backward(
    words: Sequence[str],
    sizes: Sequence[int],
    out: Rows,
    *,
    seconds: float,
    every: int = 1,
    largest: bool = False,
    minutes: float | None = None,
    file: str = "",
) -> int:
    """The table; 0 where nothing is slower and nothing keeps more."""
    out.say(f"{torch.get_num_threads()} threads, torch {torch.__version__}, float32")
    out.say(HEAD)
    end = None if minutes is None else monotonic() + 60 * minutes
    done = read(file)
    if file:
        write_whole(file, "".join(map(_as_json, done.values())))
    for row in done.values():
        _add(out, row)
    left = 0
    for formula, size in [*selected(words, sizes, largest)][::every]:
        if (formula.name, size) in done:
            continue
        if end is not None and monotonic() > end:
            left += 1
            continue
        program = differentiable(formula, size)
        if program is None:
            continue
        out.progress.write(f"{formula.name}, {size}")
        try:
            row = measured(formula, program, size, seconds)
        except (EinderiveError, RuntimeError, MemoryError) as problem:
            row = LeftOut(formula.name, size, str(problem).splitlines()[0])
        done[formula.name, size] = row
        if file:
            with Path(file).open("a", encoding="utf-8") as table:
                table.write(_as_json(row))
        _add(out, row)
    rows = [row for row in done.values() if isinstance(row, Row)]
    for text in summary(rows):
        out.say(text)
    if left:
        out.say(f"{left} formulas and sizes are left for another run")
    return 1 if any(row.slower or row.larger for row in rows) else 0


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """How many are slower or keep more; the means, of all and of those that derivation improves."""
    slower, larger = sum(row.slower for row in rows), sum(row.larger for row in rows)
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


def read(file: str) -> dict[tuple[str, int], Row | LeftOut]:
    """The rows of a table by formula and size.  A last line that was cut off does not count."""
    found: dict[tuple[str, int], Row | LeftOut] = {}
    if file and Path(file).exists():
        for line in Path(file).read_text(encoding="utf-8").splitlines():
            try:
                row = _row(json.loads(line))
            except ValueError:
                continue
            found[row.name, row.size] = row
    return found


def _row(data: Mapping[str, Any]) -> Row | LeftOut:
    if "reason" in data:
        return LeftOut(**data)
    times = {
        name: Timing(data[name]["seconds"], data[name]["spread"])
        for name in ("own", "plain", "again")
    }
    return Row(**{**data, **times})


def _as_json(row: Row | LeftOut) -> str:
    return json.dumps(asdict(row)) + "\n"


def _add(out: Rows, row: Row | LeftOut) -> None:
    if isinstance(row, Row):
        out.add(line_of(row), row)
    else:
        out.add(f"{row.name[:40]:<40} {row.size:>5} left out: {row.reason}", row)
