"""Settings of torch that change results, switched off while a program is judged and timed.

with torch.autocast("cpu"): compile(text, ...)   =   compile(text, ...)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def undisturbed() -> Iterator[None]:
    """A context in which this thread has no autocast, and new tensors lie on the CPU unless told
    otherwise.  As a decorator, it holds for each call."""
    with ExitStack() as stack:
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":  # a mode, which costs time in every call
            stack.enter_context(torch.device("cpu"))
        yield
