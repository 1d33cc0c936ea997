"""`einderive bench never-slower`: the compiled function beside what its users would have written.

    pass   <=>   f <= b + a + noise   and   f <= 1.10*b + a

f is the time of the public call, b that of the fastest plain line of the list (`frontend.formulas`)
on the same operands, a = 5 us for torch operands and 10 us for NumPy arrays.  A formula whose line
is one of NumPy is always called with arrays.  What a line gives is copied if it shows the memory of
an operand, as results of a call are in memory of their own.

All are measured in one run, in alternation, and so is the fastest line a second time: what it
differs by from itself, or from round to round, is the noise.  Where the line is one of NumPy, a
pause and some calls that are not timed come before each measurement: the threads of NumPy's and of
torch's libraries wait for work for a while after each call, and then in each other's way; a product
that takes 0.1 ms may take 8.  What is slower is raced three times more, in `ROUNDS` rounds or more:
the spread of two or three rounds is no measure of noise.  Of these races the one in the middle
counts.  A faster line that `compile(..., baseline=line)` refuses, as it loses more digits than a
compiled function may, is shown and left out.  The seconds of `compile()` are those of the whole
call, the derivation included.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
import torch

from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.formula import parse
from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.formulas import Formula, Plain
from einderive.frontend.text import duration
from einderive.frontend.timed.timing import LONG_SAMPLE, MOST, Timing, race, timed
from einderive.frontend.trial.races import YOURS
from einderive.ta.errors import EinderiveError

TORCH_ALLOWANCE, NUMPY_ALLOWANCE = 5e-6, 10e-6
MOST_RATIO = 1.10
FAR_BEHIND = 4.0
"""A line that takes this many times the fastest one's on its first runs is not raced."""
APART, MOST_APART = 0.1, 12
"""Seconds after which no thread of NumPy's or torch's waits for work any more, and the most rounds
with such pauses."""
ROUNDS = 12
REFUSED = "refused: "
COMPILE_SECONDS, QUICK_BASELINE = 3.0, 0.1
"""Compiling takes no longer where the fastest line takes no longer than the second."""


def noise(first: Timing, second: Timing) -> float:
    """The difference between two measurements of the same line, or the larger spread of one."""
    return max(abs(first.seconds - second.seconds), first.spread, second.spread)


@dataclass(frozen=True, slots=True)
class Row:
    """One formula at one size; `line` is the number of the fastest plain line, from 1."""

    name: str
    size: int
    public: Timing
    plain: Timing
    again: Timing
    line: int
    chosen: str
    compile_seconds: float
    allowance: float
    refusal: str = ""
    """Why a faster line may not be run."""
    alone: bool = False
    """No line may be run."""

    @property
    def noise(self) -> float:
        return noise(self.plain, self.again)

    @property
    def fine(self) -> bool:
        if self.alone:
            return True
        base = min(self.plain.seconds, self.again.seconds)
        own = self.public.seconds - self.allowance
        return own <= base + self.noise and own <= MOST_RATIO * max(
            self.plain.seconds, self.again.seconds
        )

    @property
    def quickly_compiled(self) -> bool:
        return self.compile_seconds <= COMPILE_SECONDS or self.plain.seconds > QUICK_BASELINE


HEAD = (
    f"{'formula':<44} {'n':>5} {'plain':>9} {'line':>4} {'einderive':>9} {'ratio':>6} "
    f"{'noise':>8} {'compile':>8}  verdict"
)


def line_of(row: Row) -> str:
    """The row as text."""
    verdict = "ok" if row.fine else "SLOWER"
    if not row.quickly_compiled:
        verdict += ", compiled slowly"
    if row.alone:
        verdict += ", all lines refused"
    elif row.refusal:
        verdict += ", a faster line refused"
    ratio = row.public.seconds / row.plain.seconds
    return (
        f"{row.name[:44]:<44} {row.size:>5} {duration(row.plain.seconds):>9} {row.line:>4} "
        f"{duration(row.public.seconds):>9} {ratio:>6.{2 if ratio >= 0.1 else 4}f} "
        f"{duration(row.noise):>8} {row.compile_seconds:>6.2f} s  {verdict} ({row.chosen})"
    )


def measured(formula: Formula, size: int, *, numpy: bool, seconds: float) -> Row:
    """Compile the formula and time it beside its plain lines."""
    arrays = numpy or formula.arrays
    values = formula.values(size, "float32")
    operands: dict[str, Any] = {
        name: value if arrays else torch.from_numpy(value) for name, value in values.items()
    }
    gc.collect()
    gc.freeze()  # what earlier rows left is not gone through again, as in a process of its own
    started = time.perf_counter()
    compiled = compile_formula(
        formula.text, target="cpu", **operands, **cast(Any, formula.beside(size)), remember=False
    )
    compile_seconds = time.perf_counter() - started
    given = [operands[tensor.name] for tensor in compiled.derivation.source.inputs]
    own = [*operands.values()]
    lines = [_line(plain, own, arrays and not formula.arrays) for plain in formula.plain]
    return _raced(formula, size, compiled, given, lines, compile_seconds, arrays, seconds)


def _line(plain: Plain, given: Sequence[Any], numpy: bool) -> Callable[[], object]:
    """A plain line on the operands; for arrays with torch's conversions there and back."""

    def call() -> object:
        found = plain(*map(torch.from_numpy, given))
        several = isinstance(found, tuple)
        return tuple(y.numpy() for y in found) if several else found.numpy()

    line = call if numpy else partial(plain, *given)
    if not any(_shares(line(), operand) for operand in given):
        return line
    return lambda: _copied(line())


