"""One formula from a public source, with what its readers write in NumPy or torch instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional

from einderive.frontend.formulas.lines import line_as_function
from einderive.frontend.formulas.operands import Array, Operand, Sizes

Plain: TypeAlias = Callable[..., Any]
"""The operands in the order of the formula's shapes to the result; a tuple where there are several.
Operands and results are arrays where the formula's `arrays` is true, else torch tensors."""
Shapes: TypeAlias = Mapping[str, tuple[int, ...]]

SIZES = (8, 32, 128, 512, 2048)
LIBRARIES = {"np": np, "torch": torch, "F": functional}


@dataclass(frozen=True, eq=False)
class Formula:
    """`lines` are what a user would write, the usual one first.  `extents` are those to measure at
    by the names of sizes; the first of the sizes names the others.  `given` are sizes that the text
    names.  At the last size operands, results and the temporaries of the lines stay below about
    1 GiB together, and a call of the usual line takes less than about a second on two cores."""

    name: str
    source: str
    text: str
    lines: tuple[str, ...]
    tensors: Mapping[str, Operand]
    extents: Mapping[str, tuple[int, ...]]
    given: tuple[str, ...]
    arrays: bool

    @property
    def line(self) -> str:
        return self.lines[0]

    @property
    def operands(self) -> str:
        """In words."""
        return ", ".join(tensor.described(name) for name, tensor in self.tensors.items())

    @property
    def sizes(self) -> tuple[int, ...]:
        return next(iter(self.extents.values()))

    @cached_property
    def taken(self) -> Mapping[str, Operand]:
        """The tensors but for results, whose shapes nothing else gives."""
        return {name: tensor for name, tensor in self.tensors.items() if not tensor.is_result}

    @cached_property
    def plain(self) -> tuple[Plain, ...]:
        return tuple(line_as_function(line, self.taken, LIBRARIES) for line in self.lines)

    def at(self, n: int) -> Sizes:
        place = self.sizes.index(n)
        return {name: extents[place] for name, extents in self.extents.items()}

    def shapes(self, n: int) -> Shapes:
        """Of the operands."""
        return {name: tensor.shape(self.at(n)) for name, tensor in self.taken.items()}

    def values(self, n: int, dtype: str) -> Mapping[str, Array]:
        """The operands at a size, floating ones in a type."""
        generator = np.random.default_rng(3)
        return {
            name: tensor.values(generator, self.at(n), dtype) for name, tensor in self.taken.items()
        }

    def beside(self, n: int) -> Mapping[str, Any]:
        """What a call states besides the operands: the shapes of results, and sizes that the text
        names."""
        sizes = self.at(n)
        results = {
            name: self.tensors[name].shape(sizes) for name in self.tensors.keys() - self.taken
        }
        return {**results, **{name: sizes[name] for name in self.given}}
