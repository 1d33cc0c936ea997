"""Operands of formulas in words: a name, extents in terms of sizes, and which entries it has.

    X (n, d); k (2*n, 3) positive; I (n) below c; t (n) unit ordered; Y (n+1) result

Without a word the entries are normally distributed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, Any]
Sizes: TypeAlias = Mapping[str, int]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Array]
OPERAND = re.compile(r"(\w+) \(([^)]*)\)((?: [\w+*-]+)*)")


def _truth(generator: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Truth values, both of them where there are two."""
    found = generator.random(shape) < 0.6
    found.reshape(-1)[:2] = True, False
    return found


DRAWS: Mapping[str, Draw] = {
    "normal": lambda g, shape: g.standard_normal(shape),
    "positive": lambda g, shape: g.uniform(0.5, 2, shape),
    "unit": lambda g, shape: g.uniform(0.01, 0.99, shape),  # strictly between 0 and 1
    "whole": lambda g, shape: g.integers(-3, 4, shape),  # as floating numbers, with ties
    "truth": _truth,
}
CHANGES: Mapping[str, Callable[[Array], Array]] = {
    "ordered": np.sort,
    "definite": lambda values: values @ values.T,  # symmetric, no eigenvalue is negative
    "looped": lambda values: np.maximum(values, np.eye(len(values))),  # ones on the diagonal
    "low": lambda values: values - 2,
    "high": lambda values: values + 2,
    "wide": lambda values: 3 * values,
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor with extents in terms of the sizes.  Its entries are drawn and changed, or whole
    numbers 0 <= r < below; a result has neither."""

    extents: tuple[str, ...]
    draw: str = ""
    changes: tuple[str, ...] = ()
    below: str = ""

    @property
    def is_result(self) -> bool:
        """Whether it is only the shape of a result that nothing else gives."""
        return not self.draw and not self.below

    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        return tuple(_extent(extent, sizes) for extent in self.extents)

    def values(self, generator: np.random.Generator, sizes: Sizes, dtype: str) -> Array:
        """The entries; floating ones are in the type that is asked for."""
        shape = self.shape(sizes)
        if self.below:
            return generator.integers(0, _extent(self.below, sizes), shape)
        found = DRAWS[self.draw](generator, shape)
        for change in self.changes:
            found = CHANGES[change](found)
        return np.asarray(found).astype("bool" if self.draw == "truth" else dtype)

    def described(self, name: str) -> str:
        """In words: `I (n, m) below v`."""
        kind = f" below {self.below}" if self.below else " (truth values)" * (self.draw == "truth")
        shape = ", ".join(self.extents)
        return (f"{name} ({shape})" if shape else f"a number {name}") + kind


def operands(text: str) -> dict[str, Operand]:
    """The operands by name, as the text lists them."""
    found = dict[str, Operand]()
    for part in text.split("; "):
        match = OPERAND.fullmatch(part)
        assert match is not None, part
        name, extents, words = match[1], match[2].split(", ") if match[2] else (), match[3].split()
        found[name] = _operand(tuple(extents), *words)
    return found


def _operand(extents: tuple[str, ...], draw: str = "normal", *rest: str) -> Operand:
    if draw == "result":
        return Operand(extents)
    if draw == "below":
        return Operand(extents, below=rest[0])
    if draw in CHANGES:
        draw, rest = "normal", (draw, *rest)
    assert draw in DRAWS, draw
    return Operand(extents, draw, rest)


def _extent(extent: str, sizes: Sizes) -> int:
    """The value of an expression of sizes such as `2*n+1`."""
    return int(eval(extent, {}, dict(sizes)))
