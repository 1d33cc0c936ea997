"""Two programs over the same tensors, at shapes still to be chosen.

Sizes may be given by symbols, `A=("n", "k")`; then the ranges of the clauses may be stated in them:
`where h in 0:(H-1)//2+1`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from einderive.frontend.api.formula import parse_given
from einderive.frontend.equality.verdict import Counterexample
from einderive.ta.equality.counterexample import Found
from einderive.ta.errors import RangeError, TextError, shown
from einderive.ta.exact.fields import Array
from einderive.ta.exact.interp import input_tensors
from einderive.ta.given.assumptions import both
from einderive.ta.given.shapes import MOST_DIMENSIONS, named, several
from einderive.ta.ir import expr
from einderive.ta.ir.node import ANY, Bounds, Scope, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Program
from einderive.ta.ir.sources import with_tensors
from einderive.ta.notation.parse import tensors_named
from einderive.ta.syntax.layout import joined, without_comments

Sizes: TypeAlias = Mapping[str, int]
"""The value of each symbol."""

_WORD = re.compile(r"[^\W\d]\w*")
_CLAUSE = re.compile(r"\bwhere\b(?!\s*\()([^;\n]*)")
_RANGE = re.compile(r"(\bin\b\s*)([^,:]+):([^,]+)")
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Both programs' outputs, in the order of the left one's names."""

    names: tuple[str, ...]
    left: tuple[Scope, ...]
    right: tuple[Scope, ...]
    others: tuple[str, ...]
    shapes: Mapping[str, tuple[int, ...]]
    programs: tuple[Program, Program]
    """The programs as they were given, whose outputs have element types."""

    @property
    def mismatch(self) -> str:
        """The reason why the outputs cannot be compared position by position.  Empty if they
        can."""
        if len(self.names) != len(self.others):
            return f"{_listed(self.names)} on the left, {_listed(self.others)} on the right"
        for name, x, y in zip(self.names, self.left, self.right, strict=True):
            if x.loops != y.loops:
                return f"{name} is {_box(x)} on the left, {_box(y)} on the right"
        return ""

    def example(
        self, found: Found, data: Mapping[str, Array] | None = None, numbers: str = ""
    ) -> Counterexample:
        """The difference as a counterexample: with the entries, or with random ones."""
        entries = (
            None
            if data is None
            else tuple(
                (tensor, tuple(map(int, at)), values[tuple(at)].item())
                for tensor, values in data.items()
                for at in np.argwhere(values)
            )
        )
        name, point = self.names[found.output], found.point
        both = found.left, found.right
        return Counterexample(self.shapes, name, point, *both, entries, numbers, found.apart)


