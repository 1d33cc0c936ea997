"""Formulas as a user would first write them, each beside one line of NumPy or torch.

    written("column means", "NumPy documentation, numpy.mean",
            "M[j] = mean[i](X[i,j])", "X.mean(axis=0)",
            X=real("n", "d"), n=(7, 4096), d=(3, 256))

A keyword is an operand, the shape of a result, or the extents of a size: a tiny one for tests, and
a full one for measurements.  `given` names the sizes that the text itself names.  The line may have
several lines of Python; the last one is the result.  It is given torch tensors if it mentions
`torch.` or `F.`, and arrays otherwise."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from einderive.frontend.formulas.entry import Formula, Plain, Shapes

Array: TypeAlias = np.ndarray[Any, Any]
Extent: TypeAlias = int | str
Sizes: TypeAlias = Mapping[str, int]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Array]


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor with extents in terms of the sizes.  Its entries are drawn, or whole numbers
    0 <= r < below; a result has neither."""

    extents: tuple[Extent, ...]
    draw: Draw | None = None
    below: Extent = 0
    dtype: str = ""
    """The type of all entries; floating ones are in the type that is asked for."""

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(_extent(extent, sizes) for extent in self.extents)

    def values(self, generator: np.random.Generator, sizes: Sizes, dtype: str) -> Array:
        shape = self.shape(sizes)
        if self.draw is None:
            return generator.integers(0, _extent(self.below, sizes), shape)
        return np.asarray(self.draw(generator, shape)).astype(self.dtype or dtype)

    def described(self, name: str) -> str:
        """In words: `I (n, m) below v`."""
        kind = f" below {self.below}" if self.below else " (truth values)" * (self.dtype == "bool")
        shape = ", ".join(map(str, self.extents))
        return (f"{name} ({shape})" if shape else f"a number {name}") + kind

    def then(self, change: Callable[[Array], Array]) -> Operand:
        """The same with changed entries."""
        draw = self.draw
        assert draw is not None
        return Operand(self.extents, lambda g, shape: change(draw(g, shape)), 0, self.dtype)


def real(*extents: Extent, shift: float = 0.0, scale: float = 1.0) -> Operand:
    """Normally distributed numbers."""
    return Operand(extents, lambda g, shape: shift + scale * g.standard_normal(shape))


def positive(*extents: Extent) -> Operand:
    """Numbers from 0.5 to 2."""
    return Operand(extents, lambda g, shape: g.uniform(0.5, 2, shape))


def unit(*extents: Extent) -> Operand:
    """Numbers strictly between 0 and 1."""
    return Operand(extents, lambda g, shape: g.uniform(0.01, 0.99, shape))


def whole(*extents: Extent) -> Operand:
    """Small whole numbers as floating ones, with ties."""
    return Operand(extents, lambda g, shape: g.integers(-3, 4, shape))


def truth(*extents: Extent) -> Operand:
    """Truth values, both of them where there are two."""

    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
        found = generator.random(shape) < 0.6
        found.reshape(-1)[:2] = True, False
        return found

    return Operand(extents, draw, dtype="bool")


def index(*extents: Extent, below: Extent) -> Operand:
    """Whole numbers 0 <= r < below."""
    return Operand(extents, below=below)


def result(*extents: Extent) -> Operand:
    """The shape of a result that nothing else gives."""
    return Operand(extents)


def ordered(values: Array) -> Array:
    return np.sort(values)


def definite(values: Array) -> Array:
    """A symmetric matrix without negative eigenvalues."""
    return values @ values.T


def looped(values: Array) -> Array:
    """A matrix with ones on its diagonal."""
    return np.maximum(values, np.eye(len(values)))


def written(
    name: str,
    source: str,
    text: str,
    line: str,
    *,
    given: str = "",
    **described: Operand | tuple[int, int],
) -> Formula:
    """The formula at its tiny and at its full size, which are named by the first of its sizes."""
    tensors = {name: of for name, of in described.items() if isinstance(of, Operand)}
    operands = {name: of for name, of in tensors.items() if of.draw or of.below}
    extents = {name: of for name, of in described.items() if isinstance(of, tuple)}
    sizes = next(iter(extents.values()))

    def at(n: int) -> Sizes:
        return {name: of[n == sizes[1]] for name, of in extents.items()}

    def shapes(n: int) -> Shapes:
        return {name: of.shape(at(n)) for name, of in operands.items()}

    def values(n: int, dtype: str) -> Mapping[str, Array]:
        generator = np.random.default_rng(3)
        return {name: of.values(generator, at(n), dtype) for name, of in operands.items()}

    def beside(n: int) -> Mapping[str, Any]:
        results = {name: of.shape(at(n)) for name, of in tensors.items() if name not in operands}
        return {**results, **{name: at(n)[name] for name in given.split()}}

    text, line = cleandoc(text), cleandoc(line)
    arrays = "torch." not in line and "F." not in line
    return Formula(
        name,
        source,
        lambda n: text,
        shapes,
        (_plain(line, tuple(operands)),),
        sizes,
        values,
        beside,
        line,
        ", ".join(of.described(name) for name, of in tensors.items()),
        arrays,
    )


def _plain(line: str, names: tuple[str, ...]) -> Plain:
    """The function of the operands that returns the value of the last statement."""
    body = ast.parse(line).body
    last = body[-1]
    assert isinstance(last, ast.Expr)
    before = compile(ast.Module(body[:-1], []), "<line>", "exec")
    value = compile(ast.Expression(last.value), "<line>", "eval")

    def plain(*operands: Any) -> Any:
        scope = {
            "np": np,
            "torch": torch,
            "F": functional,
            **dict(zip(names, operands, strict=True)),
        }
        exec(before, scope)
        return eval(value, scope)

    return plain


def _extent(extent: Extent, sizes: Sizes) -> int:
    """Its value: a number, a size, or an expression of sizes such as `2*n+1`."""
    return extent if isinstance(extent, int) else int(eval(extent, {}, dict(sizes)))
