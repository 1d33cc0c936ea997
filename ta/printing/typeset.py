"""Names, numbers, indices and calls as LaTeX mathematics: what texts of nodes and of identities
have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

import sympy

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.node import Number

PLAIN = re.compile(r"[^\W_]+(_[^\W_]+)?")
"""Names that SymPy typesets: a letter or word, and at most one subscript."""


def named(name: str) -> str:
    if PLAIN.fullmatch(name):
        return str(sympy.latex(sympy.Symbol(name)))
    escaped = name.replace("_", r"\_")  # what else a name may hold has no meaning in LaTeX
    return rf"\mathrm{{{escaped}}}"


def numeral(value: Number) -> str:
    if isinstance(value, Fraction):
        return str(sympy.latex(sympy.Rational(value.numerator, value.denominator)))
    return "\\infty" if value > 0 else "-\\infty"


def grouped(text: str) -> str:
    return f"\\left({text}\\right)"


def indexed(source: str, indices: Sequence[str]) -> str:
    if not indices:
        return source
    return (
        f"{{{source}}}_{{{','.join(indices)}}}"
        if "_" in source
        else f"{source}_{{{','.join(indices)}}}"
    )


def applied(function: str, operands: Sequence[str]) -> str:
    """The value of a function of the notation; operands of infix functions come grouped."""
    spelling = FUNCTIONS[function].latex
    return spelling.format(*operands) if "{0}" in spelling else called(spelling, operands)


def called(function: str, operands: Sequence[str]) -> str:
    return function + grouped(",\\, ".join(operands)) if operands else function
