"""What a call may cost, counted and not timed: the figures are the same on a busy machine."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """What is inside calls Python functions at most so often, in this thread."""
    profile = cProfile.Profile(builtins=False)
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
    found = sum(entry.callcount for entry in profile.getstats())
    assert found <= calls, f"{found:,} calls of Python functions; at most {calls:,} are allowed"
