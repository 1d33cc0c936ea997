"""The entrants of the race: plain programs and candidates that were built, run and judged.

A plain program is judged as a candidate is: by its error beside that of the formula as written.  A
program that does not fit into memory, raises an error, or is far behind after its first run is left
out, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite
from time import perf_counter
from typing import Any

import torch

from einderive.derivations.search.extract import Plan
from einderive.eops.result_memory import reused
from einderive.frontend.accuracy.accept import Reference, accepted
from einderive.frontend.accuracy.digits import WRONG
from einderive.frontend.accuracy.nonfinite_cases import Case, moved
from einderive.frontend.baselines.inductor import available, inductor
from einderive.frontend.baselines.rival import Rival, rewritten
from einderive.frontend.baselines.rival import executable as plain_executable
from einderive.frontend.call.caller import Caller
from einderive.frontend.call.simplify import Simple
from einderive.frontend.limits.asked import ANY, Limits
from einderive.frontend.limits.memory import amount, free_bytes
from einderive.frontend.limits.refusal import Refusal, refused, refused_plan, refused_unseen
from einderive.frontend.running.execute import Executable, executable
from einderive.frontend.timed.timing import MADE_SECONDS, Timing, first
from einderive.frontend.timed.trial import INEXACT, Trial, Watch
from einderive.frontend.trial.effort import NORMAL, Effort
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program

NO_TIME = "left out: the time for trying programs was used up"
MOVED = "refused: NaN or infinity elsewhere than in the formula, for inputs with {}"
FAR_BEHIND = 4.0
"""What takes this many times the fastest one's time on its first run is left out; a slow one
sooner (`SLOW`), as every run of it costs, a `LONG` one soonest; and where no time is left."""
SLOW, SLOW_FAR_BEHIND = 0.01, 1.6
LONG, LONG_FAR_BEHIND = 0.03, 1.2
LATE_FAR_BEHIND = 1.5
HANDICAP, SLOW_HANDICAP, OVERHEAD = 2.0, 1.1, 2e-4
"""A candidate is first run stage by stage, which takes longer than the call that is raced: by about
this many seconds per stage, and at most this many times where that is little, fewer in long
runs."""
ONCE = 0.1
"""A first run up to this long is repeated before a program is left out for it: it finds nothing in
the caches and memory that nobody has touched, and takes up to ten times as long as the next."""
MOST_OF_FREE = 0.25
TEMPORARIES = 3
"""The number of tensors as large as the largest temporary that are alive at once."""
LEAST_TIMES = 5.0
"""All runs before the race take as long as the effort says, or so many times the fastest one's."""
ALL_TIMES = 15.0
"""All that is done with the programs is to take as long as the effort says, or this many times as
long as the fastest one, so that `compile` with the search before ends in three.  It is an aim: what
has begun is finished, and the formula as loops and the best candidate are always tried."""
RACING_SECONDS, RACING_RUNS = 0.6, 8
"""Seconds of these for timing and choosing, or those of this many runs of the fastest one."""
GPU_SECONDS = 10.0
"""On a GPU, where a generated kernel takes about a second to compile and to be chosen."""
INDUCTOR_SECONDS = 20.0
"""Inductor's first kernel of a process takes about so long."""
BYTES_A_SECOND = 1e9
"""At which a temporary is written and read again, at least."""
SHORT = 0.01
"""Seconds for which a plain program is run in any case."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """A program as it was tried; `run` is what a compiled function would run, `call` what is
    timed: both None where it is out of the race."""

    trial: Trial
    run: Executable | None = None
    call: Callable[[], object] | None = None
    timing: Timing | None = None
    plain: bool = False
    slow: bool = False
    """It is as exact as it has to be, and out of the race for its time alone."""

    @property
    def seconds(self) -> float:
        return self.trial.seconds

    def out(self, verdict: str) -> Entrant:
        """The entrant, out of the race."""
        return replace(self, trial=replace(self.trial, verdict=verdict), run=None, call=None)


@dataclass(slots=True)
class _Timed:
    """A program that notes how long its shortest run took."""

    run: Executable
    seconds: float = inf

    def __call__(self, inputs: Mapping[Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        started = perf_counter()
        outputs = self.run(inputs)
        self.seconds = min(self.seconds, perf_counter() - started)
        return outputs


@dataclass(slots=True)
class Judge:
    """The standard by which all entrants of a program are judged.  `base` is the error of the
    formula as written; `odd` are inputs with NaN and infinities, if these must stay in place."""

    program: Program
    expected: Reference
    device: str
    base: float
    odd: Sequence[Case] = ()
    fastest: float = inf
    started: float = 0.0
    begun: float = 0.0
    strict: bool = False
    """NaN and infinities have to stay in place."""
    effort: Effort = NORMAL
    checked: bool = True
    """Each call checks the assumptions that a candidate's steps used."""
    watch: Watch | None = None
    limits: Limits = ANY
    """What is asked of every program besides its speed."""
    compiling: float = 0.0
    """Seconds that are kept for compiling the formula as given into loops."""
    needed: float = inf
    """The fewest bytes that a program needed that was left out for its memory alone."""
    unsound: list[tuple[Plan, str]] = field(default_factory=list)
    """Plans of candidates that were checked, and why they are not sound: nothing where they are."""

    def __post_init__(self) -> None:
        self.started = perf_counter()
        self.begun = self.begun or self.started

    @property
    def operands(self) -> list[torch.Tensor]:
        return [self.expected.inputs[tensor] for tensor in self.program.inputs]

    def restart(self) -> None:
        """The clock of `late` from now on."""
        self.started = perf_counter()

    @property
    def late(self) -> bool:
        """Whether the time for runs before the race is used up."""
        least = self.effort.before if self.device == "cpu" else GPU_SECONDS
        limit = max(least, LEAST_TIMES * self.fastest) if isfinite(self.fastest) else inf
        return perf_counter() - self.started > limit

    @property
    def left(self) -> float:
        """Seconds until the programs should have been judged and timed; infinite on a GPU."""
        if self.device != "cpu" or not isfinite(self.fastest):
            return inf
        return max(self.effort.altogether, ALL_TIMES * self.fastest) - (perf_counter() - self.begun)

    @property
    def racing(self) -> float:
        """Seconds for compiling, timing and choosing."""
        runs = RACING_RUNS * self.fastest if isfinite(self.fastest) else 0.0
        return max(RACING_SECONDS, runs) + self.compiling

    def built(
        self, plan: Plan, *, compiled: bool = False, open_sizes: bool = False, wide: bool = False
    ) -> Executable:
        return executable(
            plan,
            self.device,
            self.expected.types,
            strict=self.strict,
            compiled=compiled,
            wide=wide,
            open_sizes=open_sizes,
            sizes=self.program.sizes.values(),
            checked=self.checked,
            timed=not self.limits.deterministic,
        )

    def far_behind(self, seconds: float) -> bool:
        times = FAR_BEHIND if self.fastest < SLOW else SLOW_FAR_BEHIND
        if self.fastest >= LONG:
            times = LONG_FAR_BEHIND
        elif self.left < 0:
            times = LATE_FAR_BEHIND
        return seconds > times * self.fastest

    def judged(self, entrant: Entrant) -> Entrant:
        """The entrant with its error on random inputs.  It is refused if the error is too large, or
        if NaN moves."""
        assert entrant.run is not None
        run = _Timed(entrant.run)
        try:
            off = self.expected.error_of(run)
            family = moved(self.program, self.odd, entrant.run)
        except PROBLEMS as problem:
            return entrant.out(f"left out: {reason(problem)}")
        seconds = min(entrant.seconds, run.seconds)
        entrant = replace(entrant, trial=replace(entrant.trial, error=off, seconds=seconds))
        if not accepted(off, min(self.base, WRONG), self.expected.epsilon):
            of = f"as written it is {self.base:.1e}"
            return entrant.out(f"{INEXACT} {off:.1e}, {of}")
        return entrant.out(MOVED.format(family)) if family else self.within_limits(entrant)

    def within_limits(self, entrant: Entrant) -> Entrant:
        """The entrant, out of the race where it breaks what is asked of every program."""
        assert entrant.run is not None
        if not self.limits:
            return entrant
        try:
            found = refused(self.limits, self.program, entrant.run, self.device, self.operands)
        except PROBLEMS as problem:
            return entrant.out(f"left out: {reason(problem)}")
        return entrant if found is None else self.left_out(entrant, found)

    def left_out(self, entrant: Entrant, refusal: Refusal) -> Entrant:
        """The entrant, out of the race for this reason."""
        if refusal.needed:
            self.needed = min(self.needed, refusal.needed)
        return entrant.out(f"left out: {refusal.reason}")


