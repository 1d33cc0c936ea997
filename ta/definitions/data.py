"""Definitions as data: one in each file `*.toml` of this folder.

    mean[k](x) = sum[k](x)/size(k)                a reduction: k stands for one or several iterators
    softshrink(x, lambd=0.5) = x - minimum(maximum(x, -lambd), lambd)     with an option
    softmax[k](x) = exp(x - max[k](x))/sum[k](exp(x - max[k](x)))         a tensor over k: `free`
    clip(x, lo, hi) = minimum(maximum(x, lo), hi)                         a function
    max(a, b, ...) = maximum(a, b)                the same for each further operand, from the left

The parser writes the right side out in the place of the left side, so no other code knows
definitions.  An operand is an expression of k.  Below a reducer over k, it is taken at that
reducer's k; elsewhere it is taken at the k outside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_EQUATION = re.compile(r"(\w+)(?:\[(\w+)\])?\((.+?)\) = (.+)", re.DOTALL)
_MORE = "..."


@dataclass(frozen=True)
class Definition:
    """One equation, `name[k](operands, option=value) = formula`."""

    equation: str
    about: str
    """What the word means, in sentences."""
    free: bool = False
    """Whether the value is a tensor over k, as the operand is.  If it is not, k is bound."""
    numpy: str = ""
    """The line of NumPy that computes the same, from the operands, the options and `axis` (a number
    or a tuple)."""
    torch: str = ""
    """The line of torch that computes the same; `F` is `torch.nn.functional`."""

    @cached_property
    def _parts(self) -> tuple[str, str, list[str], str]:
        found = _EQUATION.fullmatch(self.equation)
        if found is None:
            raise ValueError(f"{self.equation!r} is no equation name(operands) = formula")
        name, binder, operands, formula = found.groups()
        return name, binder or "", [each.strip() for each in operands.split(",")], formula

    @property
    def name(self) -> str:
        return self._parts[0]

    @property
    def binder(self) -> str:
        """The name that stands for the iterators in the brackets; empty for a function."""
        return self._parts[1]

    @property
    def head(self) -> str:
        """The left side."""
        return self.equation.partition(" = ")[0]

    @property
    def formula(self) -> str:
        """The right side."""
        return self._parts[3]

    @cached_property
    def operands(self) -> dict[str, str]:
        """The names of operands and options, and the default of each option."""
        pairs = (each.partition("=") for each in self._parts[2] if each != _MORE)
        return {name.strip(): default.strip() for name, _, default in pairs}

    @property
    def folds(self) -> bool:
        """Whether it takes further operands: its left side ends with `...`."""
        return _MORE in self._parts[2]
