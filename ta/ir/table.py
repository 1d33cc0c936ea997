"""The table of the nodes that somebody holds."""

from __future__ import annotations

from threading import RLock
from typing import Final
from weakref import ref

from einderive.ta.ir.node import Node


class Entry(ref[Node]):
    """A weak reference to a node that takes its key out of the table when the node is gone."""

    __slots__ = ("key",)
    key: tuple[object, ...]


TABLE: Final[dict[tuple[object, ...], Entry]] = {}
"""The nodes that somebody holds, by kind and fields.  The references are weak, so that what a
search leaves behind is freed with it; a `WeakValueDictionary` would do, at twice the time."""


_LOCK: Final = RLock()  # taken again where freeing a node, within `forget`, frees others


def forget(entry: Entry) -> None:
    """Takes the key of a node that is gone out of the table, where no other node has it."""
    with _LOCK:
        if TABLE.get(entry.key) is entry:
            del TABLE[entry.key]
