"""Expressions that stand in for a condition: weaker ones, stronger ones.

    more(c)     holds wherever c does, and elsewhere too: what a check that accepts becomes
    less(c)     holds at most where c does: what a check that refuses becomes
    either(c)   both: for a choice, of which it is not known what is the careful side

`A and B` is weakened to A, to B and to what A and B are weakened to, `a < b` to `a <= b`,
`all(...)` to what its elements are weakened to, and so on; `not` changes sides.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy

Alternatives = Callable[[ast.expr], Iterator[ast.expr]]

TRUE, FALSE = ast.Constant(True), ast.Constant(False)
_MORE: dict[type[ast.cmpop], tuple[type[ast.cmpop], int]] = {
    ast.Lt: (ast.LtE, 0),
    ast.Gt: (ast.GtE, 0),
    ast.LtE: (ast.LtE, 1),
    ast.GtE: (ast.GtE, -1),
}
_LESS: dict[type[ast.cmpop], tuple[type[ast.cmpop], int]] = {
    ast.LtE: (ast.Lt, 0),
    ast.GtE: (ast.Gt, 0),
    ast.Lt: (ast.Lt, -1),
    ast.Gt: (ast.Gt, 1),
}
"""An order with its bound as it is relaxed or tightened by one integer."""


def more(node: ast.expr) -> Iterator[ast.expr]:
    yield TRUE
    yield from _within(node, more=True)


def less(node: ast.expr) -> Iterator[ast.expr]:
    yield FALSE
    yield from _within(node, more=False)


def either(node: ast.expr) -> Iterator[ast.expr]:
    yield from more(node)
    yield from less(node)


def _within(node: ast.expr, *, more: bool) -> Iterator[ast.expr]:
    """The alternatives other than the constant."""
    if isinstance(node, ast.BoolOp):
        drops = isinstance(node.op, ast.And) is more
        for place, operand in enumerate(node.values):
            others = [*node.values[:place], *node.values[place + 1 :]]
            if drops:
                yield others[0] if len(others) == 1 else ast.BoolOp(node.op, others)
            for new in _within(operand, more=more):
                yield ast.BoolOp(node.op, [*node.values[:place], new, *node.values[place + 1 :]])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        for new in _within(node.operand, more=not more):
            yield ast.UnaryOp(ast.Not(), new)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node, more=more)
    else:
        yield from _quantified(node, more=more)


def _comparison(node: ast.Compare, *, more: bool) -> Iterator[ast.expr]:
    """A bound moved by one; of a chain, each link left out."""
    for place, op in enumerate(node.ops):
        if type(op) in _MORE:
            changed, step = (_MORE if more else _LESS)[type(op)]
            new = deepcopy(node)
            new.ops[place] = changed()
            new.comparators[place] = shifted(node.comparators[place], step)
            yield new
    if more and len(node.ops) > 1:
        sides = [node.left, *node.comparators]
        for left_out in range(len(node.ops)):
            links = [
                ast.Compare(sides[k], [op], [sides[k + 1]])
                for k, op in enumerate(node.ops)
                if k != left_out
            ]
            yield links[0] if len(links) == 1 else ast.BoolOp(ast.And(), list(links))


def shifted(node: ast.expr, step: int) -> ast.expr:
    if not step:
        return node
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))


def _quantified(node: ast.expr, *, more: bool) -> Iterator[ast.expr]:
    """The elements weakened; for `all`, an element more or less is the other way round."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("any", "all"):
        return
    found = node.args[0]
    if not isinstance(found, ast.GeneratorExp):
        return
    for new in _within(found.elt, more=more):
        yield _with(node, ast.GeneratorExp(new, found.generators))
    wider = more is (ast.unparse(node.func) == "any")
    for place, generator in enumerate(found.generators):
        for number, condition in enumerate(generator.ifs):
            for new in (TRUE if wider else FALSE, *_within(condition, more=wider)):
                changed = deepcopy(found)
                changed.generators[place].ifs[number] = new
                yield _with(node, changed)


def _with(node: ast.Call, argument: ast.expr) -> ast.Call:
    return ast.Call(node.func, [argument, *node.args[1:]], node.keywords)
