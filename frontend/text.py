"""Figures and long formulas as text: the small pieces that every page for a reader uses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import isfinite
from time import localtime, strftime

from einderive.ta.ir.node import Tensor

LONGEST = 480
"""A longer statement is shown without its middle."""


def capitalised(text: str) -> str:
    """The text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def duration(seconds: float) -> str:
    """`12.3 us`, `4.56 ms`, `1.23 s`; `-` if nothing was measured."""
    if not isfinite(seconds):
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{figure(seconds / size)} {unit}"
    return f"{figure(seconds * 1e6)} us" if seconds else "0"


def minute(then: float) -> str:
    """`2026-11-23 14:50`, in this machine's time zone, of seconds since 1970."""
    return strftime("%Y-%m-%d %H:%M", localtime(then))


def figure(value: float) -> str:
    """Three significant digits without an exponent: `0.0123`, `4.56`, `123`, `45678`."""
    if not isfinite(value):
        return "-"
    return f"{value:.0f}" if value >= 99.95 else f"{value:#.3g}" if value >= 1e-3 else "0"


def shape(extents: Sequence[int | str]) -> str:
    """`1 x 512 x 7 x 7`, or `n x 64`; a tensor without dimensions is a scalar."""
    return " x ".join(map(str, extents)) if extents else "scalar"


def tensors(found: Sequence[Tensor]) -> str:
    """`A 64 x 32, x 32; float32`, the element type once where all share it."""
    types = {tensor.dtype for tensor in found}
    if len(types) == 1:
        return ", ".join(f"{t.name} {shape(t.shape)}" for t in found) + f"; {types.pop()}"
    return ", ".join(f"{t.name} {shape(t.shape)} {t.dtype}" for t in found)


KERNEL = "generated kernel"
"""What a reader is told of a stage that no known operator computes, an eOperator."""


def operators(names: Sequence[str]) -> str:
    """`2 matmul, elementwise`: runs of one operator counted."""
    told = [name.replace("eOperator", KERNEL) for name in names]
    runs = ((name, len(list(group))) for name, group in groupby(told))
    return ", ".join(
        name if count == 1 else f"{count} {name.replace(KERNEL, f'{KERNEL}s')}"
        for name, count in runs
    )


def counted(count: int, noun: str) -> str:
    """`1 step`, `4 steps`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + f" and {parts[-1]}"


def hanging(formula: str, first: str, width: int) -> list[str]:
    """The formula in lines of at most `width`: `first` stands before it, further lines are
    indented four deeper.  A very long one loses its middle."""
    if len(formula) > LONGEST:
        formula = f"{formula[: LONGEST // 2]} ... {formula[-LONGEST // 2 :]}"
    rest = " " * (len(first) + 4)
    lines = [first]
    for piece in _pieces(formula):
        if lines[-1] not in (first, rest) and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append(rest)
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _pieces(formula: str) -> list[str]:
    """The pieces between which a formula may break: at blanks except inside `k in 0:3`, before a
    `*` outside of brackets, and after a comma inside of long ones."""
    pieces, depth = [""], 0
    for position, letter in enumerate(formula):
        depth += (letter in "[{(") - (letter in "]})")
        ahead, behind = formula[position:], formula[:position]
        inside_range = ahead.startswith("in ") or behind.endswith(" in ")
        if (behind.endswith(" ") and not inside_range) or (letter == "*" and depth == 0):
            pieces.append("")
        pieces[-1] += letter
        if letter == "," and depth and len(pieces[-1]) > LONGEST // 8:
            pieces.append("")
    return pieces
