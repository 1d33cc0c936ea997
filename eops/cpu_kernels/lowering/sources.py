"""Functions of Python as syntax trees, with what their names mean."""

from __future__ import annotations

import ast
import builtins
import linecache
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from numba.core.compiler_lock import global_compiler_lock

from einderive.eops.cpu_kernels.avx512.registers import has_vectors
from einderive.eops.cpu_kernels.lowering.values import Unknown
from einderive.eops.loops.drafts.values import WRITTEN_OUT


class Source(NamedTuple):
    """A function: its syntax, and the values of the names that it does not assign."""

    tree: ast.FunctionDef
    space: Mapping[str, Any]


def source_of(function: Callable[..., Any]) -> Source:
    """That of a function in a file, or of one that was made of the text in its `text`."""
    code, text = function.__code__, getattr(function, "text", None)
    known = _functions(code.co_filename) if text is None else _in_text(text)
    found = known.get((code.co_name, code.co_firstlineno))
    if found is None:
        raise Unknown(f"the source of {code.co_name}")
    cells = function.__closure__ or ()
    closed = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}
    return Source(found, {**vars(builtins), **function.__globals__, **closed})


@cache
def _functions(filename: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line, decorators included."""
    return _in_text("".join(linecache.getlines(filename)))


@lru_cache(maxsize=512)
def _in_text(text: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """Those of a text."""
    with global_compiler_lock:  # as in `compiling.written`
        trees = ast.walk(ast.parse(text))
    functions = [tree for tree in trees if isinstance(tree, ast.FunctionDef)]
    return {
        (tree.name, min([tree.lineno, *(each.lineno for each in tree.decorator_list)])): tree
        for tree in functions
    }


PLAIN: Final = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.UnaryOp,
    ast.IfExp,
    ast.BoolOp,
    ast.expr_context,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)
"""Kinds of syntax that can be evaluated where they may not be needed."""
CHEAP: Final = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def plain(text: ast.expr) -> bool:
    """Whether the expression can be evaluated where it may not be needed: it divides by nothing,
    reads no memory, and takes no time."""
    return all(isinstance(node, (*PLAIN, *CHEAP, ast.BinOp)) for node in ast.walk(text))


LEAST_SHORT: Final = 16
"""This many steps fill a vector."""
MOST_SHORT: Final = 128
"""LLVM writes out loops of at most about this many steps."""


def is_short(start: ast.expr, stop: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """Whether LLVM may write out the innermost loop before it vectorises loops.  Functions on whole
    vectors would then be called for each number."""
    match start, stop:
        case ast.Constant(value=int(low)), ast.Constant(value=int(high)):
            return LEAST_SHORT <= high - low <= MOST_SHORT and not _is_nested(body)
    return False


def is_written_out(start: ast.expr, stop: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """Whether the loop, with those inside it, has so few steps that vectors are filled by the loop
    around it: 16 rows of 10 numbers are 10 vectors."""
    return 1 < _steps(start, stop, body) < WRITTEN_OUT


LEAST_MASKED, MASKED_TOTALS = 9, 13
"""Rows of so many elements fill most of a vector: of one pass whose results are elements, and of
several passes with totals, which take steps across the vector."""
BATCH: Final = "row"
"""The name of a batch's first row."""
FREE_OF_FUNCTIONS: Final = frozenset(
    {"load", "store", "float32", "float64", "sum_in_any_order", "range"}
)


def in_masks(start: ast.expr, body: Sequence[ast.stmt]) -> bool:
    """Whether each row, of which this is the loop's body, is rather one vector with a mask than
    written out: it has nearly as many elements as a vector, which are stored, and no functions.
    Shuffles would take longer than the vector's empty places.  Of rows in batches that was found
    before (`loops.batches`)."""
    loops = [line for line in body if isinstance(line, ast.For)]
    rest = [line for line in body if line not in loops]
    if not loops or not has_vectors() or _is_nested(rest):
        return False
    if isinstance(start, ast.Name) and start.id == BATCH:
        return all(1 < _steps_of(loop) < WRITTEN_OUT for loop in loops)
    least = LEAST_MASKED if len(loops) <= 2 else MASKED_TOTALS
    if not all(least <= _steps_of(loop) < WRITTEN_OUT for loop in loops):
        return False
    if any(_is_nested(loop.body) for loop in loops):
        return False
    calls = [n.func for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Call)]
    names = {call.id for call in calls if isinstance(call, ast.Name)}
    return "store" in names and names <= FREE_OF_FUNCTIONS


def _steps(start: ast.expr, stop: ast.expr, body: Sequence[ast.stmt]) -> float:
    """The steps of the loop with those inside it, infinite where they are not all in the text."""
    match start, stop:
        case ast.Constant(value=int(low)), ast.Constant(value=int(high)):
            inside = [line for line in body if isinstance(line, ast.For)]
            if _is_nested([line for line in body if line not in inside]):
                return math.inf
            return (high - low) * max((_steps_of(line) for line in inside), default=1)
    return math.inf


def _steps_of(loop: ast.For) -> float:
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
            return _steps(start, stop, loop.body)
    return math.inf


def in_blocks(step: int, body: Sequence[ast.stmt]) -> bool:
    """Whether each step is a block of an inner loop.  If the blocks of a row of 2,000 were written
    out, its reads would be one stretch of code, in another order than memory's: sums of products
    of two operands of 64 MB would take 1.2 to 1.5 times as long."""
    return step > 1 and _is_nested(body)


def _is_nested(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.For) for line in body for node in ast.walk(line))


@cache
def names_on_stack(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that a loop or a branch assigns, and that are assigned or read elsewhere too: their
    value depends on the way that was taken."""
    found: set[str] = set()
    known = [{argument.arg for argument in tree.args.args}]
    assigned = {node.id for node in _names(tree) if isinstance(node.ctx, ast.Store)}

    def read(text: ast.AST) -> None:
        for node in _names(text):
            if node.id in assigned and not any(node.id in names for names in known):
                found.add(node.id)

    def store(text: ast.AST) -> None:
        for node in _names(text):
            if any(node.id in names for names in known[:-1]):
                found.add(node.id)
            known[-1].add(node.id)

    def inner(lines: Sequence[ast.stmt], *targets: ast.AST) -> None:
        known.append(set())
        for target in targets:
            store(target)
        block(lines)
        known.pop()

    def block(lines: Sequence[ast.stmt]) -> None:
        for line in lines:
            match line:
                case ast.For(target=target, iter=iterable, body=body):
                    read(iterable)
                    inner(body, target)
                case ast.If(test=test, body=body, orelse=rest):
                    read(test)
                    inner(body)
                    inner(rest)
                case ast.Assign(targets=targets, value=value):
                    read(value)
                    for target in targets:
                        store(target)
                case ast.AugAssign(target=target, value=value):
                    read(value)
                    store(target)
                case _:
                    read(line)

    block(tree.body)
    return frozenset(found)


def _names(text: ast.AST) -> list[ast.Name]:
    return [node for node in ast.walk(text) if isinstance(node, ast.Name)]
