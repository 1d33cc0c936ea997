"""The terminal: whether there is one, colour, a line of progress, and Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TextIO


class Progress:
    """One line on a terminal, overwritten while something runs and erased at the end."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.wanted = stream, is_terminal(stream)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.write("")

    def show(self, so_far: object) -> None:
        self.write(f"searching: {so_far}")

    def watch(self, so_far: Callable[[], object]) -> None:
        """The same for what gives it."""
        self.show(so_far())

    def write(self, text: str) -> None:
        if self.wanted:
            self.stream.write(f"\r{text}\x1b[K")
            self.stream.flush()


def has_colour(stream: TextIO) -> bool:
    """Colour on a terminal only, and not where NO_COLOR is set (no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(stream) and not plain


def is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
