"""Complex derivatives, by torch's convention: the gradient by z of a real number is its derivative
by the real part of z plus 1j times that by the imaginary part.

    <g, w> = real(conj(g)*w)                       the product in which gradients are gradients
    f with the derivative d:                       tangent d*t,  adjoint conj(d)*g
    conj, real, imag, abs, sign:                   both are data of the function
    adjoint of what is real for all operands:      its real part

Conjugates and real parts are taken inside sums, products and choices, so that masks stay outermost
and factors stay factors.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Final

from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import is_computed_real
from einderive.ta.gradients.derivatives import derivatives
from einderive.ta.gradients.products import ZERO, plus, times
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Add, Apply, Mul, Node, Power, Select
from einderive.ta.ir.subst import fold, with_children
from einderive.ta.notation.parse import parse_expression

X: Final = expr.tensor("x", (), "complex64")
G: Final = expr.tensor("g", (), "complex64")
"""The operand of a function, and the adjoint of its value or the tangent of its operand."""


def adjoints(node: Node, adjoint: Node) -> tuple[Node, ...]:
    """What a node with this adjoint passes back to each of its operands."""
    given = _stated(node, "adjoint")
    if given is not None:
        return (_with(given, node, adjoint),)
    return tuple(times(adjoint, conjugate(each)) for each in derivatives(node))


def tangent(node: Node, parts: tuple[Node, ...]) -> Node:
    """The tangent of a node whose operands have these tangents."""
    given = _stated(node, "tangent")
    if given is not None:
        return _with(given, node, parts[0])
    return plus(*map(times, parts, derivatives(node)))


def conjugate(node: Node) -> Node:
    """The conjugate: conj(a*b) = conj(a)*conj(b), and so for sums, powers and choices."""
    if is_computed_real(node):
        return node
    match node:
        case Add() | Mul():
            join = expr.add if isinstance(node, Add) else expr.mul
            terms = node.terms if isinstance(node, Add) else node.factors
            return join(*map(conjugate, terms))
        case Power():
            return expr.power(conjugate(node.base), node.exponent)
        case Select():
            return expr.select(node.conditions, conjugate(node.then), conjugate(node.otherwise))
        case Apply():
            known = FUNCTIONS[node.function]
            if known.imaginary:
                return expr.mul(expr.const(-1), node)
            if known.picks:
                return expr.apply("choose", node.args[0], *map(conjugate, node.args[1:]))
            if node.function == "conj":
                return node.args[0]
    return expr.apply("conj", node)


def real_part(node: Node) -> Node:
    """The real part: real(a*z) = a*real(z) for a real number a, and so for choices."""
    if is_computed_real(node):
        return node
    match node:
        case Mul():
            real = [factor for factor in node.factors if is_computed_real(factor)]
            rest = [factor for factor in node.factors if not is_computed_real(factor)]
            return expr.mul(*real, _real(expr.mul(*rest)) if real else _real(node))
        case Select():
            return expr.select(node.conditions, real_part(node.then), real_part(node.otherwise))
        case Apply():
            if FUNCTIONS[node.function].picks:
                return expr.apply("choose", node.args[0], *map(real_part, node.args[1:]))
            if node.function == "conj":
                return _real(node.args[0])
    return _real(node)


def _real(node: Node) -> Node:
    return expr.apply("real", node)


def _stated(node: Node, which: str) -> Node | None:
    """The formula that a function of a complex operand has in place of a derivative."""
    if not isinstance(node, Apply) or len(node.args) != 1 or is_computed_real(node.args[0]):
        return None
    text = getattr(FUNCTIONS[node.function], which)
    return _parsed(text) if text else None


@lru_cache
def _parsed(text: str) -> Node:
    return parse_expression(text, {"x": X, "g": G}, iterators=())


def _with(formula: Node, node: Node, g: Node) -> Node:
    """The formula with the operand of the node and g."""
    assert isinstance(node, Apply)
    if g is ZERO:
        return ZERO

    def value(each: Node, parts: tuple[Node, ...]) -> Node:
        match each:
            case Access():
                return node.args[0] if each.source is X else g
            case Mul():
                return reduce(times, parts)
            case Apply(function="conj"):
                return conjugate(parts[0])
            case Apply(function="real"):
                return real_part(parts[0])
        return with_children(each, parts)

    return fold(formula, value)