@dataclass(frozen=True)
class Equation:
    """`lhs = rhs` for tensors of the given shapes, whose sizes are numbers or symbols."""

    lhs: str | Program
    rhs: str | Program
    shapes: Mapping[str, Sequence[int | str]]
    dtypes: Any = "float32"
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    proofs: bool = False
    """Whether laws of functions may be used that have a proof."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """The sizes that are given beside the shapes, `n=5`."""

    def __post_init__(self) -> None:
        shapes = {name: _sizes(name, shape) for name, shape in self.shapes.items()}
        object.__setattr__(self, "shapes", shapes)  # what can be read once is read here
        named(self.ranges, "ranges")
        texts = [side for side in (self.lhs, self.rhs) if isinstance(side, str)]
        used = {word for text in texts for word in _WORD.findall(without_comments(text))}
        types = self.dtypes if isinstance(self.dtypes, Mapping) else {}
        stated = (
            ("shape", self.shapes),
            ("size", self.numbers),
            ("range", self.ranges),
            ("element type", types),
        )
        for what, given in stated:
            for name in given:
                if not isinstance(name, str) or name not in used:
                    raise TextError(
                        f"{'an' if what[0] == 'e' else 'a'} {what} is given for "
                        f"{name if isinstance(name, str) else shown(name)}, "
                        "which neither side uses",
                        text="\n".join(texts),
                        next_step="leave it out" if texts else "programs have their own shapes",
                    )

    @property
    def symbols(self) -> tuple[str, ...]:
        """The sizes that are names, in order."""
        found = (size for shape in self.shapes.values() for size in shape)
        return tuple(dict.fromkeys(size for size in found if isinstance(size, str)))

    @property
    def texts(self) -> str:
        return " ; ".join(str(side) for side in (self.lhs, self.rhs))

    def at(self, shapes: Mapping[str, Sequence[int | str]]) -> Equation:
        return replace(self, shapes=shapes)

    def fixed(self, sizes: Sizes) -> Equation:
        """The equation with the symbols at these sizes, in shapes, bounds of clauses and values."""
        lhs, rhs = (stated(str(side), sizes) for side in (self.lhs, self.rhs))
        shapes = {
            name: tuple(sizes[size] if isinstance(size, str) else size for size in shape)
            for name, shape in self.shapes.items()
        }
        values = tensors_named(lhs)[0] | tensors_named(rhs)[0]
        values -= shapes.keys()
        numbers = {name: size for name, size in sizes.items() if name in values}
        return replace(self, lhs=lhs, rhs=rhs, shapes=shapes, numbers={**self.numbers, **numbers})

    def pair(self) -> Pair:
        """Both programs.  Raises EinderiveError if the parser refuses them or a tensor has two
        shapes."""
        left, right = (self._program(side) for side in (self.lhs, self.rhs))
        inputs = {tensor.name: tensor.shape for tensor in left.inputs}
        for tensor in right.inputs:
            shape = inputs.setdefault(tensor.name, tensor.shape)
            if shape != tensor.shape:
                raise RangeError(
                    f"{tensor.name} has two shapes",
                    sizes=f"{shape} on the left, {tensor.shape} on the right",
                    next_step="parse both programs with the same shapes",
                )
        names = tuple(statement.name for statement in left.outputs)
        others = tuple(statement.name for statement in right.outputs)
        roots = right.roots()
        if sorted(names) == sorted(others):
            roots = tuple(roots[others.index(name)] for name in names)
        one, other = _assumed(left.roots(), roots)
        return Pair(names, one, other, others, inputs, (left, right))

    def _program(self, side: str | Program) -> Program:
        if isinstance(side, Program):
            return side
        if not isinstance(side, str):
            raise TextError(
                f"a formula is a text or a program, not {shown(side)}",
                next_step='write "Y[i] = 2*A[i]"',
            )
        words = set(_WORD.findall(without_comments(side)))
        types = self.dtypes
        if isinstance(types, Mapping):
            types = {name: dtype for name, dtype in types.items() if name in words}
        ranges = {name: bound for name, bound in self.ranges.items() if name in words}
        given = {**self.shapes, **self.numbers}
        used = {name: given[name] for name in given if name in words}
        return parse_given(side, used, types, ranges)


def _assumed(*sides: tuple[Scope, ...]) -> Iterator[tuple[Scope, ...]]:
    """Both sides with the assumptions of both about a tensor's entries."""
    found: dict[str, Bounds] = {}
    for tensor in input_tensors(*sides[0], *sides[1]):
        found[tensor.name] = both(found.get(tensor.name, ANY), tensor.bounds)

    def target(tensor: Tensor) -> Tensor:
        if not is_input(tensor):
            return tensor
        return expr.tensor(tensor.name, tensor.shape, tensor.dtype, found[tensor.name])

    free = all(bounds == ANY for bounds in found.values())
    for side in sides:
        yield side if free else tuple(with_tensors(root, target) for root in side)


def _sizes(name: str, shape: object) -> tuple[Any, ...]:
    """The sizes of a shape: names, and what the parser takes for numbers or refuses."""
    found = several(shape, MOST_DIMENSIONS)
    if found is None:
        raise RangeError(
            f"the shape of {name} is no sequence of sizes but {shown(shape)}",
            next_step=f"write {name}=(4, 3), or {name}=(4,) for one dimension",
        )
    for size in found:
        if isinstance(size, str) and not _WORD.fullmatch(size):
            raise RangeError(
                f"the shape of {name} has a size {size!r:.40}, which is no name",
                next_step=f"write a number, or a name as in {name}=('n', 3)",
            )
    return found


def stated(text: str, sizes: Sizes) -> str:
    """The text with the symbols in the bounds of its clauses replaced: `0:H-2` by `0:5`."""

    def bound(written: str) -> str:
        if not _WORD.search(written):
            return written
        try:
            return str(_value(ast.parse(written.strip(), mode="eval").body, sizes))
        except (SyntaxError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError):
            raise RangeError(
                f"the bound {written.strip()} of a range cannot be computed",
                text=text,
                next_step=f"use whole numbers, + - * // % and {', '.join(sizes)}",
            ) from None

    def ranges(clause: re.Match[str]) -> str:
        return _RANGE.sub(lambda m: f"{m[1]}{bound(m[2])}:{bound(m[3])}", clause[0])

    return _CLAUSE.sub(ranges, joined(text))


def _value(node: ast.expr, sizes: Sizes) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=op, right=right):
            return int(_OPERATIONS[type(op)](_value(left, sizes), _value(right, sizes)))
    raise TypeError


def _listed(names: tuple[str, ...]) -> str:
    plural = "output" if len(names) == 1 else "outputs"
    return f"{len(names)} {plural} ({', '.join(names)})"


def _box(scope: Scope) -> str:
    sides = [str(r.hi) if r.lo == 0 else f"{r.lo}:{r.hi}" for r in scope.loops]
    return f"of size {' x '.join(sides)}" if sides else "a scalar"
