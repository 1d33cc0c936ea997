"""The functions of one formula at all sizes that it was called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, Protocol, TypeVar

from einderive.ta.ir.program import Program


class Sized(Protocol):
    """What is compiled for one size."""

    @property
    def formula(self) -> Program: ...


F = TypeVar("F", bound=Sized)
MOST_SIZES = 256
"""At most this many sizes are kept.  One more drops all but the first."""


class Family(Generic[F]):
    """Functions by the values of a formula's named sizes, the one of `first` among them.

    `remake(known, program)` makes the function of a program as `known` was made, without a search,
    or gives None; `compile(program)` searches.  A function that a search gave is asked for the next
    sizes too: where one choice does not hold, another may."""

    def __init__(
        self,
        first: F,
        remake: Callable[[F, Program], F | None],
        compile: Callable[[Program], F],
    ) -> None:
        self._first, self._remake, self._compile = first, remake, compile
        self._known: dict[tuple[tuple[str, int], ...], F] = {_key(first.formula): first}
        self._searched: tuple[F, ...] = (first,)

    @property
    def searches(self) -> int:
        """How often programs were searched."""
        return len(self._searched)

    def at(self, shapes: Mapping[str, tuple[int, ...]]) -> F | None:
        """The function for tensors of these shapes.  None where they differ from the formula's in
        more than named sizes, or not at all."""
        source = self._first.formula
        if source.at_shapes is None or all(shapes.get(t.name) == t.shape for t in source.inputs):
            return None
        program = source.at_shapes(shapes)
        return None if program is None else self._of(program)

    def _of(self, program: Program) -> F:
        key = _key(program)
        found = self._known.get(key)
        if found is None:
            remade = (self._remake(known, program) for known in self._searched)
            found = next((one for one in remade if one is not None), None)
            if found is None:
                found = self._compile(program)
                self._searched = (*self._searched, found)
            if len(self._known) >= MOST_SIZES:
                self._known = {_key(self._first.formula): self._first}
            self._known[key] = found
        return found


def _key(program: Program) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(program.sizes.items()))
