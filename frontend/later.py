"""A sequence whose items are made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

T = TypeVar("T")


class Later(Sequence[T]):
    """Later(n, make)  =  (make(0), ..., make(n - 1)), each made once, when it is asked for."""

    def __init__(self, count: int, make: Callable[[int], T]) -> None:
        self._count, self._make = count, make
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...
    def __getitem__(self, place: int | slice) -> T | tuple[T, ...]:
        places = range(self._count)[place]  # raises IndexError where there is none
        if isinstance(places, range):
            return tuple(self[each] for each in places)
        if places not in self._made:
            self._made[places] = self._make(places)
        return self._made[places]
