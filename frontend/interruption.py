"""Ctrl-C during a search: noticed at the next safe place, with the best so far kept."""

from __future__ import annotations

import signal
import threading
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
