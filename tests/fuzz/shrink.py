"""Smaller scopes that fail as a given one does: iterators, factors, terms, extents and offsets go,
one at a time, as long as the failure stays.

A candidate fails if the very witness still shows the failure on it, or if any witness that the rule
proposes there does, or, for a corrupted witness, one of these changed in one place.  A chain loses
moves first; once it has one, the program around it becomes smaller.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from random import Random

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import stages, walk
from einderive.ta.printing.show import show, tensors_of
from tests.derivations.seeds import corrupt
from tests.fuzz import chains
from tests.fuzz.explore import Failure, Mode, Move, difference, raised
from tests.fuzz.judge import Judge
from tests.fuzz.variants import variants

SECONDS = 20.0
CORRUPTIONS = 40
"""Changed witnesses tried on a candidate."""


def shrunk(
    failure: Failure, rules: Sequence[Rule | JointRule], seconds: float = SECONDS
) -> Failure:
    """The least failure of the same kind found in the time."""
    best, end = failure, time.monotonic() + seconds
    find = _smaller_chain if _holds_by_itself(failure) else _smaller
    smaller: Failure | None = failure
    while smaller is not None:
        best = smaller
        named = (r for r in rules if r.name == best.rule and isinstance(r, Rule))
        smaller = next(find(best, next(named, None), end), None)
    return best


def _holds_by_itself(failure: Failure) -> bool:
    """Is it only the program that differs, and not the last step's two sides?"""
    return bool(failure.moves) and not _shows(failure.moves[-1], failure.laws)


def _smaller_chain(failure: Failure, rule: Rule | None, end: float) -> Iterator[Failure]:
    size, kind = (len(failure.moves), *_size(failure.start)), _kind(failure.shows)
    candidates = chains.shorter(failure)
    if len(failure.moves) == 1:
        candidates = chains.smaller(failure, rule)
    for candidate in candidates:
        if time.monotonic() > end:
            return
        if (len(candidate.moves), *_size(candidate.start)) < size:
            found = chains.fails(candidate)
            if found is not None and _kind(found.shows) == kind:
                yield found


def _smaller(failure: Failure, rule: Rule | None, end: float) -> Iterator[Failure]:
    size = _size(failure.start)
    for candidate in variants(failure.start):
        if time.monotonic() > end:
            return
        if _size(candidate) < size:
            found = _fails(candidate, failure, rule)
            if found is not None:
                yield found


def _fails(scope: Scope, like: Failure, rule: Rule | None) -> Failure | None:
    """The failure on this scope, of the same kind as the given one, if there is one."""
    modes: tuple[Mode, ...] = ("search", "exact")
    if like.moves:
        mode = like.moves[0].mode
        modes = (mode, *(m for m in modes if m != mode))
    kind = _kind(like.shows)
    for witness, corrupted in _witnesses(scope, like, rule):
        if isinstance(witness, Exception):
            shows = raised(witness)
            if _kind(shows) == kind:
                return Failure(like.rule, scope, (), shows)
            continue
        for mode in modes:
            move = Move(like.rule, scope, witness, mode)
            shows = _shows(move, like.laws)
            if shows and _kind(shows) == kind:
                return Failure(like.rule, scope, (move,), shows, corrupted, like.laws)
    return None


def _kind(shows: str) -> str:
    return shows.partition(":")[0] if shows.startswith("raises") else "differs"


def _shows(move: Move, laws: Sequence[str]) -> str:
    try:
        after = kernel.apply(move.scope, move.witness, exact=move.mode == "exact")
    except RuleRefused:
        return ""
    except Exception as error:
        return raised(error)
    return difference(Judge(), move.scope, after, laws)


def _witnesses(
    scope: Scope, like: Failure, rule: Rule | None
) -> Iterator[tuple[Witness | Exception, bool]]:
    """Witnesses to try, and whether they are corrupted; an exception that proposing raises."""
    if like.moves:
        yield like.moves[0].witness, like.corrupted
    if rule is None:
        return
    try:
        proposed = list(rule.propose(scope))
    except Exception as error:
        yield error, False
        return
    if like.moves:
        yield from ((witness, False) for witness in proposed)
    if like.corrupted and proposed:
        random = Random(like.rule)
        for k in range(CORRUPTIONS):
            changed = corrupt(proposed[k % len(proposed)], random)
            if changed is not None:
                yield changed, True


def _size(scope: Scope) -> tuple[int, int, int]:
    """Nodes and iterators, then points, then numbers."""
    all_stages = stages(scope)
    nodes = sum(len(stage.domain) + sum(1 for _ in walk(stage.body)) for stage in all_stages)
    extents = sum(sum(stage.extents) for stage in all_stages)
    lows = sum(abs(side.lo) for stage in all_stages for side in stage.domain)
    shapes = sum(sum(tensor.shape) for tensor in tensors_of(scope).values())
    return nodes, extents, lows + shapes + len(show(scope))
