"""Building, checking and timing candidates: which program a compiled function runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import isfinite
from numbers import Integral, Real

import torch

from derivations.extract import Plan
from eops.torch_stage import lower
from frontend.accept import Reference, accepted, reference
from frontend.accuracy import Nan
from frontend.baseline import baseline
from frontend.compiled import CompiledFunction
from frontend.derivation import Derivation
from frontend.execute import Executable, executable
from frontend.hard_cases import (
    WRONG,
    Case,
    HardCases,
    moved,
    nonfinite_cases,
)
from frontend.memory import require_memory
from frontend.timing import race, timed
from frontend.trial import Trial
from frontend.work import require_work
from ta.errors import BuildError, EinderiveError, OperandError, shown
from ta.node import Scope
from ta.program import Program
from ta.show import show_program
from ta.subst import stages

TRIED = 6
"""So many of the candidates predicted fastest are built and timed."""
MARGIN = 0.97
"""A candidate replaces the baseline when it takes at most this part of the baseline's time."""
HOPELESS_PREDICTION = 30.0
"""Candidates predicted to take this many times the best one's time are not built."""
HOPELESS = 4.0
"""A rival that takes this many times the fastest one's time on its first runs is not timed on."""
LONGEST = 1e9
"""Seconds of timing beyond this are the same as this."""
HARD_SECONDS = 0.5
"""About how long the runs on hard inputs may take for each candidate that they are asked of; the
most telling one is always run."""


MOVED = "refused: NaN or infinity elsewhere than in the formula, for inputs with {}"


def compile_derivation(
    derivation: Derivation, *, seconds: float = 1.0, tried: int = TRIED
) -> CompiledFunction:
    """Build the best candidates and the baseline, refuse what is inaccurate, race the rest.

    The baseline stays unless a candidate takes at most 97 % of its time and is as exact on hard
    inputs; steps that can cancel are exempt from the latter, unless accuracy="componentwise"."""
    if not isinstance(seconds, Real) or not seconds >= 0:  # also refuses NaN
        raise OperandError(
            f"seconds is how long timing may take, not {shown(seconds)}",
            next_step="for example seconds=1.0",
        )
    if not isinstance(tried, Integral) or tried < 0:
        raise OperandError(
            f"tried is how many candidates to build, not {shown(tried)}",
            next_step="for example tried=6; with 0 the baseline stays",
        )
    seconds = float(min(seconds, LONGEST))
    device = "cpu" if derivation.target == "cpu" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise OperandError(
            f"{derivation.target} programs cannot run here: torch sees no CUDA device",
            next_step="derive with target='cpu' to run, or stop at derive() to read the program",
        )
    program = derivation.source
    require_memory(program, device)
    require_work(program)
    with _plain_errors():
        expected = reference(program, device, derivation.accuracy)
        odd = nonfinite_cases(program, device) if derivation.nan == "strict" else ()
        direct, base = _direct(program, expected, derivation.nan, odd)
    rivals: list[tuple[Trial, Executable | None]] = [
        (Trial("baseline", None, direct.words, float("inf"), base, "baseline"), direct)
    ]
    interrupted = False
    try:
        for number, plan in worth_trying(derivation, direct.words, tried):
            trial, built = _try(f"candidate {number}", plan, device, expected, base)
            if built is not None and (family := moved(program, odd, built)):
                trial = replace(trial, verdict=MOVED.format(family))
                built = None
            rivals.append((trial, built))
    except KeyboardInterrupt:
        interrupted = True
    if not isfinite(base) and all(trial.verdict != "accepted" for trial, _ in rivals):
        raise _none_right(program, expected)
    hard = HardCases(program, device, derivation.accuracy, direct)
    return _choose(derivation, rivals, expected, hard, seconds, interrupted)


