"""A kernel with usual stores and with streaming stores: which one runs, as measured where it runs.

Whether stores past the caches take less time depends on the size of the last cache, on what else
lies in it, and on the processor.  Both forms write the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from einderive.eops.cpu_kernels.calls.entry import Code
from einderive.eops.timed import fastest, is_timed

Run: TypeAlias = Callable[..., object]


class Forms:
    """Runs the kernel.  `code` is the form that runs: the usual one, until a call that may be timed
    has compared both."""

    __slots__ = ("_enter", "_run", "_streaming", "code")

    def __init__(
        self, usual: Code, streaming: Callable[[], Code], enter: Callable[[Code], Run]
    ) -> None:
        self.code, self._enter, self._run = usual, enter, enter(usual)
        self._streaming: Callable[[], Code] | None = streaming

    def __call__(self, *integers: int | None) -> object:
        if self._streaming is not None and is_timed():
            self._decide(self._streaming(), integers)
        return self._run(*integers)

    def _decide(self, code: Code, integers: tuple[int | None, ...]) -> None:
        runs = self._run, self._enter(code)
        self._streaming = None
        if fastest(self, lambda: [partial(run, *integers) for run in runs]):
            self.code, self._run = code, runs[1]
