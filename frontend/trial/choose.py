"""Building, checking and timing programs: which one a compiled function runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from math import frexp, inf, isfinite
from time import perf_counter
from typing import Any

import torch

from einderive.frontend.accuracy.hard_cases import HardCases
from einderive.frontend.baselines.rival import Rival, rivals
from einderive.frontend.derived import Derived
from einderive.frontend.limits.asked import ANY, Limits
from einderive.frontend.limits.memory import amount, require_memory
from einderive.frontend.limits.work import require_work
from einderive.frontend.machine.extraction import UNKNOWN, extracted
from einderive.frontend.memory.store import Store
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.timed.trial import GIVEN, Watch, program_of
from einderive.frontend.trial.as_kernels import worth_generating
from einderive.frontend.trial.compiling import (
    after_all,
    beside_slow_lines,
    compile_for_other_sizes,
    compiled_candidate,
    compiling_seconds,
    computed_in_float64,
    loading_seconds,
    with_products,
    worth_compiling,
)
from einderive.frontend.trial.effort import NORMAL, Effort, amounts
from einderive.frontend.trial.entrants import (
    NO_TIME,
    Entrant,
    Judge,
    by_inductor,
    candidate,
    run_first,
)
from einderive.frontend.trial.general import general, is_long
from einderive.frontend.trial.hard import judge_of, raise_standard, tried_hard
from einderive.frontend.trial.outcome import Outcome
from einderive.frontend.trial.predicted import predicted
from einderive.frontend.trial.races import YOURS, numbered, raced
from einderive.frontend.trial.shifted import Shifted
from einderive.frontend.trial.trying import by_library, refused_faster, sure, worth_trying
from einderive.frontend.trial.winner import fastest_candidate, fastest_plain, first_right, is_over
from einderive.frontend.trial.written import forms
from einderive.ta.errors import BuildError, OperandError, shown
from einderive.ta.printing.show import show_program

RACES = 3
"""So often at most are those that are left raced again, where the fastest ones are refused."""

Say = Callable[[str], object]


@undisturbed()
def choose(
    derivation: Derived,
    *,
    effort: Effort = NORMAL,
    seconds: float | None = None,
    tried: int | None = None,
    baseline: Callable[..., Any] | None = None,
    progress: Say | None = None,
    check_assumptions: bool = True,
    kept: Store | None = None,
    watch: Watch | None = None,
    limits: Limits = ANY,
) -> Outcome:
    """Build the plain programs and the best candidates, refuse what is inaccurate, race the rest.

    The fastest plain program that is accepted stays, unless a candidate takes at most 97 % of its
    time and is as exact as the formula as written on hard inputs (`accuracy.hard_cases`); steps
    that can cancel are exempt from the latter with accuracy="fast".  A candidate is handed back
    only if its derivation checks (`Derived.check`).

    `seconds` is about the most that the timing may take, and `tried` how many candidates are built;
    `effort` says it where they do not.  `baseline` is a function of torch tensors
    that enters as one more plain program: it takes the operands by position, in the order in which
    the formula reads them first, and gives the output, or a tuple of several.  `progress` is told
    in words what is being done, and `watch` is given all trials after each round of a race.
    `check_assumptions`: each call checks the assumptions that the program's steps used, and the
    time for this counts.  `kept` has the times of stages that were measured alone, and takes new
    ones.  Every program has to satisfy the `limits` (`limits.asked`)."""
    seconds, tried = amounts(effort, seconds, tried)
    _require_callable(baseline)
    begun = perf_counter()
    device = _device(derivation)
    say: Say = progress or (lambda words: None)
    program = derivation.source
    require_memory(program, device)
    require_work(program)
    say("computing the reference in float64")
    with _plain_errors():
        judge = judge_of(
            derivation,
            device,
            begun,
            checked=check_assumptions,
            effort=effort,
            watch=watch,
            limits=limits,
        )
    hard = HardCases(program, device, derivation.accuracy, preparing=effort.preparing)
    shifted = Shifted(derivation, judge)
    if not effort.measured:
        return _untimed(derivation, judge, hard, shifted)
    say("running plain programs")
    with _plain_errors():
        plain, loops = _plain(judge, hard, shifted, baseline)
    entrants = [*plain, *loops]
    interrupted = False
    try:
        say("measuring stages")
        derivation, known = _extracted(derivation, judge, tried, kept or Store("not asked for"))
        words = {entrant.trial.words for entrant in plain if entrant.run is not None}
        most = len(derivation.candidates) if tried and judge.limits else tried
        trying = worth_trying(derivation, words, max(most, tried), known)
        judge.begun += loading_seconds(derivation)
        judge.compiling = compiling_seconds(derivation)
        judge.restart()
        always = sure(trying, judge.fastest)
        given = by_library(derivation, trying) if tried and refused_faster(plain, judge) else None
        if given is not None:
            entrants.append(candidate(GIVEN, given, judge, always=True))
            if entrants[-1].run is not None:
                judge.fastest = min(judge.fastest, entrants[-1].seconds)
        for place, (number, plan) in enumerate(trying, 1):
            say(f"checking candidate {place} of {len(trying)}")
            label = f"candidate {number}"
            entrants.append(candidate(label, plan, judge, always=number in always))
            if not isfinite(judge.fastest) and entrants[-1].run is not None:
                judge.fastest = entrants[-1].seconds  # no plain program is right
        compiling = worth_compiling(derivation, entrants, judge)
        for label, plan in chain(compiling, worth_generating(derivation, entrants, judge)):
            say(f"compiling kernels for {program_of(label)}")
            entrants.append(compiled_candidate(label, plan, judge))
        derivation, more = with_products(derivation, entrants, judge)
        entrants += more
        judge.restart()
        for place, waiting in enumerate(entrants):  # for which there was no time before the loops
            later = waiting.trial.plan
            if waiting.trial.verdict == NO_TIME and later is not None:
                entrants[place] = candidate(waiting.trial.label, later, judge)
        if effort.inductor:
            say("compiling the fastest plain program by Inductor")
            inductor = by_inductor(plain, judge)
            entrants += [] if inductor is None else [inductor]
    except KeyboardInterrupt:
        interrupted = True
    if all(entrant.run is None for entrant in entrants):
        with _plain_errors():
            entrants.append(general(judge))
    if all(entrant.run is None for entrant in entrants):
        raise _none_right(judge)
    say("timing")
    return _choose(derivation, entrants, judge, hard, shifted, seconds, interrupted)


def _require_callable(baseline: object) -> None:
    if baseline is not None and not callable(baseline):
        raise OperandError(
            f"baseline is a function of the formula's operands, not {shown(baseline)}",
            next_step="for example baseline=lambda a, b: a @ b",
        )


def _device(derivation: Derived) -> str:
    """The kind of device that the derivation's programs run on, which has to be here."""
    device = "cpu" if derivation.target == "cpu" else "cuda"
    if device == "cuda" and not torch.cuda.is_available():
        raise OperandError(
            f"{derivation.target} programs cannot run here: torch sees no CUDA device",
            next_step="derive with target='cpu' to run, or stop at derive() to read the program",
        )
    return device


