"""Calls whose meaning depends on the types of what they read.

bitwise_and(I[i], 7)      refused, if I may hold other numbers than integers
bitwise_invert(M[i])      -1 - M[i] for integers, M[i] == 0 for bools
real(A[i])                A[i] for real numbers
"""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.given.whole_values import BOOL, NO_INTEGER, whole_kind
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Node
from einderive.ta.syntax.tree import Call, NotationError


def of_types(call: Call, operands: Sequence[Node], box: Sequence[Range]) -> Node:
    """A function of digits, or a part of a complex number, of these operands."""
    known = FUNCTIONS[call.function]
    if known.part:
        if known.exact is None or may_be_complex(operands[0]):
            return expr.apply(call.function, *operands)
        return expr.mul(expr.const(known.exact(1)), operands[0])
    kinds = [whole_kind(operand, box) for operand in operands]
    for kind, arg in zip(kinds, call.args, strict=True):
        if kind == NO_INTEGER:
            raise NotationError(
                f"{call.function} takes integers and bools, and this may be no integer",
                arg.span,
                next_step="give the types of the tensors, for example dtypes={'A': 'int64'}",
            )
    if call.function != "bitwise_invert":
        return expr.apply(call.function, *operands)
    (x,), (kind,) = operands, kinds
    if kind == BOOL:
        return expr.apply("equal", x, expr.const(0))
    return expr.subtract(expr.const(-1), x)
