"""Results whose lines of memory a pass fetches while it computes, before the next pass writes them.

A write to a line that lies far away waits until the line has been read.  A pass that computes
functions of what an earlier pass has read leaves memory idle meanwhile: softmax of 2,000 rows of
2,000 takes a tenth less time if its pass over the exponentials fetches the lines of the results.
A pass that reads memory itself, or has few operations, would wait: the sums of exponentials alone
take a sixth more.
"""

from __future__ import annotations

from einderive.eops.loops.cost import CALL, is_written_out, operations
from einderive.eops.loops.drafts.values import Load
from einderive.eops.loops.plan import Plan


def prefetched(plan: Plan, number: int) -> tuple[int, ...]:
    """The outputs whose lines this pass of rows fetches, which has loops and no window.  The next
    one with loops writes them one element after the other, in the same loops, and they hold no
    values that are kept."""
    order = plan.order(plan.phases[number])
    following = [phase for phase in plan.phases[number + 1 :] if phase.loops]
    if not following or plan.order(following[0]) != order or not _is_busy(plan, number):
        return ()
    if is_written_out(plan, plan.phases[number]):
        return ()
    if plan.domain[order[-1]].extent > plan.sizes.kept:
        return ()  # the first lines would be gone before they are written
    over = {kept.output for kept in plan.kept}
    offsets = {k: plan.outputs[k].offset for k in following[0].outputs if k not in over}
    return tuple(k for k, row in offsets.items() if row.coefficient(order[-1]) == 1)


def _is_busy(plan: Plan, number: int) -> bool:
    """Whether the inner loop computes a function, and reads only what earlier passes have read."""
    phase, again = plan.phases[number], plan.read_again(number)
    inside = len(plan.order(phase))
    made = [
        place
        for place in plan.needed[number]
        if place not in again and plan.depth(plan.masks[place], phase) == inside
    ]
    before = {place for needed in plan.needed[:number] for place in needed}
    read = {place for place in made if isinstance(plan.values[place], Load)}
    return read <= before and any(operations(plan.values[place]) >= CALL for place in made)
