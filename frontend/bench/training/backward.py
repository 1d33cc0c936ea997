"""`einderive bench backward`: a training step through a formula, beside torch's autograd.

    step(f)   =   f(operands), and the gradients by all its floating-point operands
    pass     <=>  f <= b + 10 us + noise,  and f keeps no more than b for the backward pass, but
                  for a page of 4096 bytes
    noise     =   what f or b differs by from itself, or from round to round, at most

f is the compiled function as its users call it, b the fastest plain line: those of the list
(`frontend.formulas`) that are lines of torch, and those that einderive writes itself, all under
torch's autograd.  A line whose gradients differ from those of the others is left out.  So is a
faster one that a compiled function may not record, for its digits or for its gradients at ties;
this is told.  All are measured in one run, in alternation, each step twice: f and b are the means
of two.  What is slower is raced twice more, and the race in the middle counts.

Kept bytes are those of the distinct memory that torch's hooks for saved tensors see in one call:
operands and results count, as they do for torch.

`forward` is what the derivation gains in the call alone: the seconds of the fastest plain program
divided by those of the chosen one, as they were timed when the formula was compiled.  It is 1 where
a plain program was chosen.

A table in a file grows by one line of JSON for each formula and size, and a second run goes on
where the first one ended.  With `minutes`, what is not begun by then is left for the next run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from operator import attrgetter
from statistics import geometric_mean
from typing import Any, cast

import torch

from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.autograd.linked import Linked
from einderive.frontend.autograd.node import Node
from einderive.frontend.baselines.rival import Rival, rivals
from einderive.frontend.bench.campaign import Campaign
from einderive.frontend.bench.never_slower import noise
from einderive.frontend.bench.rows import Rows
from einderive.frontend.compile.compile import compile as compile_formula
from einderive.frontend.formulas import Formula
from einderive.frontend.gradients.grad import grad
from einderive.frontend.limits.memory import free_bytes
from einderive.frontend.text import duration
from einderive.frontend.timed.timing import LONG_SAMPLE, Timing, race, timed
from einderive.frontend.training.kept import PAGE, kept_bytes
from einderive.frontend.training.lines import Line, refusal
from einderive.frontend.training.saving import Kept as Saved
from einderive.frontend.trial.entrants import PROBLEMS, reason
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program

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
    own_again: Timing
    plain: Timing
    plain_again: Timing
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
        return max(noise(self.plain, self.plain_again), noise(self.own, self.own_again))

    @property
    def seconds(self) -> float:
        """A step of the compiled function."""
        return (self.own.seconds + self.own_again.seconds) / 2

    @property
    def plain_seconds(self) -> float:
        """A step of the fastest plain line."""
        return (self.plain.seconds + self.plain_again.seconds) / 2

    @property
    def ratio(self) -> float:
        """Torch's seconds divided by those of the compiled function."""
        return self.plain_seconds / self.seconds

    @property
    def slower(self) -> bool:
        return not self.alone and self.seconds > self.plain_seconds + ALLOWANCE + self.noise

    @property
    def larger(self) -> bool:
        """Whether more is kept for the backward pass than by torch, by more than a page."""
        return not self.alone and self.kept > self.plain_kept + PAGE

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
        f"{row.name[:40]:<40} {row.size:>5} {duration(row.plain_seconds):>9} {row.line:>4} "
        f"{duration(row.seconds):>9} {row.ratio:>6.2f} {duration(row.noise):>8} "
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
        f"geometric mean {_mean(row.ratio for row in rows):.2f} times as fast as torch"
    )
    improved = [row for row in rows if row.improved]
    yield (
        f"{len(improved)} whose call alone is at least {IMPROVED} times as fast: "
        f"geometric mean {_mean(row.ratio for row in improved):.2f}, of the call alone "
        f"{_mean(row.forward for row in improved):.2f}"
    )


def _mean(ratios: Iterable[float]) -> float:
    return geometric_mean(found) if (found := [*ratios]) else 1.0


def row_of(data: Mapping[str, Any]) -> Row | LeftOut:
    if "reason" in data:
        return LeftOut(**data)
    times = {
        name: Timing(data[name]["seconds"], data[name]["spread"])
        for name in ("own", "own_again", "plain", "plain_again")
    }
    return Row(**{**data, **times})


key_of: Callable[[Row | LeftOut], tuple[str, int]] = attrgetter("name", "size")


def add(out: Rows, row: Row | LeftOut) -> None:
    if isinstance(row, Row):
        out.add(line_of(row), row)
    else:
        out.add(f"{row.name[:40]:<40} {row.size:>5} left out: {row.reason}", row)


FAR_BEHIND, FAR_CALL = 3.0, 5.0
"""A line whose first steps, or whose call alone, take this many times the fastest one's is not
raced."""
FLOAT_BYTES, MOST_OF_FREE = 4, 0.5
"""A line whose largest temporary takes more than this part of the free memory is not run."""
ELEMENTS_A_SECOND = 1e10
"""No faster are temporaries written and read."""
DIGITS = 1e-2
"""Lines whose gradients differ by more, beside the largest entry, compute something else."""

