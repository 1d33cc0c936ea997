"""What the kernel remembers is forgotten, so that a change to it takes effect."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest


def _forget() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith(("einderive.derivations", "einderive.ta.")):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def forget() -> Iterator[Callable[[], None]]:
    """Empties the caches; so does the test's end."""
    _forget()
    yield _forget
    _forget()
