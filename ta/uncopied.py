"""Values that are handed on as they are: a copy of one is itself, and none is pickled."""

from __future__ import annotations

from typing import ClassVar, NoReturn, Self

from einderive.ta.errors import PickleError


class Uncopied:
    """`not_pickled` is what PickleError says: what it is, and what to keep instead."""

    __slots__ = ()
    not_pickled: ClassVar[tuple[str, str]]

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise PickleError(*self.not_pickled)
