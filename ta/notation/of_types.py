"""Calls whose meaning depends on the types of what they read.

bitwise_and(I[i], 7)      refused, if I may hold other numbers than integers
bitwise_invert(M[i])      -1 - M[i] for integers, M[i] == 0 for bools
real(A[i])                A[i] for real numbers
max[k](Z[k]), Z[i] < 1    refused, if Z is complex: complex numbers have no order
erf(Z[i])                 refused, if Z is complex: it is computed for real numbers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import is_computed_real, may_be_complex
from einderive.ta.given.whole_values import BOOL, NO_INTEGER, whole_kind
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Node, Tensor
from einderive.ta.ir.subst import sources
from einderive.ta.refusals import NotationError, refused
from einderive.ta.syntax.tree import Call, Defined, Span


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
            raise refused("digits-of-no-integer", arg.span, name=call.function)
    if call.function != "bitwise_invert":
        return expr.apply(call.function, *operands)
    (x,), (kind,) = operands, kinds
    if kind == BOOL:
        return expr.apply("equal", x, expr.const(0))
    return expr.subtract(expr.const(-1), x)


class OfRealsError(NotationError):
    """A complex number stands where a real one must; `node` is that operand."""

    def __init__(self, name: str, span: Span, node: Node, *, order: bool) -> None:
        of = [s for s in sources(node) if isinstance(s, Tensor) and s.dtype.startswith("complex")]
        operand = f"{of[0].name}[...]" if of and of[0].shape else of[0].name if of else "..."
        super().__init__(
            f"{name} takes real numbers" + ": complex ones have no order" * order,
            span,
            sizes=f"{of[0].name} is complex" if of else "with 1j in it, the operand is complex",
            next_step=f"take its magnitude, abs({operand}), or a part of it, real({operand}) or "
            f"imag({operand})",
        )
        self.node, self.order = node, order


@contextmanager
def said_of(call: Defined) -> Iterator[None]:
    """A refusal in the formula of a definition speaks of the definition, which the text has in this
    place.  The parts of the formula have the call's span; its operands have their own."""
    try:
        yield
    except OfRealsError as error:
        if error.span != call.span:
            raise
        name = call.definition.name
        raise OfRealsError(name, call.span, error.node, order=error.order) from None


def check_function_operands(function: str, span: Span, operands: list[Node]) -> None:
    """Refuse complex operands of a function of real numbers."""
    known = FUNCTIONS[function]
    if known.ordered or known.of_reals:
        require_reals(known.infix or function, span, *operands, order=known.ordered)


def require_reals(name: str, span: Span, *operands: Node, order: bool = True) -> None:
    """Refuse operands that are computed as complex numbers."""
    for node in operands:
        if not is_computed_real(node):
            raise OfRealsError(name, span, node, order=order)
