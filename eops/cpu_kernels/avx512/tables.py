"""Numbers of tables as sums of two of float64, from logarithms and roots to 40 digits."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Context, Decimal, localcontext
from math import floor
from typing import Final

DIGITS: Final = 40
Pair = tuple[float, float]


def logarithm(x: float, base: float = 0.0) -> Decimal:
    """To this base; to that of e for 0."""
    with localcontext(Context(prec=DIGITS)):
        return Decimal(x).ln() / Decimal(base).ln() if base else Decimal(x).ln()


def of_e(base: float) -> Decimal:
    """The logarithm of e to this base."""
    with localcontext(Context(prec=DIGITS)):
        return 1 / Decimal(base).ln()


def root_of_two(part: int, parts: int) -> Decimal:
    """2^(part/parts)"""
    with localcontext(Context(prec=DIGITS)):
        return Decimal(2) ** (Decimal(part) / parts)


def pair(value: Decimal, grid: float = 0.0) -> Pair:
    """The nearest number and the rest; with `grid`, the largest one below that is whole if it is
    multiplied by that."""
    with localcontext(Context(prec=DIGITS)):
        first = floor(value * Decimal(grid)) / grid if grid else float(value)
        return first, float(value - Decimal(first))


def columns(pairs: Iterable[Pair]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The first numbers, and the second ones."""
    first, second = zip(*pairs, strict=True)
    return first, second
