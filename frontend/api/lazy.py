"""Names of a module that are loaded at their first use.

__getattr__, __dir__ = lazily(globals(), {"einsum": "einderive.frontend.einsum.call"})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    space: dict[str, Any], places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module whose globals are `space`; `places` gives the
    module in which each name is defined, which for a module is the package that it lies in."""

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {space['__name__']!r} has no attribute {name!r}")
        place = places[name]
        if place == space["__name__"]:
            return import_module(f"{place}.{name}")
        found = getattr(import_module(place), name)
        space[name] = found  # found without this function from now on
        return found

    def names() -> list[str]:
        return sorted({*space, *places})

    return load, names