def _untimed(derivation: Derived, judge: Judge, hard: HardCases, shifted: Shifted) -> Outcome:
    """The program predicted to be the fastest of those that are right; where none is, a plain one
    that computes any formula."""
    with _plain_errors():
        found = predicted(derivation, judge, hard, shifted)
        if not found or found[-1].run is None:
            found.append(general(judge))
    if found[-1].run is None:
        raise _none_right(judge)
    return _outcome(derivation, found, found[-1], judge)


def _none_right(judge: Judge) -> BuildError:
    program, limits = judge.program, judge.limits
    if limits.memory is not None and isfinite(judge.needed):
        return BuildError(
            "no program keeps the temporaries of a call within memory=",
            text=show_program(program),
            sizes=f"the one that needs least takes {amount(int(judge.needed))}, and "
            f"{amount(limits.memory)} are allowed",
            next_step=f"allow memory={int(judge.needed)}, or use smaller shapes",
        )
    if limits.deterministic:
        return BuildError(
            f"no program is known to give the same bits in each run on {judge.device}",
            text=show_program(program),
            next_step="leave out deterministic=True, or compile for another device",
        )
    if judge.expected.exact:
        return BuildError(
            f"no program for {show_program(program)} gives the formula's integers, modulo 2^64 and "
            "in the element types of its outputs, for random inputs",
            next_step="compile with a floating type, for example dtypes='float64'",
        )
    return BuildError(
        f"no program for {show_program(program)} gives numbers that its element types hold, for "
        "random inputs"
    )


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Turns errors of torch, or of missing memory, into BuildErrors."""
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


def _plain(
    judge: Judge, hard: HardCases, shifted: Shifted, own: Callable[..., Any] | None
) -> tuple[list[Entrant], list[Entrant]]:
    """The plain programs, run from those with the least work on, and judged from the fastest on:
    as soon as one is right, those far behind it are left out.  Where none is right, the general
    one, if it is right on hard inputs; else that one stands where no candidate is right either.

    Beside slow ones, the formula in loops as well, which is far faster: no more of them than the
    fastest one are judged then, and none on hard inputs, which it is only if it is to be used."""
    program, derivation = judge.program, shifted.derivation
    plain = rivals(program, judge.device, judge.strict)
    written = [("baseline", rival) for rival in sorted(plain, key=lambda one: frexp(one.work)[1])]
    if own is not None:
        written.insert(0, (YOURS, Rival((YOURS,), "", own, program.inputs)))
    found: list[Entrant] = []
    loops: list[Entrant] = []
    for label, rival in written:
        if judge.late and any(entrant.run is not None for entrant in found):
            break
        entrant = run_first(rival, label, judge)
        judge.fastest = min(judge.fastest, entrant.seconds)
        found.append(entrant)
        faster = None if loops else beside_slow_lines(derivation, entrant.seconds, judge)
        if faster is not None:
            loops.append(faster)
            judge.fastest = min(judge.fastest, faster.seconds)
            judge.restart()
    judge.fastest = min((each.seconds for each in loops), default=inf)  # of those that are right
    hard.lines = partial(shifted.after, tuple(found))
    order = sorted(range(len(found)), key=lambda place: found[place].seconds)
    for place in order:
        entrant = found[place]
        if entrant.run is None:
            continue
        right = any(found[other].run is not None for other in order[: order.index(place)])
        if right and judge.far_behind(entrant.seconds) and entrant.trial.label != YOURS:
            times = entrant.seconds / judge.fastest
            found[place] = entrant.out(f"left out: {times:.3g} times slower on its first run")
            continue
        if not isfinite(entrant.trial.error):
            entrant = judge.judged(entrant)
        if entrant.run is not None and not isfinite(judge.fastest):
            entrant = tried_hard(entrant, hard, derivation)
        if entrant.run is not None:
            judge.fastest = min(judge.fastest, entrant.seconds)
        found[place] = entrant
    if all(entrant.run is None for entrant in found) and not is_long(program):
        other = general(judge)
        tried = other if other.run is None else tried_hard(other, hard, derivation)
        if other.run is None or tried.run is not None:
            found.append(tried)
            judge.fastest = other.seconds
    raise_standard(judge, found)
    return found, loops


def _extracted(
    derivation: Derived, judge: Judge, tried: int, kept: Store
) -> tuple[Derived, Mapping[int, float]]:
    """The derivation with the candidates that measured extraction adds, and the seconds of those
    whose stages are measured.  Where the time is needed for the candidates themselves, it stays as
    it is."""
    seconds = judge.effort.extracting
    if judge.limits.memory is not None:  # a stage may take more than is allowed
        return derivation, UNKNOWN
    if judge.left < judge.racing + seconds:
        return derivation, UNKNOWN
    inputs = judge.expected.inputs
    return extracted(derivation, inputs, seconds, tried=tried, beat=judge.fastest, kept=kept)


def _choose(
    derivation: Derived,
    entrants: list[Entrant],
    judge: Judge,
    hard: HardCases,
    shifted: Shifted,
    seconds: float,
    interrupted: bool,
) -> Outcome:
    entrants, stopped = raced(entrants, judge, seconds)
    best: Entrant | None = None
    try:
        best = fastest_plain(entrants, judge, hard, derivation)
        for _ in range(RACES):
            winner, refused = fastest_candidate(entrants, best, judge, hard, derivation)
            if stopped:
                break
            more = computed_in_float64(derivation, entrants, winner or best, judge)
            again = winner is None and refused and not is_over(entrants, best, judge)
            if not more and not again:
                break
            place = next((p for p, e in enumerate(entrants) if e is best), None)
            entrants += more + (after_all(derivation, entrants, judge) if again else [])
            entrants, stopped = raced(entrants, judge, seconds)
            best = best if place is None else entrants[place]
        best = winner or best
    except KeyboardInterrupt:
        stopped = True
    best = best or first_right(entrants, judge, hard, derivation)
    best = best or _last(entrants, judge, hard, shifted)
    try:
        if not stopped:
            compile_for_other_sizes(best, judge)
    except KeyboardInterrupt:
        stopped = True
    return _outcome(derivation, entrants, best, judge, interrupted=stopped or interrupted)


def _last(entrants: list[Entrant], judge: Judge, hard: HardCases, shifted: Shifted) -> Entrant:
    """What stands where all others are refused: the candidate with its exponentials about their
    maximum, which may not have been tried; else the general program, right on random inputs."""
    found = shifted.tried(hard)
    if found is None or found.run is None:
        with _plain_errors():
            found = general(judge)
    if found.run is None:
        raise _none_right(judge)
    plan = found.trial.plan
    entrants[:] = [e for e in entrants if plan is None or e.trial.label != found.trial.label]
    entrants.append(found)
    return found


def _outcome(
    derivation: Derived,
    entrants: Sequence[Entrant],
    best: Entrant,
    judge: Judge,
    *,
    interrupted: bool = False,
) -> Outcome:
    assert best.run is not None
    trials = tuple(numbered([entrant.trial for entrant in entrants]))
    chosen = trials[next(place for place, e in enumerate(entrants) if e is best)]
    return Outcome(
        derivation,
        best.run,
        trials,
        chosen,
        judge.device,
        interrupted,
        **forms(best, judge),
    )
