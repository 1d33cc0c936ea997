"""Mutants of what an emitter writes: the text of a kernel with one thing wrong.

    mask     it is left out; `<` becomes `<=`, `>=` becomes `>`; of two tests joined by `&` one is
             enough
    extent   a number in a test or in a loop's bounds is one off; `min` becomes `max`
    stride   `*` becomes `+`, `//` becomes `%`, and the other way; a product of the emitter's own
             numbers loses a factor, an index is not shifted
    carry    a line is not written; `+` becomes `-`

The templates are changed, and the emitter's own arithmetic: what it writes is then wrong wherever
this place of it writes anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, Final, NamedTuple

Alternatives = Callable[[Any], Iterator[ast.AST]]
Parts = list[ast.expr]
"""Of a template: constants and values in between."""


class Spot(NamedTuple):
    """A place in a function: `parent.field`, or an element of that list."""

    kind: str
    parent: ast.AST
    field: str
    place: int | None
    alternatives: Alternatives


CHANGES: Final = {
    "mask": (
        *((" < ", " <= "), (" <= ", " < "), (" >= ", " > "), (" == ", " >= "), (" & ", " | ")),
        *(("mask=live)", "mask=True)"), ("live & inside", "live"), ("live & inside", "inside")),
    ),
    "extent": (
        *((" + 1", ""), (" - 1", ""), ("(0, ", "(1, ")),
        *(("min(", "max("), ("max(", "min(")),
    ),
    "stride": ((" * ", " + "), (" // ", " % "), (" % ", " // ")),
    "carry": ((" + ", " - "), (" - ", " + ")),
}
BOUND: Final = re.compile(r"(range\(|min\(|max\(| < | <= | >= |, )$")
"""What stands before a number of which one more or less is another extent."""
BOUNDED: Final = re.compile(r"range\(|min\(|max\(| < | <= | >= ")
WRITES: Final = frozenset({"add"})
"""Methods that write their arguments as lines."""


def spots(function: ast.FunctionDef) -> Iterator[Spot]:
    """All in the function, but for its docstring, assertions, and messages of errors."""
    for node in parts_of(function):
        for field, value in ast.iter_fields(node):
            places = enumerate(value) if isinstance(value, list) else [(None, value)]
            for place, item in places:
                for kind, alternatives in _alternatives(node, item):
                    yield Spot(kind, node, field, place, alternatives)


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all in it, but for docstrings, assertions, and messages of errors."""
    yield node
    documented = isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None
    first = node.body[0] if documented else None
    for child in ast.iter_child_nodes(node):
        if child is not first and not isinstance(child, ast.Raise | ast.Assert | ast.arguments):
            yield from parts_of(child)


def _alternatives(parent: ast.AST, item: object) -> Iterator[tuple[str, Alternatives]]:
    if _is_text(item):
        if not isinstance(parent, ast.JoinedStr | ast.Expr):
            for kind in CHANGES:
                yield kind, partial(_changed, kind)
            if isinstance(parent, ast.List | ast.Call) and _is_line(parent, item):
                yield "carry", _nothing
    elif isinstance(item, ast.BinOp) and isinstance(item.op, ast.Mult | ast.Sub):
        one = isinstance(item.right, ast.Constant) and item.right.value == 1
        if not one and not any(_is_text(n) or isinstance(n, ast.List) for n in ast.walk(item)):
            yield "stride", _first
    elif isinstance(item, ast.AugAssign) and isinstance(item.op, ast.Mult):
        yield "stride", _pass
    elif isinstance(item, ast.Call) and ast.unparse(item.func) in ("affine.shift", "affine.add"):
        if ast.unparse(item.func) == "affine.shift" or len(item.args) == 3:
            yield "stride", _without_last
    elif isinstance(item, ast.Expr) and _writes(item.value):
        yield "carry", _pass


def _is_text(item: object) -> bool:
    return isinstance(item, ast.JoinedStr) or (
        isinstance(item, ast.Constant) and isinstance(item.value, str)
    )


def _writes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in WRITES


def _is_line(parent: ast.List | ast.Call, item: object) -> bool:
    """One of several lines: a single one is left out with what writes it."""
    if isinstance(parent, ast.Call) and not (_writes(parent) and len(parent.args) > 1):
        return False
    text = ast.unparse(item) if isinstance(item, ast.AST) else ""
    return " = " in text or "tl.store(" in text or isinstance(parent, ast.Call)


def _changed(kind: str, node: ast.expr) -> Iterator[ast.AST]:
    """The template with one change, at each place where it can be made."""
    parts: Parts = list(node.values) if isinstance(node, ast.JoinedStr) else [node]
    bounded = bool(BOUNDED.search("".join(map(_constant, parts))))
    for place, part in enumerate(parts):
        text = _constant(part)
        for old, new in CHANGES[kind]:
            for found in re.finditer(re.escape(old), text):
                if kind == "carry" and text[found.end() :].startswith("1"):
                    continue  # an extent
                changed = text[: found.start()] + new + text[found.end() :]
                yield _put(parts, place, [ast.Constant(changed)])
        if kind == "extent" and bounded and isinstance(part, ast.FormattedValue):
            before = _constant(parts[place - 1]) if place else ""
            if BOUND.search(before):
                for more in (" + 1)", " - 1)"):
                    beside = [ast.Constant("("), deepcopy(part), ast.Constant(more)]
                    yield _put(parts, place, beside)
        if kind == "mask" and place and _constant(parts[place - 1]).endswith("mask="):
            yield _put(parts, place, [ast.Constant("True")])


def _constant(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""


def _put(parts: Parts, place: int, new: Parts) -> ast.expr:
    made = [*parts[:place], *new, *parts[place + 1 :]]
    return made[0] if len(made) == 1 else ast.JoinedStr(made)


def _nothing(node: ast.expr) -> Iterator[ast.AST]:
    """A line that does nothing."""
    yield ast.Constant("pass")


def _pass(node: ast.AST) -> Iterator[ast.AST]:
    yield ast.Pass()


def _first(node: ast.BinOp) -> Iterator[ast.AST]:
    yield node.left


def _without_last(node: ast.Call) -> Iterator[ast.AST]:
    few = node.args[:-1]
    yield few[0] if len(few) == 1 else ast.Call(node.func, few, node.keywords)
