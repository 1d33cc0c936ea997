"""The terminal, by rich: colours and a line of progress, where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from io import StringIO
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from einderive.frontend.text import hanging

WIDTH = 100
LONGEST = 10_000
"""The width of lines that are not to be folded, since programs may read them."""


def console(*, stderr: bool = False) -> Console:
    """Stdout or stderr.  Colours, bold and dim are left out if it is no terminal or if NO_COLOR is
    set (no-color.org)."""
    plain = bool(os.environ.get("NO_COLOR"))
    return Console(stderr=stderr, color_system=None if plain else "auto", highlight=False)


def terminal_width() -> int:
    """The number of the terminal's columns, within limits that are pleasant to read."""
    return max(60, min(120, shutil.get_terminal_size((WIDTH, 24)).columns))


def show(*parts: RenderableType, width: int | None = None) -> None:
    """On stdout, by default as wide as the terminal."""
    print(rendered(parts, width or terminal_width(), console().color_system is not None))


def rendered(parts: Iterable[RenderableType], width: int, colour: bool = False) -> str:
    """The parts one below the other, as text; no line ends in a blank."""
    screen = Console(
        file=StringIO(),
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with screen.capture() as captured:
        screen.print(Group(*parts), crop=False)  # a Group: each part keeps its way to fold
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def indented(text: str, columns: int = 2, style: str = "") -> Padding:
    """A paragraph that begins in a further column."""
    return Padding(Text(text, style), (0, 0, 0, columns))


def formula(text: str, first: str, width: int, style: str = "") -> Text:
    """The formula in lines that break where a formula may."""
    return Text("\n".join(hanging(text, first, width)), style)


def with_heads(
    heads: Sequence[str], words: Collection[str], rows: Iterable[Sequence[RenderableType]]
) -> Table:
    """A table; the columns of `words` are text, all others numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in heads:
        table.add_column(name, justify="left" if name in words else "right")
    for row in rows:
        table.add_row(*row)
    return table


def table_text(
    heads: Sequence[str], words: Collection[str], rows: Iterable[Sequence[RenderableType]]
) -> str:
    """The table as text without colours, as wide as it is."""
    return rendered([with_heads(heads, words, rows)], LONGEST)


def labelled(label: str, text: str) -> Table:
    """A label, and a paragraph at its right."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=10, no_wrap=True)
    table.add_row(Text(f"  {label}", "dim"), Text(text))
    return table


class Progress:
    """One line on stderr, overwritten while something runs and erased at the end.  Nothing is shown
    if stderr is no terminal.

    It is drawn when there is news.  A thread that draws it again and again, as rich has it, would
    disturb what is measured meanwhile.
    """

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
        """Shows the progress of a search."""
        self.show(so_far())

    def write(self, text: str) -> None:
        if self.wanted:
            self._live.update(Text(text, no_wrap=True, overflow="ellipsis"), refresh=True)
