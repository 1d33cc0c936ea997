"""A stage as a call of a compiled function runs it: its calls of torch alone, one after the other.

    run(buffers)   =   linked(run, buffers)[1]()      the second is timed

To run a stage takes 20 to 60 microseconds of Python, which finds views and types.  The call of a
compiled function does not find them again (`frontend.call`), so the time of a stage is without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from einderive.eops.back_ends.task import Run
from einderive.frontend.call.record import Unrecordable, record
from einderive.frontend.call.simplify import simplified
from einderive.frontend.call.source import body


def linked(
    run: Run, buffers: Mapping[Any, torch.Tensor]
) -> tuple[torch.Tensor, Callable[[], object]]:
    """The result of the run on these buffers, and its recorded calls as a function; the run itself
    where its calls depend on the data."""
    names, tensors = tuple(buffers), tuple(buffers.values())
    try:
        trace, (result,) = record(
            lambda given: (run(dict(zip(names, given, strict=True))),), tensors
        )
    except Unrecordable:
        return run(buffers), partial(run, buffers)
    return result, partial(body(simplified(trace), kernels=True), *tensors)
