"""Values that are known before any call: numbers as text, masks, and values of index rows.

1/3                     the divisor 3
where(i <= j, ...)      a mask over (i, j)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import isfinite, isinf

import torch
from torch.nn import functional

from einderive.eops.torch_views.types import real_scalar
from einderive.frontend.baselines.writing.kinds import Kind
from einderive.frontend.baselines.writing.writer import NotWritten
from einderive.ta.exact.fields import RealField, rounded
from einderive.ta.exact.interp import evaluate_at
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Condition, Const, Node, Number


def condition_mask(
    condition: Condition, domain: Sequence[Range], dims: Sequence[int]
) -> torch.Tensor:
    """Whether the condition holds, with a dimension for each of `dims`.  a*x + r >= 0 is compared
    as r >= -a*x for one iterator x: only the result has all its dimensions."""
    row, alone = _apart(condition.row, dims)
    left = torch.as_tensor(over(row, domain, dims))
    right = torch.as_tensor(over(alone, domain, dims)).neg()
    return left >= right if condition.relation == ">=" else left == right


def _apart(row: Row, dims: Sequence[int]) -> tuple[Row, Row]:
    """The row as a sum of two, the second of which is the term of the last of its iterators, if
    there is one outside of its floors."""
    within = {i for inner, _, _ in row.floors for i in affine.iterators(inner)}
    terms = [term for term in row.terms if term[0] not in within]
    last = max(terms, key=lambda term: dims.index(term[0]), default=None)
    if last is None:
        return row, Row(0)
    kept = tuple(term for term in row.terms if term != last)
    return Row(row.const, kept, row.floors), Row(0, (last,))


def over(row: Row, domain: Sequence[Range], dims: Sequence[int]) -> torch.Tensor | int:
    """The row's values, with a dimension for each of `dims`."""

    def value_of(i: int) -> torch.Tensor:
        shape = [-1 if k == i else 1 for k in dims]
        return torch.arange(*domain[i]).reshape(shape)

    found: torch.Tensor | int = affine.evaluate(row, value_of)
    return found


def value_of(node: Node) -> Number:
    """The number that a node without reads is."""
    found = float(evaluate_at(make_scope((), (), node), [[]], {}, RealField())[0])
    if not isfinite(found):
        raise NotWritten("a constant that is no number")
    return Fraction(found)


def divisor(coefficient: Number) -> str | None:
    """The n of a coefficient 1/n that is no short decimal."""
    if isinstance(coefficient, Fraction) and coefficient.numerator == 1 < coefficient.denominator:
        return str(coefficient.denominator)
    return None


def number(value: Number, kind: Kind = Kind.FLOAT) -> str:
    if kind is not Kind.FLOAT and isinstance(value, Fraction):
        return str(value.numerator)
    if isinf(rounded(value)):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 1 << 31:
        return str(value.numerator)
    return repr(real_scalar(value, torch.float64))


@lru_cache(maxsize=256)
def takes_numbers(function: str, place: int) -> bool:
    """Whether torch's function takes a number as this operand."""
    known = FUNCTIONS[function]
    one = torch.ones(1, dtype=torch.int64 if known.digits else None)
    room, _, name = known.torch.partition(".")
    call = getattr({"torch": torch, "F": functional}[room], name, None)
    if call is None:  # a form with parentheses
        return False
    try:
        call(*(one.new_ones(()).item() if k == place else one for k in range(known.arity)))
    except TypeError:
        return False
    return True


def bare(text: str) -> str:
    """Without parentheses around the whole."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            whole = text.startswith("(") and place == len(text) - 1
            return text[1:-1] if whole else text
    return text


def bound_of(node: Apply) -> tuple[Number | None, Node | None]:
    """The number and the other operand of a maximum or minimum."""
    left, right = node.args
    if isinstance(left, Const):
        return left.value, right
    return (right.value, left) if isinstance(right, Const) else (None, None)