Tensors = Sequence[torch.Tensor]
Step = Callable[[], Sequence[torch.Tensor | None]]


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
    calls, temporaries = zip(*_calls(formula, program, list(operands)), strict=True)
    lines = [partial(call, *given) for call in calls]
    own = partial(compiled, *given)
    seeds = _seeds(own())
    step = _step(own, seeds, given)
    expected = step()
    steps = {}
    for number in _near(lines, temporaries):
        found = _step(lines[number], seeds, given)
        if _agree(found, expected):
            steps[number] = found
    if not steps:
        reason = "no plain line has these gradients by torch's autograd"
        return LeftOut(formula.name, size, reason)
    firsts = {k: min(timed(each, False) for _ in range(3)) for k, each in steps.items()}
    kept = kept_bytes(own)
    chosen = "torch's autograd" if _on_torchs_graph(own()) else "derived"
    forward = 1.0 if compiled.chosen.plan is None else compiled.ratio

    def row() -> Row:
        near = [k for k in firsts if firsts[k] <= FAR_BEHIND * min(firsts.values())]
        twice = [step, *(steps[k] for k in near)]
        times = race([*twice, *twice], seconds=seconds, sample=LONG_SAMPLE)
        times = [replace(each, samples=()) for each in times]
        (own, own_again), *pairs = zip(times[: len(twice)], times[len(twice) :], strict=True)
        place = min(range(len(near)), key=lambda n: sum(each.seconds for each in pairs[n]))
        k, (plain, again) = near[place], pairs[place]
        told = (k + 1, kept, kept_bytes(lines[k]), chosen, round(forward, 3))
        return Row(formula.name, size, own, own_again, plain, again, *told)

    first, refused = row(), ""
    while first.slower or first.larger:
        reason = _refused(compiled, program, calls[first.line - 1])
        if not reason:
            break
        refused = reason
        if len(firsts) == 1:
            return replace(first, refusal=refused, alone=True)
        del firsts[first.line - 1]
        first = row()
    rows = [first]
    if first.slower:
        rows += [row(), row()]
    rows.sort(key=lambda one: one.ratio)
    return replace(rows[len(rows) // 2], refusal=refused)


def _calls(
    formula: Formula, program: Program, names: Sequence[str]
) -> list[tuple[Callable[..., Any], int]]:
    """The plain lines as functions of the program's operands: those of the list, which take their
    operands in the order of the names, then those that einderive writes; and the elements of their
    largest temporaries, as far as these are known."""
    own = [tensor.name for tensor in program.inputs]
    places = [own.index(name) for name in names]
    listed = () if formula.arrays else formula.plain
    written = [(rival.call, rival.elements) for rival in rivals(program, "cpu")]
    return [
        *((lambda *given, f=f: f(*(given[p] for p in places)), 0) for f in listed),
        *written,
    ]


def _near(lines: Sequence[Callable[[], Any]], temporaries: Sequence[int]) -> list[int]:
    """The lines whose calls alone are not far behind: a step through others may take a minute.
    Lines whose temporaries do not fit into memory are left out."""
    calls = dict[int, float]()
    for number, (line, elements) in enumerate(zip(lines, temporaries, strict=True)):
        if calls and elements / ELEMENTS_A_SECOND > FAR_CALL * min(calls.values()):
            continue
        if elements * FLOAT_BYTES > MOST_OF_FREE * (free_bytes("cpu") or inf):
            continue
        with torch.no_grad(), suppress(RuntimeError, MemoryError):
            calls[number] = min(timed(line, False), timed(line, False))
    least = min(calls.values(), default=0.0)
    return [number for number, seconds in calls.items() if seconds <= FAR_CALL * least]


def _refused(compiled: CompiledFunction, program: Program, call: Callable[..., Any]) -> str:
    """Why a compiled function may not record this line; nothing where it may."""
    related = compiled._relatives
    wrt = tuple(p for p, t in enumerate(program.inputs) if t.dtype == "float32")
    outputs = tuple(p for p, floating in enumerate(related.floating) if floating)
    part = related.gradient(wrt, outputs)
    assert part is not None
    line = Line(program, Rival((), "", call, program.inputs))
    try:
        return refusal(line, part, "cpu", "normwise", compiled.error)
    except PROBLEMS as problem:  # an index outside of a table, say, where the formula has 0
        return reason(problem)


def _on_torchs_graph(found: Any) -> bool:
    """Whether a plain line was recorded."""
    classes = (getattr(y.grad_fn, "_forward_cls", object) for y in _outputs(found))
    return not any(issubclass(each, (Node, Linked, Saved)) for each in classes)


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


def bench_backward(out: Rows, *, seconds: float, **asked: Any) -> int:
    """The table; 0 where nothing is slower and nothing keeps more."""
    campaign = Campaign(out, **asked)
    out.say(HEAD)
    done = campaign.kept(row_of, key_of, add)
    for formula, size in campaign.formulas(done.rows):
        program = differentiable(formula, size)
        if program is None:
            continue
        try:
            row = measured(formula, program, size, seconds)
        except (EinderiveError, RuntimeError, MemoryError) as problem:
            row = LeftOut(formula.name, size, str(problem).splitlines()[0])
        done.add(row)
        add(out, row)
    rows = [row for row in done.rows.values() if isinstance(row, Row)]
    for text in summary(rows):
        out.say(text)
    campaign.say_left()
    return 1 if any(row.slower or row.larger for row in rows) else 0
