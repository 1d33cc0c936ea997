"""The terminal: whether there is one, colour, a line of progress, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any, TextIO


class Progress:
    """One line on a terminal, overwritten while something runs and erased at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.wanted = stream, is_terminal(stream)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.write("")

    def show(self, graph: Any, expanded: int, waiting: int) -> None:
        self.write(
            f"searching: {len(graph.stages)} expressions, {expanded} expanded, {waiting} waiting"
        )

    def write(self, text: str) -> None:
        if self.wanted:
            self.stream.write(f"\r{text}\x1b[K")
            self.stream.flush()


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


def has_colour(stream: TextIO) -> bool:
    """Colour on a terminal only, and not where NO_COLOR is set (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not plain


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