def _none_right(program: Program, expected: Reference) -> BuildError:
    if expected.exact:
        return BuildError(
            f"no program for {show_program(program)} gives the formula's integers, modulo 2^64 and "
            "in the element types that are promised, for random inputs",
            next_step="compile with a floating type, for example dtypes='float64'",
        )
    return BuildError(
        f"no program for {show_program(program)} gives numbers that its element types hold, for "
        "random inputs"
    )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What torch cannot do, or has no memory for, as a BuildError."""
    try:
        yield
    except RecursionError:
        raise BuildError(
            "the formula's statements build on each other too deeply to be evaluated here",
            next_step="compile its statements in parts",
        ) from None
    except (RuntimeError, MemoryError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else "out of memory"
        step = "use other element types, or write the formula with other functions"
        if "memory" in reason:
            step = "use smaller shapes; derive() alone needs no memory for the tensors"
        raise BuildError(
            f"the formula cannot be evaluated here: {reason}\n  next: {step}"
        ) from problem


def _direct(
    program: Program, expected: Reference, nan: Nan, odd: Sequence[Case]
) -> tuple[Executable, float]:
    """The baseline and its error.  Where what one would write in torch has no correct digit (an
    operator that lacks the element type), each stage is evaluated in general form instead; where it
    does not keep NaN and infinities that are to be kept, operation by operation as written."""
    stages, words = baseline(program)
    scopes = tuple(scope for scope, _ in stages)
    runs = tuple(run for _, run in stages)
    types = expected.types
    written = Executable(program.roots(), scopes, runs, tuple(words), types=types)
    try:
        off = expected.error_of(written)
    except NotImplementedError:
        off = float("inf")
    if off <= WRONG and not moved(program, odd, written):
        return written, off
    general = _general(program, scopes, types, as_written=nan == "strict")
    other = expected.error_of(general)
    if family := moved(program, odd, general):
        raise BuildError(
            f"no program for {show_program(program)} has NaN and infinity where the formula has "
            f"them, for inputs with {family}",
            next_step='compile with nan="ignore", which promises nothing about them',
        )
    return (general, other) if odd or other < off else (written, off)


def as_written(program: Program, types: tuple[torch.dtype, ...]) -> Executable:
    """The formula's stages one after the other, every product formed before it is summed."""
    return _general(program, tuple(stages(*program.roots())), types, as_written=True)


def _general(
    program: Program, scopes: tuple[Scope, ...], types: tuple[torch.dtype, ...], *, as_written: bool
) -> Executable:
    """Each stage through torch on strided views, without library operators."""
    word = "eOperator (as written)" if as_written else "eOperator (strided views)"
    runs = tuple(lower(scope, as_written=as_written) for scope in scopes)
    return Executable(program.roots(), scopes, runs, (word,) * len(scopes), types=types)


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
        built = executable(plan, device, expected.types)
        off = expected.error_of(built)
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
    hard: HardCases,
    seconds: float,
    interrupted: bool,
) -> CompiledFunction:
    calls = {
        position: partial(built, expected.inputs)
        for position, (_, built) in enumerate(rivals)
        if built is not None
    }
    measured, stopped = _measured(calls, seconds, hard.device == "cuda")
    trials = [
        replace(trial, seconds=measured.get(position, trial.seconds))
        for position, (trial, _) in enumerate(rivals)
    ]
    running = [position for position in measured if isfinite(trials[position].error)]
    standing = isfinite(trials[0].error)
    best = 0
    for position in sorted(running, key=measured.__getitem__):
        built = rivals[position][1]
        slow = standing and measured[position] > MARGIN * measured.get(0, 0.0)
        if position == 0 or slow or built is None:
            break
        try:
            if standing:
                trials[position] = _tried_hard(trials[position], built, hard, measured, derivation)
        except KeyboardInterrupt:
            stopped = True
            break
        if trials[position].verdict == "accepted":
            best = position
            break
    run = rivals[best][1]
    assert run is not None
    stopped |= interrupted
    return CompiledFunction(derivation, run, tuple(trials), trials[best], hard.device, stopped)


def _tried_hard(
    trial: Trial,
    built: Executable,
    hard: HardCases,
    measured: Mapping[int, float],
    derivation: Derivation,
) -> Trial:
    """The trial with its errors on hard inputs, and refused where these bind."""
    most = max(1, int(HARD_SECONDS / (trial.seconds + measured.get(0, 0.0))))
    families = hard.errors(built, most)
    binding = derivation.accuracy == "componentwise" or not trial.cancelling
    failed = next((family for family in families if not family.accepted), None)
    verdict = trial.verdict
    if binding and failed is not None:
        verdict = (
            f"refused: error {failed.error:.1e} on inputs with {failed.family}, "
            f"the baseline's is {failed.baseline:.1e}"
        )
    return replace(trial, families=families, verdict=verdict)


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
