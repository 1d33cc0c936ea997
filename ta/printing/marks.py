"""Numbers, index rows and conditions as text.

    h - 4*(h//4)  prints  h%4        i - j - 1 >= 0  prints  i > j

Every text reads back as the same row or number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Number

LONGEST_DECIMAL = 12
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}


def decimal(value: Fraction) -> str | None:
    """A short exact decimal of a fraction that is not negative, or None."""
    scaled = value * 10**LONGEST_DECIMAL
    if scaled.denominator > 1:
        return None
    digits = str(scaled.numerator).rjust(LONGEST_DECIMAL + 1, "0")
    whole, part = digits[:-LONGEST_DECIMAL], digits[-LONGEST_DECIMAL:].rstrip("0")
    return f"{whole}.{part}" if part else whole


def number(value: Number) -> str:
    """`3`, `-1/961`, `0.044715`, `-inf`."""
    if not isinstance(value, Fraction):
        return "inf" if value > 0 else "-inf"
    sign = "-" if value < 0 else ""
    value = abs(value)
    if value.numerator == 1 and value.denominator > 1:
        return f"{sign}1/{value.denominator}"
    return sign + (decimal(value) or f"{value.numerator}/{value.denominator}")


class Modulo(NamedTuple):
    """`copies * (inner % divisor)`."""

    copies: int
    inner: Row
    divisor: int


def gather_modulo(row: Row) -> tuple[Row, list[Modulo]]:
    """The row as a smaller row plus every `e%n` found in it as `e - n*(e//n)`."""
    found: list[Modulo] = []
    position = 0
    while position < len(row.floors):
        inner, n, b = row.floors[position]
        others = row.floors[:position] + row.floors[position + 1 :]
        copies = -(b // n)
        rest = affine.add(Row(row.const, row.terms, others), inner, -copies)
        gone = len(row.terms) + len(others) - len(rest.terms) - len(rest.floors)
        if b % n == 0 and gone == len(inner.terms) + len(inner.floors):
            row, position = rest, 0
            found.append(Modulo(copies, inner, n))
        else:
            position += 1
    return row, found


Part = tuple[int, str]
"""A coefficient and what it multiplies."""


def row_parts(row: Row, names: Sequence[str]) -> tuple[list[Part], int]:
    """The row as a sum of parts and a constant."""
    rest, modulos = gather_modulo(row)
    parts = [(a, names[i]) for i, a in rest.terms]
    parts += [(b, f"{_operand(inner, names)}//{n}") for inner, n, b in rest.floors]
    parts += [(copies, f"{_operand(inner, names)}%{n}") for copies, inner, n in modulos]
    return parts, rest.const


def row_text(row: Row, names: Sequence[str]) -> str:
    """`2*h+r-1`, `(h+1)//4`, `h%4`."""
    return _sum(*row_parts(row, names))


def _operand(row: Row, names: Sequence[str]) -> str:
    text = row_text(row, names)
    return text if text.isidentifier() else f"({text})"


def _sum(parts: Sequence[Part], const: int) -> str:
    """The sum of the parts and a constant, positive parts first."""
    text = ""
    for coefficient, name in sorted(parts, key=lambda part: part[0] < 0):
        size = abs(coefficient)
        sign = "-" if coefficient < 0 else "+" if text else ""
        grouped = f"({name})" if not name.isidentifier() and (size > 1 or sign == "-") else name
        text += sign + (f"{size}*{grouped}" if size > 1 else grouped)
    if const or not text:
        text += f"{const:+d}" if text else str(const)
    return text


def condition_text(condition: Condition, names: Sequence[str], unicode: bool = False) -> str:
    """`i >= j`, `i < 4`, `i == j+1`."""
    parts, const = row_parts(condition.row, names)
    left = [part for part in parts if part[0] > 0]
    right = [(-a, name) for a, name in parts if a < 0]
    sign: str = condition.relation
    if not left:  # c - e >= 0 is e < c+1
        left, right, const = right, [], -const
        if sign == ">=":
            sign, const = "<", const - 1
    elif right and sign == ">=" and const < 0:
        sign, const = ">", const + 1
    if unicode:
        sign = SIGNS.get(sign, sign)
    above, below = (const, 0) if const > 0 and right else (0, -const)
    return f"{_sum(left, above)} {sign} {_sum(right, below)}"
