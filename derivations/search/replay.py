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
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import nested_scopes, stages


def replace_step(roots: tuple[Scope, ...], step: Step) -> tuple[Scope, ...]:
    """The roots with the step applied wherever its scope occurs in them."""
    moved = replaced(roots, step)
    return tuple(moved[root] for root in roots)


def replaced(roots: tuple[Scope, ...], step: Step) -> dict[Scope, Scope]:
    """The scope that each stage of the roots becomes by the step."""
    moved: dict[Scope, Scope] = {}
    for stage in stages(*roots):
        moved[stage] = step.after if stage is step.before else redirected(stage, moved)
    return moved


class Heights:
    """The depth of nesting below a scope: 1 if it reads no scope."""

    def __init__(self) -> None:
        self._known: dict[Scope, int] = {}

    def of(self, scope: Scope) -> int:
        known = self._known
        pending = [scope]
        while pending:
            current = pending[-1]
            if current in known:
                pending.pop()
                continue
            below = nested_scopes(current)
            missing = [nested for nested in below if nested not in known]
            if missing:
                pending.extend(missing)
            else:
                known[current] = 1 + max([known[nested] for nested in below], default=0)
                pending.pop()
        return known[scope]


def replay(
    roots: tuple[Scope, ...], steps: Sequence[Step], heights: Heights
) -> tuple[tuple[Scope, ...], tuple[Step, ...]]:
    """The roots after the steps, and those steps that apply, in an order in which each applies
    after the one before."""
    chosen = {step.before: step for step in steps}
    applied = _applied(roots, chosen, heights) if len(chosen) == len(steps) else None
    if applied is None:
        return _one_by_one(roots, steps)
    if not applied:
        return roots, ()
    return _together(roots, {step.before: step.after for step in applied}), tuple(applied)


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


def _together(roots: tuple[Scope, ...], after: Mapping[Scope, Scope]) -> tuple[Scope, ...]:
    """Each scope with its replacement, built from what its sources have become."""
    done: dict[Scope, Scope] = {}
    pending = list(roots)
    while pending:
        scope = pending[-1]
        if scope in done:
            pending.pop()
            continue
        below = (after[scope],) if scope in after else nested_scopes(scope)
        missing = [each for each in below if each not in done]
        if missing:
            pending.extend(missing)
        else:
            done[scope] = done[below[0]] if scope in after else redirected(scope, done)
            pending.pop()
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
