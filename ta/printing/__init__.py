"""From expressions to text: the notation, LaTeX, and the layout of programs.

Not here: reading text (`ta.notation`), reports (`frontend.report`).
May be imported by every package; `ta.ir` calls it for debugging only.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from einderive.ta.ir.node import PRINTERS


def _later(place: str, name: str) -> Callable[[Any], str]:
    """The printer of that name, which is loaded at its first use: it needs the whole notation."""

    def text(value: Any) -> str:
        found: str = getattr(import_module(f"einderive.ta.printing.{place}"), name)(value)
        return found

    return text


PRINTERS.update(
    expression=_later("show", "show"),
    program=_later("show", "show_program"),
    latex=_later("latex", "latex"),
    html=_later("notebook", "formula_html"),
    assumption=_later("assumed", "assumption_text"),
)
