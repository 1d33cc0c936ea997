"""The store of this process: the one in the folder of caches, or none."""

from __future__ import annotations

from einderive.eops.cache_folder import OFF, VARIABLE, cache_folder
from einderive.frontend.memory.store import Store


def store() -> Store:
    """The store in the folder of caches, as the environment says now."""
    place = cache_folder()
    if place is None:
        return Store(f"{VARIABLE} is {OFF}, or there is no home folder")
    try:
        from einderive.frontend.memory.database import Database  # it needs SQLite
    except ImportError:
        return Store("this Python has no sqlite3")
    return Database(place / "memory")


def keeps() -> bool:
    """Whether anything may be kept, as far as the environment says."""
    return cache_folder() is not None
