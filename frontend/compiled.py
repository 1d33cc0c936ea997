"""Building, checking and timing candidates, and the function that comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any

import torch

from derivations.extract import Plan
from eops.torch_stage import lower
from frontend.accept import Reference, accepted, error, reference
from frontend.baseline import baseline
from frontend.derivation import Derivation
from frontend.execute import Executable, executable
from frontend.operands import bind
from frontend.timing import race, timed
from ta.errors import BuildError, EinderiveError, OperandError
from ta.program import Program
from ta.show import show_program

TRIED = 6
"""So many of the candidates predicted fastest are built and timed."""
MARGIN = 0.97
"""A candidate replaces the baseline when it takes at most this part of the baseline's time."""
HOPELESS_PREDICTION = 30.0
"""Candidates predicted to take this many times the best one's time are not built."""
HOPELESS = 4.0
"""A rival that takes this many times the fastest one's time on its first runs is not timed on."""
WRONG = 0.1
"""A baseline with a larger error has not a digit right: it sets no standard for candidates."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One program as it was tried; `verdict` is `baseline`, `accepted` or why it was refused."""

    label: str
    plan: Plan | None
    words: tuple[str, ...]
    seconds: float
    error: float
    verdict: str


@dataclass(frozen=True)
class CompiledFunction:
    """The chosen program: call it with arrays by name, or by position in order of appearance.

    `trials` are all programs that were tried, the baseline first; `chosen` is one of them.
    `interrupted`: not all were tried or timed to the end."""

    derivation: Derivation
    run: Executable
    trials: tuple[Trial, ...]
    chosen: Trial
    device: str
    interrupted: bool = False

    @property
    def baseline(self) -> Trial:
        return self.trials[0]

    @property
    def ratio(self) -> float:
        """Baseline seconds over chosen seconds."""
        return self.baseline.seconds / self.chosen.seconds

    def __call__(self, *args: Any, **named: Any) -> Any:
        """The outputs for the given arrays, as the kind of array that came in: one output alone,
        several as a tuple.  Lists and numbers take the formula's element type; no gradients are
        recorded.  Raises OperandError."""
        inputs, numpy = bind(self.derivation.source, args, named, self.device)
        outputs = self.run(inputs)
        values = tuple(y.cpu().numpy() if numpy else y for y in outputs)
        return values[0] if len(values) == 1 else values

    def __str__(self) -> str:
        from frontend.report import compiled_text

        return compiled_text(self)

    def __repr__(self) -> str:
        formula = show_program(self.derivation.source)
        return f"<CompiledFunction of {formula!r}, {self.chosen.label} chosen>"


