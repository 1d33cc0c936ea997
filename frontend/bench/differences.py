"""Formulas that subtract what may be nearly equal, each with the lines that one writes in torch.

The list of `einderive bench digits`, in `differences.toml`.  `data` are the tensors that have an
offset or lie in clusters; all others (weights, metrics, projections) are normal numbers.  The plain
lines of a formula take its tensors in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from torch import Tensor

from einderive.frontend.bench.suite import one_line
from einderive.frontend.formulas.entry import LIBRARIES
from einderive.frontend.formulas.lines import line_as_function
from einderive.ta.listing import beside


@dataclass(frozen=True, slots=True)
class Difference:
    """A formula, the shapes of its tensors, the ones with hard data, and its plain torch lines."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    data: tuple[str, ...]
    plain: Callable[..., Tensor]

    @classmethod
    def read(cls, name: str, entry: dict[str, Any]) -> Self:
        """The formula of an entry of the file."""
        plain = line_as_function(entry["plain"], entry["shapes"], LIBRARIES)
        return cls(name, one_line(entry["text"]), entry["shapes"], entry["data"], plain)


DIFFERENCES = tuple(Difference.read(name, entry) for name, entry in beside(__name__).items())