PROBLEMS = (
    EinderiveError,
    RuntimeError,
    MemoryError,
    NotImplementedError,
    TypeError,
    ValueError,
    LookupError,
)
"""The errors of a program that torch cannot run or has no memory for, or that was put together
wrongly: it is left out, and says so."""


def reason(problem: BaseException) -> str:
    """The first line of what was said."""
    lines = str(problem).splitlines()
    return lines[0][:160] if lines else type(problem).__name__


def run_first(rival: Rival, label: str, judge: Judge) -> Entrant:
    """A plain program after its first run; out of the race where it cannot run, or should not.
    Where runs are long, the first one serves for judging too: the program's error is then known."""
    entrant = Entrant(
        Trial(label, None, rival.words, inf, inf, "baseline", text=rival.text), plain=True
    )
    item = max((element_bytes(tensor) for tensor in judge.program.inputs), default=4)
    if (found := refused_unseen(judge.limits, rival.elements * item)) is not None:
        return judge.left_out(entrant, found)
    if refusal := _too_large(rival, judge) or _too_much(rival, judge):
        return entrant.out(f"left out: {refusal}")
    call = partial(rival.call, *judge.operands)
    run = plain_executable(rival, judge.program, judge.expected.types)
    entrant = replace(entrant, run=run, call=call)
    if isfinite(judge.fastest) and judge.fastest >= LONG and label == "baseline":
        return judge.judged(entrant)
    try:
        with torch.no_grad():
            seconds = first(call, judge.device == "cuda")
    except Exception as problem:  # a function of the user's may raise anything
        return entrant.out(f"left out: {reason(problem)}")
    return replace(entrant, trial=replace(entrant.trial, seconds=seconds))


