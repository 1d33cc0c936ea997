"""Signals that are noticed at the next safe place: Ctrl-C during a search, with the best so far
kept, and a request to terminate while a file is written."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interruption:
    """Ctrl-C while something runs, as a question that `check` answers with KeyboardInterrupt.

    Raised wherever the program happens to be, the exception is lost, with a traceback printed, in
    the callbacks of weak references, where a search spends much of its time.  A second Ctrl-C does
    not wait."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():  # only there may it be caught
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def check(self) -> None:
        if self.asked:
            raise KeyboardInterrupt


@contextmanager
def termination_waits() -> Iterator[None]:
    """SIGTERM, where it ends the process at once, ends it after the block instead, in the same way.

    Only for what takes a moment.  Not as an exception: see `Interruption`."""
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if asked:
            os.kill(os.getpid(), signal.SIGTERM)
