"""The table of the nodes that somebody holds."""

from __future__ import annotations

from typing import Final
from weakref import ref

from ta.node import Node


class Entry(ref[Node]):
    """A weak reference to a node that takes its key out of the table when the node is gone."""

    __slots__ = ("key",)
    key: tuple[object, ...]


TABLE: Final[dict[tuple[object, ...], Entry]] = {}
"""The nodes that somebody holds, by kind and fields.  The references are weak, so that what a
search leaves behind is freed with it; a `WeakValueDictionary` would do, at twice the time."""


def forget(entry: Entry) -> None:
    if TABLE.get(entry.key) is entry:
        TABLE.pop(entry.key, None)  # another thread may have been here
