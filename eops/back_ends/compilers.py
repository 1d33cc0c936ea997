"""Whether loops can be compiled here: the packages that this takes, and what is wrong with them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

PACKAGES: Final = ("numba", "llvmlite", "platformdirs")


@cache
def missing() -> tuple[str, ...]:
    """The packages that compile loops and are not there.  Without one, stages are torch's
    operations."""
    return tuple(name for name in PACKAGES if find_spec(name) is None)


def installed() -> bool:
    """Whether all packages are there.  They are not imported, which takes long."""
    return not missing()


@cache
def failure() -> tuple[str, str] | None:
    """The package that cannot be imported though it is there, and its error; None if there is none.
    All are imported."""
    for name in PACKAGES:
        try:
            import_module(name)
        except Exception as error:  # as of a numba that refuses this NumPy
            return name, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return None


def known_failure() -> tuple[str, str] | None:
    """The same, if the packages were to be imported before; nothing is imported for it."""
    return failure() if failure.cache_info().currsize else None


def usable() -> bool:
    """Whether loops can be compiled.  Where all packages are there, they are imported."""
    return installed() and failure() is None
