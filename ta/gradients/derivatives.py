"""Derivatives of scalar nodes by their operands, from the data of the functions.

    d(a*b)/da = b     d(a^n)/da = n*a^(n-1)     d f(a)/da = f'(a)     d where(c, a, b)/da = (c)

A root of a sum of squares has the derivative 0 where it is 0, as torch's norms have it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from einderive.ta.functions import FUNCTIONS
from einderive.ta.gradients.products import ZERO
from einderive.ta.ir import expr
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope, Select
from einderive.ta.ir.subst import rebuild
from einderive.ta.notation.parse import parse_expression
from einderive.ta.refusals import misgiven

OPERANDS: Final = {name: expr.tensor(name, ()) for name in "xy"}
ONE: Final = expr.const(1)


def derivatives(node: Node) -> tuple[Node, ...]:
    """The derivative of a scalar node by each of its operands (`ta.ir.subst.children`).

    TextError for a function whose derivative has no formula."""
    match node:
        case Add():
            return (ONE,) * len(node.terms)
        case Mul():
            parts = node.factors
            return tuple(
                expr.mul(*parts[:place], *parts[place + 1 :]) for place in range(len(parts))
            )
        case Power():
            less = expr.power(node.base, node.exponent - 1)
            return (expr.mul(expr.const(node.exponent), less),)
        case Select():
            return (
                expr.select(node.conditions, ONE, ZERO),
                expr.select(node.conditions, ZERO, ONE),
            )
        case Apply():
            return _of_function(node)
    return ()


def _of_function(node: Apply) -> tuple[Node, ...]:
    known = FUNCTIONS[node.function]
    if known.truth:
        return (ZERO,) * known.arity
    if known.picks:
        condition = node.args[0]
        return (
            ZERO,
            expr.apply("choose", condition, ONE, ZERO),
            expr.apply("choose", condition, ZERO, ONE),
        )
    if not known.arity:
        return ()
    found = tuple(_with(formula, node.args) for formula in formulas(node.function))
    if node.function == "sqrt" and _of_squares(node.args[0]):
        return (expr.apply("choose", expr.apply("equal", node, ZERO), ZERO, found[0]),)
    return found


@lru_cache
def formulas(function: str) -> tuple[Node, ...]:
    """The derivatives of a function in its operands x and y.  TextError if it has none."""
    texts = FUNCTIONS[function].derivative
    if not texts:
        raise misgiven("no-derivative", name=function)
    return tuple(parse_expression(text, OPERANDS, iterators=()) for text in texts)


def _with(formula: Node, args: tuple[Node, ...]) -> Node:
    """The formula with these operands."""
    given = dict(zip(OPERANDS.values(), args, strict=False))
    return rebuild(
        formula, lambda access: next(given[t] for t in OPERANDS.values() if t is access.source)
    )


def _of_squares(node: Node) -> bool:
    """Whether the node is a square, a sum of squares, or a multiple of one."""
    if isinstance(node, Access) and isinstance(node.source, Scope):
        return node.source.reducer == "sum" and _of_squares(node.source.body)
    if isinstance(node, Add):
        return all(map(_of_squares, node.terms))
    if isinstance(node, Mul):
        return all(isinstance(part, Const) or _of_squares(part) for part in node.factors)
    return isinstance(node, Power) and node.exponent > 0 and not node.exponent % 2
