"""A kernel with usual stores and with streaming stores: which one runs, as measured where it runs.

Whether stores past the caches take less time depends on the size of the last cache, on what else
lies in it, and on the processor.  Where the system has just cleared a result's pages, they lie in
the cache, and the kernel takes up to a third longer with streaming stores: so these are for memory
that was used before.  Both forms write the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from einderive.eops.cpu_kernels.calls.entry import Code
from einderive.eops.result_memory import written
from einderive.eops.timed import is_timed, measured

Run: TypeAlias = Callable[..., object]


class Forms:
    """Runs the kernel.  `places` are those of its large results among the addresses.

    `streaming` gives the other form when it is first needed; with `chosen`, nothing is measured.
    `stream` is the other form where it is the faster one."""

    __slots__ = ("_make", "_places", "_run", "_usual", "stream")

    def __init__(
        self,
        usual: Run,
        streaming: Callable[[], tuple[Code, Run]],
        places: Sequence[int],
        *,
        chosen: bool = False,
    ) -> None:
        self._usual = self._run = usual
        self._places = tuple(places)
        self._make: Callable[[], tuple[Code, Run]] | None = streaming
        self.stream: Code | None = None
        if chosen:
            self._choose(*streaming())

    def __call__(self, *integers: int | None) -> object:
        make = self._make  # another thread may compare meanwhile
        if make is not None and is_timed():  # also in fresh pages: the first of its runs takes them
            self._make = None
            self._compare(make, integers)
        if self._run is not self._usual and all(map(_used_before, self._of(integers))):
            return self._run(*integers)
        return self._usual(*integers)

    def _of(self, integers: tuple[int | None, ...]) -> Iterator[int | None]:
        return (integers[place] for place in self._places)

    def _compare(
        self, make: Callable[[], tuple[Code, Run]], integers: tuple[int | None, ...]
    ) -> None:
        try:
            code, run = make()
        except Exception:  # no memory, say: the usual form serves as well
            return
        if measured(lambda: [partial(form, *integers) for form in (self._usual, run)]):
            self._choose(code, run)

    def _choose(self, code: Code, run: Run) -> None:
        self.stream, self._run, self._make = code, run, None


def _used_before(address: int | None) -> bool:
    return address is not None and written(address)
