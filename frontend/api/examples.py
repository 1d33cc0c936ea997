"""Arrays in place of shapes: `compile(text, A=a)` takes shape, type and device from `a`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import torch

from einderive.frontend.call.operands import FLOATING, exchanged
from einderive.ta.errors import OperandError
from einderive.ta.ir.dtypes import type_name


class Examples(NamedTuple):
    """The information in the examples: `shapes` of all tensors, `dtypes` of those given as arrays,
    and `target`, `cuda` or `cpu`, or None if no array says."""

    shapes: dict[str, Any]
    dtypes: dict[str, str]
    target: str | None


def examples(given: Mapping[str, Any]) -> Examples:
    """Shapes, types and device of the arrays among the values.  Other values are shapes, and stay
    as they are."""
    shapes: dict[str, Any] = {}
    dtypes: dict[str, str] = {}
    devices: dict[str, str] = {}
    for name, value in given.items():
        array = exchanged(value)
        shapes[name] = value
        if isinstance(array, np.ndarray | np.generic | torch.Tensor):
            shapes[name] = tuple(array.shape)
            dtypes[name] = type_name(array)
        if isinstance(array, torch.Tensor):
            devices[name] = array.device.type
    if len({*devices.values()}) > 1:
        places = ", ".join(f"{name} on {device}" for name, device in devices.items())
        raise OperandError(
            "the tensors lie on different devices", sizes=places, next_step="move them to one"
        )
    if devices:
        return Examples(shapes, dtypes, "cpu" if "cpu" in devices.values() else "cuda")
    return Examples(shapes, dtypes, "cpu" if dtypes else None)


def from_values(given: Mapping[str, Any]) -> dict[str, Any]:
    """The operands of one call, with numbers and lists as arrays.  Floating ones are in the
    floating type to which the arrays promote, or in NumPy's own if there are no arrays."""
    arrays = {name: exchanged(value) for name, value in given.items()}
    known = [a for a in arrays.values() if isinstance(a, np.ndarray | torch.Tensor)]
    floats = [getattr(torch, type_name(a)) for a in known if type_name(a) in FLOATING]
    dtype = reduce(torch.promote_types, floats) if floats else None
    tensors = [a for a in known if isinstance(a, torch.Tensor)]

    def converted(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray | torch.Tensor):
            return value
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            array = np.asarray(None)
        if array.dtype.kind not in "biufc":
            raise OperandError(
                f"{name} is not an array of numbers", next_step="pass an array, or rows of numbers"
            )
        tensor = torch.from_numpy(np.array(array))
        if dtype is not None and tensor.is_floating_point():
            tensor = tensor.to(dtype)
        return tensor.to(tensors[0].device) if tensors else tensor.numpy()

    return {name: converted(name, value) for name, value in arrays.items()}