def by_inductor(entrants: Sequence[Entrant], judge: Judge) -> Entrant | None:
    """The fastest plain program, compiled by Inductor; None where there is no time for it, no
    compiler, nothing to compile, or where limits are asked, which are not known of its kernels."""
    if not judge.effort.inductor or judge.limits or judge.left < INDUCTOR_SECONDS:
        return None
    running = [e for e in entrants if e.plain and e.run is not None and e.trial.text]
    fastest = min(running, key=lambda entrant: entrant.seconds, default=None)
    if fastest is None or {*fastest.trial.words} == {"view"} or not available(judge.device):
        return None
    plain = rewritten(fastest.trial.words, fastest.trial.text, judge.program)
    if plain is None:
        return None
    rival, guarded = inductor(plain)
    with torch.no_grad():
        rival.call(*judge.operands)  # compiles it
    if guarded.failure:
        trial = Trial("baseline", None, rival.words, inf, inf, "baseline", text=rival.text)
        return Entrant(trial, plain=True).out(f"not built: {guarded.failure}")
    entrant = run_first(rival, "baseline", judge)
    known = entrant.run is None or isfinite(entrant.trial.error)
    return entrant if known else judge.judged(entrant)


def _too_large(rival: Rival, judge: Judge) -> str:
    """Why the program's temporaries forbid to run it; nothing where they do not."""
    item = max((element_bytes(tensor) for tensor in judge.program.inputs), default=4)
    needed, free = TEMPORARIES * rival.elements * item, free_bytes(judge.device)
    if free is not None and needed > MOST_OF_FREE * free:
        return f"its temporaries take {amount(needed)}, and {amount(free)} are free"
    if needed / BYTES_A_SECOND > max(judge.effort.before, LEAST_TIMES * judge.fastest) / 2:
        return f"its temporaries take {amount(needed)}, which is slow"
    return ""


