"""The choice among ways to record a call: the one whose forward and backward pass take least.

    by the node    the compiled function, and the derived gradient, which reads the operands
    saving         the same, but intermediate results are kept for the gradient (`saving`), in no
                   more bytes than torch's autograd keeps for the fastest plain line
    by results     the same, but the gradient reads the formula's results, where torch's does
    a line         a plain program under torch's autograd (`lines`)

All steps are timed in one race, on random operands and cotangents, from the call to the gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final

import torch

from einderive.frontend.autograd.kin import Way
from einderive.frontend.autograd.linked import linked
from einderive.frontend.autograd.related import Related
from einderive.frontend.baselines.rival import Rival, rivals
from einderive.frontend.limits.memory import free_bytes
from einderive.frontend.running.settings import undisturbed
from einderive.frontend.timed.timing import LONG_SAMPLE, batch, first, race, timed
from einderive.frontend.training.asked import Asked
from einderive.frontend.training.by_results import by_results
from einderive.frontend.training.kept import PAGE, keeps_results, kept_bytes
from einderive.frontend.training.lines import Line, refusal
from einderive.frontend.training.remembered import at_another_size, remembered
from einderive.frontend.training.saving import saving
from einderive.frontend.trial.effort import Effort, effort_of
from einderive.frontend.trial.entrants import MOST_OF_FREE, PROBLEMS, TEMPORARIES
from einderive.frontend.trial.hard import expected_of
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.element import element_bytes

Step = Callable[[], object]

SHARE: Final = 0.2
"""The race takes so much of the seconds for timing."""
FAR_BEHIND: Final = 1.5
"""A line whose first steps take this many times the fastest one's is not raced."""
FAR_CALL, QUICK_CALL = 5.0, 1e-3
"""A line whose call alone takes `FAR_CALL` times the fastest line's, and more than `QUICK_CALL`
seconds, is not run."""
ELEMENTS_A_SECOND, LONGEST = 1e10, 1e9
"""No faster are temporaries written and read; and what takes longer is not run at all."""
MOST_LINES: Final = 3
RACES: Final = 2
WORTHWHILE: Final = 2e-4
"""Nothing is kept for steps that take less: a node of Python costs a good part of this."""
BRIEF: Final = 0.1
"""First steps that take less are taken three times."""
MARGIN: Final = 0.97
"""A line is recorded if it takes at most this part of the derived program's time."""
ALIKE: Final = 1.03
"""Times that differ by less are no reason to keep more for the backward pass."""


@dataclass(frozen=True)
class Steps:
    """What all ways are timed on: operands of which `flags` say which require gradients, and
    cotangents of the outputs that have derivatives."""

    operands: tuple[torch.Tensor, ...]
    flags: tuple[bool, ...]
    seeds: tuple[torch.Tensor, ...]

    @property
    def leaves(self) -> list[torch.Tensor]:
        """The operands anew, as parameters."""
        pairs = zip(self.operands, self.flags, strict=True)
        return [x.detach().requires_grad_(flag) for x, flag in pairs]

    def call(self, way: Callable[..., Any]) -> Step:
        """The call alone."""
        given = self.leaves
        return lambda: way(*given)

    def of(self, way: Callable[..., Any]) -> Step:
        """A step: the call and the gradients."""
        given = self.leaves
        leaves = [x for x in given if x.requires_grad]
        seeds = list(self.seeds)

        def step() -> object:
            with torch.enable_grad():
                found = way(*given)
            every = found if isinstance(found, tuple) else (found,)
            outputs = [y for y in every if y.requires_grad]
            if len(outputs) != len(seeds):
                raise RuntimeError("an output has no derivative")
            return torch.autograd.grad(outputs, leaves, seeds, allow_unused=True)

        return step

    def line(self, line: Line) -> Step:
        """A step through a plain line, as operands of known layouts call it."""
        return self.of(line.first(*self.leaves)[1])