def _shares(found: object, operand: object) -> bool:
    """Whether the result shows the operand's memory."""
    if isinstance(found, np.ndarray) and isinstance(operand, np.ndarray):
        return np.may_share_memory(found, operand)
    if isinstance(found, torch.Tensor) and isinstance(operand, torch.Tensor):
        return found.untyped_storage().data_ptr() == operand.untyped_storage().data_ptr()
    return False


def _copied(found: Any) -> object:
    return found.clone() if isinstance(found, torch.Tensor) else found.copy()


def _raced(
    formula: Formula,
    size: int,
    compiled: CompiledFunction,
    given: Sequence[Any],
    lines: Sequence[Callable[[], object]],
    compile_seconds: float,
    numpy: bool,
    seconds: float,
) -> Row:
    """One race; where the call is slower, the second fastest of three, without the lines that a
    compiled function may not run for their digits."""
    call = partial(compiled, *given)
    call()
    allowance = NUMPY_ALLOWANCE if numpy else TORCH_ALLOWANCE

    def row(numbers: Sequence[int], longest: float = 0.0) -> Row:
        runs: list[Callable[[], object]] = [call, *(lines[k] for k in numbers for _ in range(2))]
        with torch.no_grad():
            times = race(
                runs,
                seconds=max(seconds, ROUNDS * len(runs) * longest),
                sample=LONG_SAMPLE,
                most=MOST_APART if formula.arrays else MOST,
                apart=APART if formula.arrays else 0.0,
            )
        pairs = [*zip(numbers, times[1::2], times[2::2], strict=True)]
        k, plain, again = min(pairs, key=lambda pair: pair[1].seconds + pair[2].seconds)
        label = compiled.chosen.label
        return Row(
            formula.name, size, times[0], plain, again, k + 1, label, compile_seconds, allowance
        )

    with torch.no_grad():
        firsts = {k: min(timed(line, False) for _ in range(3)) for k, line in enumerate(lines)}
    refusal, rows = "", list[Row]()
    while not rows:
        near = [k for k in firsts if firsts[k] <= FAR_BEHIND * min(firsts.values())]
        rows.append(row(near))
        again = "" if rows[0].fine else _refused(formula, size, rows[0].line - 1)
        if again:
            refusal = again
            del firsts[rows[0].line - 1]
            if firsts:
                rows.clear()
    if firsts and not rows[0].fine:
        longest = max(rows[0].public.seconds, rows[0].plain.seconds)
        rows = [row(near, longest) for _ in range(3)]
    rows.sort(key=lambda one: one.public.seconds / one.plain.seconds)
    return replace(rows[len(rows) // 2], refusal=refusal, alone=not firsts)


def _refused(formula: Formula, size: int, line: int) -> str:
    """Why a compiled function may not run this line; nothing where it may."""
    operands = cast(
        Any, {n: torch.from_numpy(v) for n, v in formula.values(size, "float32").items()}
    )
    program = parse(formula.text, **operands, **cast(Any, formula.beside(size)))
    places = [[t.name for t in program.inputs].index(name) for name in operands]
    plain = formula.plain[line]

    def baseline(*given: torch.Tensor) -> Any:
        own = [given[place] for place in places]
        if not formula.arrays:
            return plain(*own)
        found = plain(*(value.numpy() for value in own))
        several = isinstance(found, tuple)
        outputs = tuple(torch.from_numpy(np.array(y)) for y in (found if several else (found,)))
        return outputs if several else outputs[0]

    judged = compile_formula(program, target="cpu", budget=0.01, baseline=baseline, remember=False)
    verdict = next(trial.verdict for trial in judged.trials if trial.label == YOURS)
    return verdict.removeprefix(REFUSED) if verdict.startswith(REFUSED) else ""


def bench_slower(out: Rows, *, numpy: bool, seconds: float, **asked: Any) -> int:
    """The table; 0 where everything passes."""
    operands = "NumPy arrays" if numpy else "torch tensors"
    campaign = Campaign(out, **asked, how=f"float32, {operands}")
    out.say(HEAD)
    rows: list[Row] = []
    failed = 0
    for formula, size in campaign.formulas():
        try:
            with np.errstate(all="ignore"):
                row = measured(formula, size, numpy=numpy, seconds=seconds)
        except (EinderiveError, RuntimeError, MemoryError) as problem:
            failed += 1
            reason = str(problem).splitlines()[0]
            text = f"{formula.name[:44]:<44} {size:>5} FAILED: {reason}"
            out.add(text, {"name": formula.name, "size": size, "failed": reason})
            continue
        rows.append(row)
        out.add(line_of(row), row)
    slower = [row for row in rows if not row.fine]
    slow = [row for row in rows if not row.quickly_compiled]
    for row in rows:
        if row.refusal:
            out.say(f"{row.name}, {row.size}: a faster line is refused: {row.refusal}")
    out.say(
        f"{len(rows)} measured, {len(rows) - len(slower)} never slower, {len(slower)} slower, "
        f"{len(slow)} compiled in more than {COMPILE_SECONDS:g} s, {failed} failed"
    )
    return 1 if slower or slow or failed else 0