def candidate(label: str, plan: Plan, judge: Judge, *, always: bool = False) -> Entrant:
    """A derived program, built, judged and run once as a user calls it.  Where little time is left,
    only those are that are `always` tried (`trying.sure`), as long as runs may go on."""
    entrant = Entrant(Trial(label, plan, (), inf, inf, "accepted"))
    if judge.late or (judge.left < judge.racing and not always):
        return entrant.out(NO_TIME)
    if (found := refused_plan(judge.limits, plan, compiled=False)) is not None:
        return judge.left_out(entrant, found)
    try:
        built = judge.built(plan)
    except PROBLEMS as problem:
        return entrant.out(f"not built: {reason(problem)}")
    return entered(entrant, plan, built, judge)


def entered(entrant: Entrant, plan: Plan, built: Executable, judge: Judge) -> Entrant:
    """The entrant with the program that was built for it, judged and run once as a user calls it;
    out of the race where that is far behind."""
    entrant = replace(entrant, trial=replace(entrant.trial, words=built.words), run=built)
    found = judge.judged(entrant)
    if found.run is None:
        return found
    alone, cuda = found.seconds, judge.device == "cuda"

    def behind() -> bool:
        handicap = HANDICAP if alone < SLOW else SLOW_HANDICAP
        return judge.far_behind((alone - OVERHEAD * len(plan.stages)) / handicap)

    try:
        if cuda or (behind() and alone <= ONCE):
            alone = min(alone, first(partial(built, judge.expected.inputs), cuda))
    except PROBLEMS as problem:
        return entrant.out(f"not built: {reason(problem)}")
    if behind():
        times = alone / judge.fastest
        slow = replace(found, trial=replace(found.trial, seconds=alone))
        slow = replace(slow, slow=True)
        return slow.out(f"left out: {times:.3g} times slower on its first run")
    caller: Callable[..., Any] = Caller(judge.program, built, judge.device)
    call = partial(caller, *judge.operands)
    try:
        sizes = (s.scope.size * element_bytes(s.scope) for s in judge.program.outputs)
        if alone <= LONG or (alone <= MADE_SECONDS and any(map(reused, sizes))):
            call()  # records, which takes long beside a brief run
        seconds = first(call, cuda)
    except PROBLEMS as problem:
        return found.out(f"not built: {reason(problem)}")
    return replace(found, trial=replace(found.trial, seconds=seconds), call=call)


def links(entrant: Entrant, judge: Judge) -> tuple[bool, Simple | None]:
    """Whether the program's flat function gives what the program gives: it is recorded, unless its
    call in the race was, then replayed and judged as the program itself was.  And the recording, if
    there is one."""
    assert entrant.run is not None
    caller = _called(entrant) or Caller(judge.program, entrant.run, judge.device)

    def replayed(inputs: Mapping[Tensor, torch.Tensor]) -> tuple[torch.Tensor, ...]:
        operands = [inputs[tensor] for tensor in judge.program.inputs]
        if caller.last is None:
            caller(*operands)
        found = caller(*operands)
        return found if isinstance(found, tuple) else (found,)

    found = gives_the_same(replayed, entrant, judge)
    return found, caller.last if found else None


def _called(entrant: Entrant) -> Caller | None:
    """The caller whose calls raced, if there is one: it may hold a recording already."""
    raced = entrant.call.func if isinstance(entrant.call, partial) else None
    return raced if isinstance(raced, Caller) else None


def gives_the_same(
    run: Callable[[Mapping[Tensor, torch.Tensor]], Sequence[torch.Tensor]],
    entrant: Entrant,
    judge: Judge,
) -> bool:
    """Whether another form of the program is as exact as the program itself."""
    off = judge.expected.error_of(run)
    bar = max(min(judge.base, WRONG), entrant.trial.error)
    return accepted(off, bar, judge.expected.epsilon)


def _too_much(rival: Rival, judge: Judge) -> str:
    """Why the program's operations forbid to run it: they take longer than the fastest program on
    any machine.  Nothing where they do not."""
    least = rival.least_seconds(judge.device)
    if least < max(SHORT, 2 * judge.fastest):
        return ""
    return f"its {rival.work:.1e} operations take at least {least:.2g} s"