@undisturbed()
def choose(outcome: Outcome, related: Related, flags: tuple[bool, ...], options: Any) -> Way | None:
    """The way to record calls by operands of which these require gradients; None for the node that
    keeps operands."""
    program = related.program
    wrt = tuple(place for place, flag in enumerate(flags) if flag)
    outputs = tuple(place for place, floating in enumerate(related.floating) if floating)
    part = related.gradient(wrt, outputs) if wrt and outputs else None
    if part is None or not _effort(options).measured or outcome.derivation.nan == "strict":
        return None
    plain = rivals(program, outcome.device)
    lines = [Line(program, rival) for rival in plain if rival.inputs == program.inputs]
    if not lines:
        return None
    asked = Asked(outcome, related, flags, options, part, lines)
    known = related.kin.way_of(program, flags)
    if known is not None:
        with suppress(LookupError, *PROBLEMS):
            return at_another_size(known[0], asked)
    way = remembered(asked, lambda: _chosen(asked))
    related.kin.keep_way(program, flags, way)
    return way


def _chosen(asked: Asked) -> Way | None:
    """The way that a race chooses.  Where lines are refused and no other way of the race is left,
    there is another race without them."""
    seconds = asked.options.get("seconds")
    seconds = SHARE * (_effort(asked.options).timing if seconds is None else seconds)
    steps = _steps(asked)
    found = _tried(asked, steps, _near(asked))
    refused: set[Way] = set()
    for _ in range(RACES):
        if found is None:
            return None
        for way in _faster(asked, steps, found, seconds, refused):
            if not isinstance(way, Line) or _is_right(way, asked):
                return way  # both programs of another way were judged when they were compiled
            refused.add(way)
        if not refused:
            return None
    return None


def _is_right(line: Line, asked: Asked) -> bool:
    outcome = asked.outcome
    try:
        return not refusal(
            line, asked.part, outcome.device, outcome.derivation.accuracy, outcome.error
        )
    except PROBLEMS:
        return False


def _near(asked: Asked) -> Sequence[Line]:
    """The lines whose calls alone took no longer than some times the fastest one's, when they were
    tried: a step takes longer than its call, and one of them may take a minute.  Quick calls are
    all tried: what they took when they were run for the first time says little.  A line that was
    not tried, since time was short, takes no less than its operations and its temporaries do, and
    these have to fit into memory."""
    device = asked.outcome.device
    known = {trial.text: trial.seconds for trial in asked.outcome.trials if trial.text}
    least = min((known.get(line.rival.text, inf) for line in asked.lines), default=inf)
    most = max(FAR_CALL * least, QUICK_CALL)
    free = free_bytes(device)

    def seconds(rival: Rival) -> float:
        if rival.text in known:
            return known[rival.text]
        item = max(element_bytes(tensor) for tensor in rival.inputs)
        if free is not None and rival.elements * item * TEMPORARIES > MOST_OF_FREE * free:
            return inf
        return max(rival.least_seconds(device), rival.elements / ELEMENTS_A_SECOND)

    return [line for line in asked.lines if seconds(line.rival) <= min(most, LONGEST)]


def _effort(options: Any) -> Effort:
    return effort_of(options.get("effort", "normal"))


def _steps(asked: Asked) -> Steps:
    program, outcome = asked.related.program, asked.outcome
    expected, _ = expected_of(program, outcome.device, outcome.derivation.accuracy)
    operands = tuple(expected.inputs[tensor] for tensor in program.inputs)
    generator = torch.Generator().manual_seed(7)
    outputs = zip(program.roots(), expected.types, asked.related.floating, strict=True)
    seeds = (
        torch.randn(root.shape, generator=generator).to(dtype).to(outcome.device)
        for root, dtype, floating in outputs
        if floating
    )
    return Steps(operands, asked.flags, tuple(seeds))


