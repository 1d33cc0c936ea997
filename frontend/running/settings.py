"""torch's settings that change what is computed, put aside while a program is judged and timed.

with torch.autocast("cpu"): compile(text, ...)   =   compile(text, ...)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def undisturbed() -> Iterator[None]:
    """No autocast, and new tensors lie on the CPU where nothing else is said: of this thread, and
    as a decorator of each call."""
    with ExitStack() as stack:
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":  # a mode, which costs time in every call
            stack.enter_context(torch.device("cpu"))
        yield
