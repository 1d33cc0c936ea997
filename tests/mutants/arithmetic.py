"""Mutants of what a planner computes: its own arithmetic and its own lists with one thing wrong.

    extent    `min` becomes `max`, `any` becomes `all`, and the other way; a number is one more or
              one less; a quotient is rounded down that is rounded up
    stride    a product loses a factor, `//` becomes `%`, a sign is lost, a row is not shifted
    carry     a sum, a union or an intersection loses a part; what a statement adds is not added; a
              step that would be passed over is taken
    order     what is sorted or reversed stays as it is; a part of a list is the whole; the last
              element becomes the first
    sibling   a return gives what another return of the function gives

Conditions are mutated besides (`tests.mutants.mutate`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import Final

from tests.mutants.texts import Alternatives, Spot, parts_of

PAIRS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
JOINS: Final = (ast.Add, ast.Sub, ast.BitOr, ast.BitAnd)
SHIFTS: Final = ("affine.shift", "affine.add")
Found = Iterator[tuple[str, Alternatives]]


def spots(function: ast.FunctionDef) -> Iterator[Spot]:
    """All in the function, but for its docstring, assertions, and messages of errors."""
    returned = {
        ast.unparse(node.value): node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    }
    others = list(returned.values()) if len(returned) > 1 else []
    around = {part for each in function.decorator_list for part in ast.walk(each)}
    for node in parts_of(function):
        if node in around:
            continue
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "pattern", "decorator_list"):
                continue
            places = enumerate(value) if isinstance(value, list) else [(None, value)]
            for place, item in places:
                for kind, alternatives in _of_expression(item):
                    yield Spot(kind, node, field, place, alternatives)
                if isinstance(item, ast.stmt):
                    for kind, alternatives in _of_statement(item):
                        yield Spot(kind, node, field, place, alternatives)
                if isinstance(node, ast.Return) and isinstance(item, ast.expr) and others:
                    yield Spot("sibling", node, field, place, partial(_another, others))


def _of_expression(item: object) -> Found:
    if isinstance(item, ast.Constant) and type(item.value) is int:
        yield "extent", _beside
    elif isinstance(item, ast.UnaryOp) and isinstance(item.op, ast.USub):
        quotient = isinstance(item.operand, ast.BinOp) and isinstance(item.operand.op, ast.FloorDiv)
        yield ("extent", _rounded_down) if quotient else ("stride", _without_sign)
    elif isinstance(item, ast.BinOp) and isinstance(item.op, ast.Mult | ast.FloorDiv):
        yield "stride", _factor_lost
    elif isinstance(item, ast.BinOp) and isinstance(item.op, JOINS):
        yield "carry", _part_lost
    elif isinstance(item, ast.Call):
        yield from _of_call(item)
    elif isinstance(item, ast.Subscript) and isinstance(item.ctx, ast.Load):
        yield "order", _another_part


def _of_call(item: ast.Call) -> Found:
    name = ast.unparse(item.func)
    if name in PAIRS:
        yield "extent", _other_end
    elif name in ("sorted", "reversed") and item.args:
        yield "order", _as_it_is
    elif name in SHIFTS and (name == SHIFTS[0] or len(item.args) == 3):
        yield "stride", _without_last


def _of_statement(item: ast.stmt) -> Found:
    called = isinstance(item, ast.Expr) and isinstance(item.value, ast.Call)
    if called or isinstance(item, ast.AugAssign | ast.Continue):
        yield "carry", _pass


def _beside(node: ast.Constant) -> Iterator[ast.AST]:
    assert isinstance(node.value, int)
    yield ast.Constant(node.value + 1)
    if node.value > 0:
        yield ast.Constant(node.value - 1)


def _rounded_down(node: ast.UnaryOp) -> Iterator[ast.AST]:
    """-(-a // b) becomes a // b."""
    inner = node.operand
    assert isinstance(inner, ast.BinOp)
    left = inner.left
    if isinstance(left, ast.UnaryOp) and isinstance(left.op, ast.USub):
        yield ast.BinOp(left.operand, inner.op, inner.right)


def _without_sign(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _factor_lost(node: ast.BinOp) -> Iterator[ast.AST]:
    yield node.left
    if isinstance(node.op, ast.FloorDiv):
        yield ast.BinOp(node.left, ast.Mod(), node.right)
    else:
        yield node.right


def _part_lost(node: ast.BinOp) -> Iterator[ast.AST]:
    yield node.left
    if not isinstance(node.op, ast.Sub):
        yield node.right


def _other_end(node: ast.Call) -> Iterator[ast.AST]:
    name = ast.Name(PAIRS[ast.unparse(node.func)], ast.Load())
    yield ast.Call(name, node.args, node.keywords)


def _as_it_is(node: ast.Call) -> Iterator[ast.AST]:
    yield ast.Call(ast.Name("list", ast.Load()), node.args[:1], [])


def _another_part(node: ast.Subscript) -> Iterator[ast.AST]:
    if isinstance(node.slice, ast.Slice):
        yield node.value
    elif ast.unparse(node.slice) == "-1":
        yield ast.Subscript(node.value, ast.Constant(0), node.ctx)


def _without_last(node: ast.Call) -> Iterator[ast.AST]:
    few = node.args[:-1]
    yield few[0] if len(few) == 1 else ast.Call(node.func, few, node.keywords)


def _pass(node: ast.AST) -> Iterator[ast.AST]:
    yield ast.Pass()


def _another(others: list[ast.expr], node: ast.AST) -> Iterator[ast.AST]:
    """What the first of the other returns gives."""
    text = ast.unparse(node)
    yield from [other for other in others if ast.unparse(other) != text][:1]
