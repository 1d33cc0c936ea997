"""Operands of `einsum` as arrays of one element type in which it can compute."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from einderive.frontend.einsum.subscripts import show_shapes
from einderive.frontend.masked import is_masked
from einderive.ta.errors import OperandError, shown
from einderive.ta.ir.dtypes import type_name

if TYPE_CHECKING:
    import torch

Arrays: TypeAlias = tuple[Any, ...]
Casting: TypeAlias = Literal["no", "equiv", "safe", "same_kind", "unsafe"]
NUMBERS = "biufcO"
"""Kinds of NumPy's types that einsum computes with."""


def is_torch(operand: object) -> bool:
    """Whether it is a torch tensor.  This does not load torch."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(operand, module.Tensor)


def numpy_operands(operands: Sequence[Any], dtype: Any, casting: Casting) -> Arrays:
    """The operands in the type that all promote to, or `dtype`; raises OperandError."""
    arrays = tuple(_array(number, operand) for number, operand in enumerate(operands))
    if not arrays:
        return arrays
    wanted = np.result_type(*(a.dtype for a in arrays)) if dtype is None else dtype
    for number, array in enumerate(arrays):
        check_cast(f"operand {number}", array.dtype, wanted, casting)
    return tuple(array.astype(wanted, copy=False) for array in arrays)


def _array(number: int, operand: Any) -> Any:
    """The operand as an array of what can be multiplied and added."""
    if is_masked(operand):
        raise OperandError(
            f"operand {number} is a masked array, and masks are not supported",
            next_step=f"pass operand {number} as .filled(0)",
        )
    try:
        array = np.asarray(operand)
    except (TypeError, ValueError):  # rows of different lengths
        raise OperandError(
            f"operand {number} is not an array: its rows have different lengths",
            next_step="pass rows of one length",
        ) from None
    except Exception as problem:  # whatever an object's own conversion raises
        raise OperandError(
            f"operand {number} is no array: {type(problem).__name__} while it was converted",
            next_step="pass an array, or rows of numbers",
        ) from problem
    if array.dtype.kind not in NUMBERS:
        raise OperandError(
            f"operand {number} holds elements of type {array.dtype}, which are not numbers",
            next_step="convert it to a type of numbers",
        )
    return array


def _from_numbers(number: int, operand: Any) -> Any:
    """A tensor of what is neither a tensor nor an array."""
    import torch

    try:
        return torch.from_numpy(np.array(_array(number, operand)))
    except TypeError:  # such as Python's objects
        raise OperandError(
            f"operand {number} holds what is no number of torch: {shown(operand)}",
            next_step="pass a tensor, or rows of numbers",
        ) from None


def check_cast(what: str, old: Any, new: Any, casting: Casting) -> None:
    """Refuse a conversion that NumPy's casting rule does not allow."""
    if not np.can_cast(old, new, casting):
        raise OperandError(
            f"{what} is {old} and does not become {new} under casting='{casting}'",
            next_step="pass casting='unsafe' or a wider dtype",
        )


def torch_operands(operands: Sequence[Any], dtype: Any) -> Arrays:
    """As `numpy_operands`, on the device of the tensors; at least one operand is one."""
    _check_torch(operands, dtype)
    tensors = [*map(is_torch, operands)]
    values = [
        operand if tensor else _from_numbers(number, operand)
        for number, (operand, tensor) in enumerate(zip(operands, tensors, strict=True))
    ]
    common, device = _common_type(values, tensors), values[tensors.index(True)].device
    return tuple(value.to(device=device, dtype=dtype or common) for value in values)


def _check_torch(operands: Sequence[Any], dtype: Any) -> None:
    """Refuses operands that do not go together, and tensors that are not dense."""
    import torch

    for number, operand in enumerate(operands):
        if isinstance(operand, np.ndarray):
            raise OperandError(
                f"operand {number} is a NumPy array, another one a torch tensor",
                sizes=show_shapes([tuple(getattr(item, "shape", ())) for item in operands]),
                next_step=f"pass torch.from_numpy(operand {number}), or all operands as arrays",
            )
    for number, operand in enumerate(operands):
        if not is_torch(operand):
            continue
        step = "pass it dense, for example with .to_dense()"
        if operand.is_nested:
            kind = "nested"
        elif operand.layout is not torch.strided:
            kind = "sparse"
        elif operand.is_quantized:
            kind, step = "quantized", "pass it with .dequantize()"
        else:
            continue
        raise OperandError(f"operand {number} is a {kind} tensor", next_step=step)
    devices = list(dict.fromkeys(str(o.device) for o in operands if is_torch(o)))
    if len(devices) > 1:
        raise OperandError(
            f"the operands are on different devices: {', '.join(devices)}",
            next_step=f"move them to one, for example with .to('{devices[0]}')",
        )
    if not isinstance(dtype, torch.dtype | None):
        raise OperandError(
            f"dtype is {shown(dtype)}, and the operands are torch tensors",
            next_step="pass a torch.dtype",
        )


def _common_type(values: Sequence[torch.Tensor], tensors: Sequence[bool]) -> torch.dtype:
    """The type that the values promote to.  Those that are no tensors do not widen the type within
    its category, as in torch arithmetic."""
    import torch

    try:
        common = reduce(torch.promote_types, (v.dtype for v in compress(values, tensors)))
        for value in compress(values, map(not_, tensors)):
            number = torch.empty((), dtype=value.dtype)
            common = torch.result_type(torch.empty(1, dtype=common), number)
        return common
    except RuntimeError as problem:  # such as 8-bit floats beside others
        types = dict.fromkeys(type_name(v) for v in values)
        raise OperandError(
            f"torch has no common type for {', '.join(types)}",
            next_step="convert the operands to one type, such as float32",
        ) from problem
