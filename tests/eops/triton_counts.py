"""What a kernel does, counted in Triton's interpreter while it runs.

with counted() as found: kernel(...)
found.elements    the distinct elements that were read, of all operands, in bytes
found.asked       the same of each program, added up
found.loaded      the lanes that read, in bytes
found.arithmetic  operations on floating numbers, by their word
found.products    operations of products of tiles
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from triton.runtime.interpreter import InterpreterBuilder


@dataclass
class Counts:
    arithmetic: Counter[str] = field(default_factory=Counter)
    products: int = 0
    loaded: int = 0
    elements: int = 0
    asked: int = 0
    _all: dict[int, set[int]] = field(default_factory=dict)
    _own: dict[int, set[int]] = field(default_factory=dict)

    def load(self, pointers: Any, mask: Any, item: int) -> None:
        places, live = np.broadcast_arrays(pointers, True if mask is None else mask)
        found = places[live.astype(bool)].astype(np.int64).ravel()
        self.loaded += found.size * item
        self._own.setdefault(item, set()).update(found.tolist())

    def ends(self) -> None:
        """The end of a program."""
        for item, places in self._own.items():
            self.asked += len(places) * item
            self._all.setdefault(item, set()).update(places)
        self._own = {}
        self.elements = sum(len(places) * item for item, places in self._all.items())


@contextmanager
def counted() -> Iterator[Counts]:
    found = Counts()
    binary, dot = InterpreterBuilder.binary_op, InterpreterBuilder.create_dot
    load, plain = InterpreterBuilder.create_masked_load, InterpreterBuilder.create_load
    begin = InterpreterBuilder.set_grid_idx

    def begins(builder: Any, *index: Any) -> Any:
        found.ends()
        return begin(builder, *index)

    def computed(builder: Any, left: Any, right: Any, word: Any) -> Any:
        made = binary(builder, left, right, word)
        if np.issubdtype(left.data.dtype, np.floating):
            found.arithmetic[word.__name__] += made.data.size
        return made

    def multiplied(builder: Any, left: Any, right: Any, *rest: Any) -> Any:
        found.products += 2 * left.data.shape[0] * left.data.shape[1] * right.data.shape[1]
        return dot(builder, left, right, *rest)

    def loaded(builder: Any, pointers: Any, mask: Any, *rest: Any) -> Any:
        made = load(builder, pointers, mask, *rest)
        found.load(pointers.data, mask.data, made.data.itemsize)
        return made

    def loaded_whole(builder: Any, pointers: Any, *rest: Any) -> Any:
        with patch.object(InterpreterBuilder, "create_masked_load", load):
            made = plain(builder, pointers, *rest)
        found.load(pointers.data, None, made.data.itemsize)
        return made

    with (
        patch.object(InterpreterBuilder, "set_grid_idx", begins),
        patch.object(InterpreterBuilder, "binary_op", computed),
        patch.object(InterpreterBuilder, "create_dot", multiplied),
        patch.object(InterpreterBuilder, "create_masked_load", loaded),
        patch.object(InterpreterBuilder, "create_load", loaded_whole),
    ):
        yield found
    found.ends()
