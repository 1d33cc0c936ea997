"""The shapes of a call's operands, as traced code keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import torch

Layout: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""The shapes of tensors, by name."""


def layout_of(given: Mapping[str, Any]) -> Layout:
    """The shapes of the operands that are tensors."""
    return tuple(
        [(name, extents(value)) for name, value in given.items() if isinstance(value, torch.Tensor)]
    )


def extents(tensor: torch.Tensor) -> tuple[int, ...]:
    """The shape in numbers.  In traced code, a symbolic size becomes the number that it has there,
    and torch traces anew where it has another one: `range` asks for a number, `int` does not."""
    return tuple([len(range(extent)) for extent in tensor.shape])
