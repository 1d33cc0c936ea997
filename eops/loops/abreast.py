"""Plans in which several steps of a pass are one run of a short inner loop.

for i in 0:1000000:  for j in 0:3:  t[j] += X[i,j]
for i in 0:1000000 by 176:  for j in 0:528:  u[j] += X[i + j//3, j%3]       X[3*i + j] in memory
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import gcd
from typing import Final

from einderive.eops.loops.drafts.values import Load, Operation, Total
from einderive.eops.loops.plan import Plan

LANES: Final = 16
"""The numbers of a vector."""


def abreast(plan: Plan) -> Plan | None:
    """The plan with a longer inner loop, where that is short and each pass goes through memory
    element by element."""
    inner, sizes = plan.inner, plan.sizes
    if inner is None or plan.blocks > 1 or plan.turned is not None:
        return None
    width = plan.domain[inner].extent
    lanes = gcd(LANES, sizes.run)
    unit = lanes // gcd(lanes, width)
    count = unit * -(-sizes.run // (unit * width))
    looped = [(number, phase) for number, phase in enumerate(plan.phases) if phase.loops]
    if not looped or count < 2 or width > sizes.run // 2:
        return None
    for number, phase in looped:
        (own, *others) = phase.loops
        if others or plan.domain[own].extent < 2 * count or not _walks(plan, number, own, inner):
            return None
    return replace(plan, abreast=count)


def _walks(plan: Plan, number: int, own: int, inner: int) -> bool:
    """Whether a pass reads and writes one element after the other, and at each step the same is
    done with it: steps of the own loop continue those of the inner one."""
    phase, both = plan.phases[number], 1 << own | 1 << inner
    rows = [plan.outputs[k].offset for k in phase.outputs]
    for place in plan.needed[number]:
        value, again = plan.values[place], place in plan.read_again(number)
        if again or not plan.masks[place] & both:
            continue
        if isinstance(value, Load) and not (value.checked or value.picked):
            rows.append(value.offset)
        elif not isinstance(value, (Operation, Total)):
            return False
    rows += [plan.outputs[k].offset for k in _places(plan, number)]
    width = plan.domain[inner].extent
    return not any(row.floors for row in rows) and all(
        row.coefficient(inner) and row.coefficient(own) == width * row.coefficient(inner)
        for row in rows
    )


def _places(plan: Plan, number: int) -> Iterator[int]:
    """The results in whose place a pass keeps values, or reads them again."""
    for place in (*plan.phases[number].kept, *plan.read_again(number)):
        kept = plan.stored(place)
        if kept is not None and kept.output is not None:
            yield kept.output
