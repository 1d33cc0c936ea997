"""The layouts of a call's operands, as traced code keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import torch

Layout: TypeAlias = tuple[tuple[tuple[int, ...], torch.dtype, str], ...]
"""Shape, element type and kind of device of each operand, in the formula's order."""


def layout_of(operands: Sequence[torch.Tensor]) -> Layout:
    return tuple([(extents(each), each.dtype, each.device.type) for each in operands])


def extents(tensor: torch.Tensor) -> tuple[int, ...]:
    """The shape in numbers.  In traced code, a symbolic size becomes the number that it has there,
    and torch traces anew where it has another one: `range` asks for a number, `int` does not."""
    return tuple([len(range(extent)) for extent in tensor.shape])
