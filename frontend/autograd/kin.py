"""What the functions of one formula at several sizes have in common: choices that were made once.

    the gradient at b = 64 was searched    ->    the one at b = 20 is made by the same choices

The programs derived from a function (`related`) have the same names at every size: the gradient by
the operands 0 and 1, say.  One that a search gave is remembered under this name, and is made again
for another size (`frontend.sizes`).  What cannot be made again is searched, and then asked too.  So
it is with the way in which calls are recorded, which a race chose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from einderive.ta.ir.program import Program

Flags = tuple[bool, ...]
"""Of each operand, whether it requires gradients."""
Compile = Callable[[Program], Callable[..., Any]]
Way = Callable[..., Any]
"""Operands -> the result, on torch's graph."""
Remake = Callable[[Program], Callable[..., Any] | None]
MOST_SEARCHED = 8
"""This many programs of one name are asked, the last ones that were searched."""


class Kin:
    """The programs of each name that were searched, and the ways that were raced.

    A compiled function is asked for another size by its method `_remade`, which gives None where
    its choices do not hold there."""

    def __init__(self) -> None:
        self._searched: dict[object, tuple[Callable[..., Any], ...]] = {}
        self._ways: dict[object, Way | None] = {}

    def made(self, what: object, program: Program, search: Compile) -> Callable[..., Any]:
        """The function of the program, which is `what` to its formula."""
        key = what, _types(program)
        known = self._searched.get(key, ())
        for function in known:
            again: Remake | None = getattr(function, "_remade", None)
            found = None if again is None else again(program)
            if found is not None:
                return found
        found = search(program)
        self._searched[key] = (*known, found)[-MOST_SEARCHED:]
        return found

    @property
    def searches(self) -> int:
        """How many programs were searched."""
        return sum(map(len, self._searched.values()))

    @property
    def raced(self) -> bool:
        """Whether the way to record a call was chosen at some size."""
        return bool(self._ways)

    def way_of(self, program: Program, flags: Flags) -> tuple[Way | None] | None:
        """The way that a race chose for the formula at some size; None if there was no race."""
        found = self._ways.get((_types(program), flags), self)
        return None if found is self else (found,)  # type: ignore[return-value]

    def keep_way(self, program: Program, flags: Flags, way: Way | None) -> None:
        """Keeps what a race chose."""
        self._ways[_types(program), flags] = way


def _types(program: Program) -> tuple[str, ...]:
    return tuple(tensor.dtype for tensor in program.inputs)
