"""Signals that are noticed at the next safe place: Ctrl-C during a search, with the best so far
kept, and a request to terminate while a file is written."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interruption:
    """Ctrl-C while something runs, noted until `check` raises KeyboardInterrupt.

    If the exception were raised at once, it could be lost in the callback of a weak reference,
    where a search spends much of its time.  A second Ctrl-C does not wait.
    """

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
    """Delays SIGTERM, if it would end the process, until the block ends.

    The block should take a moment only.  An exception might be lost: see `Interruption`.
    """
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    asked: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    try:
        yield
    finally:
        _end_on_termination()
        if asked:
            os.kill(os.getpid(), signal.SIGTERM)


def _end_on_termination() -> None:
    """Lets SIGTERM end the process again.

    What arrives meanwhile is blocked and ends it afterwards.  A signal that is caught between the
    last call of the handler and its removal is dropped.
    """
    if sys.platform == "win32":
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # handlers due are called
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
