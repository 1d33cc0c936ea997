"""A kernel with usual stores and with streaming stores: which one runs, as measured where it runs.

Whether stores past the caches take less time depends on the size of the last cache, on what else
lies in it, and on the processor.  Where the system has just cleared a result's pages, they lie in
the cache, and streaming takes up to a third more: so it is for memory that was used before.  Both
forms write the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from einderive.eops.cpu_kernels.calls.entry import Code
from einderive.eops.result_memory import written
from einderive.eops.timed import fastest, is_timed

Run: TypeAlias = Callable[..., object]


class Forms:
    """Runs the kernel, whose addresses from number `first` up to `last` are those of its results.

    `streaming` gives the other form when it is first needed; with `chosen`, nothing is measured.
    `stream` is the other form where it is the faster one."""

    __slots__ = ("_make", "_results", "_run", "_usual", "stream")

    def __init__(
        self,
        usual: Run,
        streaming: Callable[[], tuple[Code, Run]],
        first: int,
        last: int,
        *,
        chosen: bool = False,
    ) -> None:
        self._usual, self._results = usual, slice(first, last)
        self._make: Callable[[], tuple[Code, Run]] | None = streaming
        self._run = usual
        self.stream: Code | None = None
        if chosen:
            self._choose(*streaming())

    def __call__(self, *integers: int | None) -> object:
        if self._run is self._usual and self._make is None:
            return self._usual(*integers)
        if not all(address is not None and written(address) for address in integers[self._results]):
            return self._usual(*integers)
        if self._make is not None and is_timed():
            code, run = self._make()
            self._make = None
            if fastest(self, lambda: [partial(form, *integers) for form in (self._usual, run)]):
                self._choose(code, run)
        return self._run(*integers)

    def _choose(self, code: Code, run: Run) -> None:
        self.stream, self._run, self._make = code, run, None
