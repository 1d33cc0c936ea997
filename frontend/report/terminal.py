"""The terminal, by rich: colours and a line of progress, where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

WIDTH = 100


def console(*, stderr: bool = False) -> Console:
    """Stdout or stderr; without colours, bold and dim where that is no terminal or where NO_COLOR
    is set (no-color.org)."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, color_system=None if plain else "auto", highlight=False)


def has_colour() -> bool:
    """Of stdout."""
    return console().color_system is not None


@dataclass(frozen=True, slots=True)
class Ink:
    """Escape sequences for a terminal, or none."""

    colour: bool

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def dim(self, text: str) -> str:
        return self._in("2", text)

    def good(self, text: str) -> str:
        return self._in("32", text)

    def bad(self, text: str) -> str:
        return self._in("31", text)

    def name(self, text: str) -> str:
        return self._in("36", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text


def ink() -> Ink:
    """For stdout."""
    return Ink(has_colour())


def terminal_width() -> int:
    """The terminal's columns, within what is pleasant to read."""
    return max(60, min(120, shutil.get_terminal_size((WIDTH, 24)).columns))


class Progress:
    """One line on stderr, overwritten while something runs and erased at the end; nothing where
    stderr is no terminal.

    It is drawn when there is news: a thread that draws it again and again, as rich has it, would
    disturb what is measured meanwhile."""

    def __init__(self) -> None:
        screen = console(stderr=True)
        self.wanted = screen.is_terminal and not screen.is_dumb_terminal
        self._live = Live(
            console=screen,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        if self.wanted:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, so_far: object) -> None:
        self.write(f"searching: {so_far}")

    def watch(self, so_far: Callable[[], object]) -> None:
        """The same for what gives it."""
        self.show(so_far())

    def write(self, text: str) -> None:
        if self.wanted:
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
