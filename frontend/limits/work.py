"""The work of checking one element of a compiled program's output, estimated before it begins."""

from __future__ import annotations

from math import prod

from einderive.frontend.accuracy.sampled_reference import equally_cheap
from einderive.ta.errors import BuildError
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from einderive.ta.printing.show import show_program

MOST_POINTS = 10**10
"""The exact interpreter evaluates some 10^8 bodies a second."""


def require_work(program: Program) -> None:
    """BuildError if an element reduces so many values that its check would not end."""
    for output in program.outputs:
        for stage in stages(equally_cheap(output.scope)):
            points = prod(side.extent for side in stage.sums)
            if points > MOST_POINTS:
                sizes = " x ".join(str(side.extent) for side in stage.sums)
                raise BuildError(
                    "one element reduces too many values for a compiled program to be checked",
                    text=show_program(program),
                    sizes=f"{sizes} are {points:,} values, and at most {MOST_POINTS:,} are checked",
                    next_step="use smaller shapes, or reduce in several statements; "
                    "derive() alone evaluates nothing",
                )
