"""Assumptions about inputs as text: `0 <= A < 1`, `0 ≤ A < 1`, `0 \\leq A < 1`."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from einderive.ta.ir.node import Number
from einderive.ta.ir.program import Assumption, Program
from einderive.ta.printing.marks import number


class Signs(NamedTuple):
    """The signs of comparisons."""

    at_most: str
    at_least: str
    equal: str
    unequal: str


ASCII = Signs("<=", ">=", "==", "!=")
UNICODE = Signs("≤", "≥", "==", "≠")
LATEX = Signs(r"\leq", r"\geq", "=", r"\neq")


def assumption_text(
    assumption: Assumption,
    signs: Signs = ASCII,
    number_text: Callable[[Number], str] = number,
    name: str = "",
) -> str:
    """The comparisons, joined by commas; the parser reads them back as the same assumption."""
    name = name or assumption.tensor
    least, greatest, above, below, nonzero = assumption.bounds
    lower = least > -inf or above
    upper = greatest < inf or below
    low = f"{number_text(least)} {'<' if above else signs.at_most} " if lower else ""
    high = f" {'<' if below else signs.at_most} {number_text(greatest)}" if upper else ""
    found = []
    if least == greatest:
        found.append(f"{name} {signs.equal} {number_text(least)}")
    elif lower and upper:
        found.append(f"{low}{name}{high}")
    elif lower:
        found.append(f"{name} {'>' if above else signs.at_least} {number_text(least)}")
    elif upper:
        found.append(f"{name}{high}")
    if nonzero:
        found.append(f"{name} {signs.unequal} 0")
    return ", ".join(found)


def assumed_line(program: Program, signs: Signs = ASCII) -> str:
    """`assume A > 0, 0 <= B < 1`; empty where nothing is assumed."""
    comparisons = [assumption_text(each, signs) for each in program.assumptions]
    comparisons += [f"{name} {signs.equal} {size}" for name, size in program.sizes.items()]
    return f"assume {', '.join(comparisons)}" if comparisons else ""
