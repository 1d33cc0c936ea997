"""Back ends, one a file: each turns stages into functions.  A new one is one new file.

Not here: operators (`eops.library`), how kernels are written (`torch_views`, `triton_kernels`).
May be imported by `frontend`.
"""

from __future__ import annotations

from einderive.eops.back_ends.task import BackEnd, Run, Task
from einderive.ta.listing import listed

BACK_ENDS: tuple[BackEnd, ...] = listed(
    __name__,
    BackEnd,
    first="kept_weights",
    last="half_precision library triton strided_views",
)
"""In the order in which they are asked; the last one takes every stage."""


def lowered(task: Task) -> tuple[Run, str]:
    """The stage as a function of its buffers, and a word for how it is computed."""
    for back_end in BACK_ENDS:
        run = back_end.lower(task)
        if run is not None:
            return run, back_end.word or task.operator
    raise AssertionError("no back end takes the stage")
