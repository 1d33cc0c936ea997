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
        [
            (name, tuple([int(extent) for extent in value.shape]))
            for name, value in given.items()
            if isinstance(value, torch.Tensor)
        ]
    )
