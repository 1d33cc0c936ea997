"""Steps applied to a program.

    replay(P, [B1 -> A1, B2 -> A2])  =  P with B1 replaced by A1 wherever it occurs, and then B2

A step deep inside a program gives every scope above it another identity.  Steps that come in the
order from the outermost scope to the innermost are therefore applied together: each scope is built
anew once, whatever happens below it, and not once a step.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from einderive.derivations.steps.kernel import Step
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import moved, redirected
from einderive.ta.ir.subst import from_below, nested_scopes, stages


def replace_step(roots: tuple[Scope, ...], step: Step) -> tuple[Scope, ...]:
    """The roots with the step applied wherever its scope occurs in them."""
    after = moved(roots, {step.before: step.after})
    return tuple(after[root] for root in roots)


class Heights:
    """The depth of nesting below a scope: 1 if it reads no scope."""

    def __init__(self) -> None:
        self._known: dict[Scope, int] = {}

    def of(self, scope: Scope) -> int:
        known = self._known
        for current in from_below([scope], known, nested_scopes):
            known[current] = 1 + max([known[each] for each in nested_scopes(current)], default=0)
        return known[scope]


def replay(
    roots: tuple[Scope, ...], steps: Sequence[Step], heights: Heights
) -> tuple[tuple[Scope, ...], tuple[Step, ...]]:
    """The roots after the steps, and those steps that apply, in an order in which each applies
    after the one before."""
    chosen = {step.before: step for step in steps}
    applied = _applied(roots, chosen, heights) if len(chosen) == len(steps) else None
    if applied is not None and not applied:
        return roots, ()
    after = {step.before: step.after for step in applied or ()}
    if applied is None or _in_a_circle(roots, after):
        return _one_by_one(roots, steps)
    return _together(roots, after), tuple(applied)


def _applied(
    roots: tuple[Scope, ...], chosen: Mapping[Scope, Step], heights: Heights
) -> list[Step] | None:
    """The steps whose scopes occur when all that holds them has been rewritten; None where a step
    brings back a scope that an earlier one replaced, which then stays as it is there."""
    applied: list[Step] = []
    seen: set[Scope] = set()
    replaced: set[Scope] = set()
    waiting: list[tuple[int, int, Scope]] = []

    def wait(scope: Scope) -> None:
        if scope not in seen:
            seen.add(scope)
            heapq.heappush(waiting, (-heights.of(scope), len(seen), scope))

    for root in roots:
        wait(root)
    while waiting:
        _, _, scope = heapq.heappop(waiting)
        step = chosen.get(scope)
        if step is None:
            found = nested_scopes(scope)
        else:
            applied.append(step)
            replaced.add(scope)
            found = (step.after,)
        if not replaced.isdisjoint(found):
            return None
        for each in found:
            wait(each)
    return applied


def _below(scope: Scope, after: Mapping[Scope, Scope]) -> tuple[Scope, ...]:
    return (after[scope],) if scope in after else nested_scopes(scope)


def _in_a_circle(roots: tuple[Scope, ...], after: Mapping[Scope, Scope]) -> bool:
    """Whether a replacement reads, perhaps by way of others, the scope that it replaces: A becomes
    B, which reads C, which was there before and reads A."""
    done, path = set[Scope](), set[Scope]()
    pending = [*roots]
    while pending:
        scope = pending[-1]
        if scope in done or scope in path:
            pending.pop()
            path.discard(scope)
            done.add(scope)
            continue
        path.add(scope)
        found = _below(scope, after)
        if not path.isdisjoint(found):
            return True
        pending += found
    return False


def _together(roots: tuple[Scope, ...], after: Mapping[Scope, Scope]) -> tuple[Scope, ...]:
    """Each scope with its replacement, built from what its sources have become."""
    done: dict[Scope, Scope] = {}
    for scope in from_below(roots, done, lambda scope: _below(scope, after)):
        done[scope] = done[after[scope]] if scope in after else redirected(scope, done)
    return tuple(done[root] for root in roots)


def _one_by_one(
    roots: tuple[Scope, ...], steps: Sequence[Step]
) -> tuple[tuple[Scope, ...], tuple[Step, ...]]:
    applied: list[Step] = []
    for step in steps:
        if step.before in stages(*roots):
            changed = replace_step(roots, step)
            if changed != roots:
                roots = changed
                applied.append(step)
    return roots, tuple(applied)
