"""The table of all nodes that are in use."""

from __future__ import annotations

from threading import RLock
from typing import Final
from weakref import ref

from einderive.ta.ir.node import Node


class Entry(ref[Node]):
    """A weak reference to a node.  When the node is gone, its key leaves the table."""

    __slots__ = ("key",)
    key: tuple[object, ...]


TABLE: Final[dict[tuple[object, ...], Entry]] = {}
"""The nodes that are in use, by kind and fields.  The references are weak, so that the nodes of a
search are freed with it.  A `WeakValueDictionary` would take twice the time."""


_LOCK: Final = RLock()  # taken again where freeing a node, within `forget`, frees others


def forget(entry: Entry) -> None:
    """Takes the key of a node that is gone out of the table, unless another node has it now."""
    with _LOCK:
        if TABLE.get(entry.key) is entry:
            del TABLE[entry.key]