@dataclass
class Tried:
    """The ways that were tried: `firsts` has the seconds of the lines, the fastest one first.

    - `own`, `seconds`: a step by the node that keeps operands, and how long it takes.
    - `most`: the bytes that torch keeps for the fastest line, and a page; `more`: whether the node
      keeps more.
    - `reads`: torch keeps the results, and so may the call.  Of several plain lines, the first one
      says so, which has torch's own word for the most: this depends on the formula alone."""

    own: Step
    seconds: float
    firsts: dict[Line, float]
    made: dict[Way, Step]
    most: int
    more: bool
    reads: bool
    kept: tuple[Way, ...] | None = None
    """The ways that keep intermediate results, once they are compiled."""


def _tried(asked: Asked, steps: Steps, lines: Sequence[Line]) -> Tried | None:
    """The first steps by the node and through each line; None if no line has a derivative."""
    cuda = asked.outcome.device == "cuda"
    _, node = linked(asked.related, steps.leaves)
    own = steps.of(node)
    own()  # the first step records both programs and loads kernels, which may take a second
    seconds = first(own, cuda)
    firsts: dict[Line, float] = {}
    made: dict[Way, Step] = {}
    for line in lines:
        with suppress(*PROBLEMS):  # a line without a derivative
            firsts[line] = first(steps.line(line), cuda)
    keeping = [line for line in firsts if keeps_results(steps.call(line))]
    reads = asked.lines[0] in keeping or len(keeping) == len(firsts)
    for line in keeping if not reads else ():
        firsts[replace(line, copied=True)] = firsts.pop(line)
    made |= {line: steps.line(line) for line in firsts}
    if not firsts:
        return None
    order = sorted(firsts, key=firsts.__getitem__)
    for line in order[:MOST_LINES]:  # the first runs write to memory that is new to the process
        if firsts[line] <= BRIEF:
            calls = batch(firsts[line], LONG_SAMPLE)
            firsts[line] = min(firsts[line], *(timed(made[line], cuda, calls) for _ in range(2)))
    order.sort(key=firsts.__getitem__)
    most = kept_bytes(steps.call(order[0])) + PAGE
    more = kept_bytes(steps.call(node)) > most
    ranked = {line: firsts[line] for line in order}
    return Tried(own, seconds, ranked, made, most, more, reads)


def _faster(
    asked: Asked, steps: Steps, tried: Tried, seconds: float, refused: Set[Way]
) -> list[Way]:
    """The ways whose steps take less time than those by the node, the fastest first, without those
    that are refused.  Where the node keeps more for the backward pass than torch for the fastest
    line, all that do not."""
    cuda, firsts = asked.outcome.device == "cuda", tried.firsts
    order = [line for line in firsts if line not in refused]
    best = min(tried.seconds, *(firsts[line] for line in order)) if order else tried.seconds
    close = [line for line in order if firsts[line] <= FAR_BEHIND * best]
    near: list[Way] = [*(close or order[: tried.more])[:MOST_LINES]]
    if WORTHWHILE <= tried.seconds <= FAR_BEHIND * best:
        near += _keeping(asked, steps, tried)
    if not near:
        return []
    runs = [tried.own, *(tried.made[way] for way in near)]
    times = race(runs, seconds=seconds, sample=LONG_SAMPLE, cuda=cuda)
    bar = MARGIN * times[0].seconds
    fit = [
        (timing.seconds, kept_bytes(steps.call(way)), way)
        for way, timing in zip(near, times[1:], strict=True)
    ]
    fit = [one for one in fit if one[0] <= bar or (tried.more and one[1] <= tried.most)]
    alike = ALIKE * min((each for each, _, _ in fit), default=0.0)
    # of those that are as fast as the fastest one, those that keep least come first
    fit.sort(key=lambda one: (one[0] > alike, one[0] if one[0] > alike else one[1], one[0]))
    return [way for _, _, way in fit]


def _keeping(asked: Asked, steps: Steps, tried: Tried) -> tuple[Way, ...]:
    """The ways that keep intermediate results for the gradient, compiled once."""
    if tried.kept is None:
        related, part = asked.related, asked.part
        found = [saving(related, part, tried.most)]
        if tried.reads:
            found.append(by_results(related, part, tried.most))
        tried.kept = tuple(filter(None, found))
        tried.made |= {way: steps.of(way) for way in tried.kept}
    return tried.kept
