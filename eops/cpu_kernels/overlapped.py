"""The last steps of a short inner loop as one more vector, which overlaps the one before.

    for i in range(0, 20)      ->      for i in range(0, 16);  for i in range(4, 20)

LLVM computes the steps after the last whole vector one by one: the last 4 of 20 exponentials take
six times as long as the 16 before them.  What the overlapping steps write again is the same; of a
sum they count only what was not added before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from einderive.eops.loops.cost import CALL, operations
from einderive.eops.loops.plan import Phase, Plan

STEPS: Final = 16
"""The elements of a vector of float32."""
LEFT: Final = 3
"""At least so many steps have to be left over: fewer take no longer one by one.  A single one is
enough where it computes a function and nothing is added up."""
MOST_ADDED: Final = 12
"""Sums without functions keep one loop where so many steps are left, or fewer: a second total takes
as long.  Standard deviations of rows of 31 or 127 take a quarter less with two."""
LONGEST: Final = 512
"""In longer loops the last steps take a small part of the time, and a second text takes LLVM as
long as the first."""


class Parts(NamedTuple):
    """The first loop ends at `full`, and the second one begins at `again`."""

    full: int
    again: int


def overlapped(plan: Plan, phase: Phase, inner: int, needed: tuple[int, ...]) -> Parts | None:
    """The two loops over all steps of the inner loop, which computes the values `needed`; None
    where one loop is better, or where a step may not run twice: its totals lie in memory, or it
    writes over what it reads."""
    if plan.together or plan.turned is not None or phase.window is not None or plan.blocks > 1:
        return None
    if phase.reductions and plan.inner is not None:
        return None
    if any(kept.output in phase.outputs for kept in plan.kept):
        return None
    lo, hi = plan.domain[inner]
    left = (hi - lo) % STEPS
    dear = any(operations(plan.values[place]) >= CALL for place in needed)
    least = 1 if dear and not phase.reductions else LEFT
    if phase.reductions and not dear:
        least = MOST_ADDED + 1
    if not STEPS < hi - lo <= LONGEST or left < least:
        return None
    return Parts(hi - left, hi - STEPS)