def compile_derivation(
    derivation: Derivation, *, seconds: float = 1.0, tried: int = TRIED
) -> CompiledFunction:
    """Build the best candidates and the baseline, refuse what is inaccurate, race the rest.

    The baseline stays unless a candidate takes at most 97 % of its time."""
    device = "cpu" if derivation.target == "cpu" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise OperandError(
            f"{derivation.target} programs cannot run here: torch sees no CUDA device",
            next_step="derive with target='cpu' to run, or stop at derive() to read the program",
        )
    program = derivation.source
    with _plain_errors():
        expected = reference(program, device)
        direct, base = _direct(program, expected)
    rivals: list[tuple[Trial, Executable | None]] = [
        (Trial("baseline", None, direct.words, float("inf"), base, "baseline"), direct)
    ]
    interrupted = False
    try:
        for number, plan in worth_trying(derivation, direct.words, tried):
            rivals.append(_try(f"candidate {number}", plan, device, expected, base))
    except KeyboardInterrupt:
        interrupted = True
    if not isfinite(base) and all(trial.verdict != "accepted" for trial, _ in rivals):
        raise BuildError(
            f"no program for {show_program(program)} gives numbers that its element types hold, "
            "for random inputs"
        )
    return _choose(derivation, rivals, expected, device, seconds, interrupted)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What torch cannot do, or has no memory for, as a BuildError."""
    try:
        yield
    except (RuntimeError, MemoryError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else "out of memory"
        step = "use other element types, or write the formula with other functions"
        if "memory" in reason:
            step = "use smaller shapes; derive() alone needs no memory for the tensors"
        raise BuildError(
            f"the formula cannot be evaluated here: {reason}\n  next: {step}"
        ) from problem


def _direct(program: Program, expected: Reference) -> tuple[Executable, float]:
    """The baseline and its error.  Where what one would write in torch has no correct digit (an
    operator that lacks the element type), each stage is evaluated in general form instead."""
    stages, words = baseline(program)
    scopes = tuple(scope for scope, _ in stages)
    written = Executable(program.roots(), scopes, tuple(run for _, run in stages), tuple(words))
    general = Executable(
        program.roots(),
        scopes,
        tuple(map(lower, scopes)),
        ("eOperator (strided views)",) * len(scopes),
    )
    try:
        off = error(written(expected.inputs), expected.outputs)
    except NotImplementedError:
        off = float("inf")
    if off <= WRONG:
        return written, off
    other = error(general(expected.inputs), expected.outputs)
    return (general, other) if other < off else (written, off)


def worth_trying(
    derivation: Derivation, baseline_words: tuple[str, ...], tried: int
) -> list[tuple[int, Plan]]:
    """Candidates with their numbers, without the baseline itself and what is predicted to take
    many times longer than the best one."""
    best = min((plan.seconds for plan in derivation.candidates), default=0.0)
    found = []
    for number, plan in enumerate(derivation.candidates, 1):
        operators = tuple(stage.operator or "" for stage in plan.stages)
        same = plan.roots == derivation.source.roots() and operators == baseline_words
        if not same and plan.seconds <= HOPELESS_PREDICTION * best:
            found.append((number, plan))
    return found[:tried]


def _try(
    label: str, plan: Plan, device: str, expected: Reference, base: float
) -> tuple[Trial, Executable | None]:
    infinite = float("inf")
    try:
        built = executable(plan, device)
        off = error(built(expected.inputs), expected.outputs)
    except (EinderiveError, RuntimeError, MemoryError, NotImplementedError) as problem:
        verdict = f"not built: {str(problem).splitlines()[0]}"
        return Trial(label, plan, (), infinite, infinite, verdict), None
    if not accepted(off, min(base, WRONG), expected.epsilon):
        verdict = f"refused: error {off:.1e}, the baseline's is {base:.1e}"
        return Trial(label, plan, built.words, infinite, off, verdict), None
    return Trial(label, plan, built.words, infinite, off, "accepted"), built


def _choose(
    derivation: Derivation,
    rivals: list[tuple[Trial, Executable | None]],
    expected: Reference,
    device: str,
    seconds: float,
    interrupted: bool,
) -> CompiledFunction:
    calls = {
        position: partial(built, expected.inputs)
        for position, (_, built) in enumerate(rivals)
        if built is not None
    }
    measured, stopped = _measured(calls, seconds, device == "cuda")
    trials = tuple(
        replace(trial, seconds=measured.get(position, trial.seconds))
        for position, (trial, _) in enumerate(rivals)
    )
    running = [position for position in measured if isfinite(trials[position].error)]
    best = min(running, key=lambda position: measured[position], default=0)
    if isfinite(trials[0].error) and measured.get(best, 0.0) > MARGIN * measured.get(0, 0.0):
        best = 0
    built = rivals[best][1]
    assert built is not None
    return CompiledFunction(derivation, built, trials, trials[best], device, interrupted or stopped)


def _measured(
    calls: Mapping[int, Callable[[], object]], seconds: float, cuda: bool
) -> tuple[dict[int, float], bool]:
    """Seconds of each call, as far as KeyboardInterrupt lets it come, and whether that happened."""
    found: dict[int, float] = {}
    try:
        for position, call in calls.items():
            found[position] = min(timed(call, cuda) for _ in range(2))
        fastest = min(found.values())
        racing = [p for p in calls if p == 0 or found[p] <= HOPELESS * fastest]
        medians = race([calls[p] for p in racing], seconds=seconds, cuda=cuda)
        found |= zip(racing, medians, strict=True)
    except KeyboardInterrupt:
        return found, True
    return found, False
