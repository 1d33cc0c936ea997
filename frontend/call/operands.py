"""The operands of a call of a compiled function, checked against its formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, NoReturn

import numpy as np
import torch
import torch.utils.dlpack
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad

from einderive.frontend.call.guard import transformation
from einderive.frontend.masked import is_masked
from einderive.frontend.text import shape
from einderive.ta.errors import OperandError
from einderive.ta.ir.dtypes import DTYPES, type_name
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

FLOATING = frozenset(name for name in DTYPES if name.startswith(("float", "bfloat")))
ON_GPU = (2, 10)
"""DLPack's numbers of CUDA and ROCm."""
KINDS = "biufc"
"""Kinds of NumPy types, each converted to any later one without loss of meaning."""


def bind(
    program: Program,
    args: Sequence[Any],
    named: Mapping[str, Any],
    device: str,
    *,
    differentiable: bool = False,
) -> tuple[dict[Tensor, torch.Tensor], bool]:
    """Operands by tensor, checked; and whether the results are to be NumPy arrays.
    `differentiable`: they may require gradients, have tangents, or stand for a batch."""
    given = arranged(program, args, named)
    kinds = {_kind(value): name for name, value in given.items()}
    if "torch" in kinds and "numpy" in kinds:
        _refuse(
            program,
            f"{kinds['numpy']} is a NumPy array, {kinds['torch']} a torch tensor",
            f"pass torch.from_numpy({kinds['numpy']}), or all operands as arrays",
            kinds["numpy"],
        )
    found = {t: _operand(program, t, given[t.name], device) for t in program.inputs}
    if not differentiable:
        for tensor, operand in found.items():
            _refuse_derivatives(program, tensor.name, operand)
    return found, "torch" not in kinds


def traced(operands: Sequence[torch.Tensor]) -> bool:
    """Whether torch differentiates by one of them, or maps over one."""
    if torch.is_grad_enabled() and any(operand.requires_grad for operand in operands):
        return True
    if transformation() is not None and any(map(is_functorch_wrapped_tensor, operands)):
        return True
    tangent: Callable[..., Any] = forward_ad.unpack_dual
    return forward_ad._current_level >= 0 and any(tangent(x).tangent is not None for x in operands)


def _refuse_derivatives(program: Program, name: str, operand: torch.Tensor) -> None:
    if transformation() is not None and is_functorch_wrapped_tensor(operand):
        what = "is a tensor of a transformation such as torch.func.vmap, which this program has not"
        next_step = "give the formula the dimension that is mapped over, or use ed.compile"
    elif operand.requires_grad and torch.is_grad_enabled():
        what = "requires gradients, and this program records none"
        next_step = f"pass {name}.detach(), or call within torch.no_grad()"
    else:
        return
    _refuse(program, f"{name} {what}", next_step, name, "")


def arranged(program: Program, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The operands by name, those of other libraries as arrays or tensors of the same memory."""
    names = [tensor.name for tensor in program.inputs]
    call = f"call it as f({', '.join(names)})"
    if len(args) > len(names):
        _refuse(program, f"{len(args)} operands for a formula of {len(names)} tensors", call)
    given = dict(zip(names, args, strict=False))
    for name, value in named.items():
        if name in given or name not in names:
            what = "is given twice" if name in given else "is not a tensor of the formula"
            _refuse(program, f"the operand {name} {what}", call)
        given[name] = value
    for tensor in program.inputs:
        if tensor.name not in given:
            step = f"pass {tensor.name}=..., of shape {_wanted(program, tensor)}"
            _refuse(program, f"the operand {tensor.name} is missing", step, tensor.name)
    return {name: exchanged(value) for name, value in given.items()}


def promoted(program: Program, given: Mapping[str, Any]) -> str | None:
    """The floating type to which the operands promote, if some floating operand has another type
    than the formula was compiled for and all types are known; else None."""
    types = {tensor.name: tensor.dtype for tensor in program.inputs}
    arrays = {name: value for name, value in given.items() if _kind(value) != "python"}
    found = {name: type_name(value) for name, value in arrays.items()}
    changed = [name for name, dtype in found.items() if types.get(name) != dtype]
    if not changed or any(not {types.get(name, ""), found[name]} <= FLOATING for name in changed):
        return None
    wanted = [getattr(torch, dtype) for dtype in found.values() if dtype in FLOATING]
    return type_name(reduce(torch.promote_types, wanted))


def in_type(value: Any, dtype: str) -> Any:
    """A floating tensor or array converted to the type.  Any other value stays as it is."""
    if _kind(value) == "python" or type_name(value) not in FLOATING:
        return value
    return value.to(getattr(torch, dtype)) if _kind(value) == "torch" else value.astype(dtype)


def _refuse(
    program: Program, message: str, next_step: str, name: str = "", sizes: str | None = None
) -> NoReturn:
    """The sizes are those of all tensors where none are said."""
    text = show_program(program)
    if sizes is None:
        sizes = ", ".join(f"{t.name}: {_wanted(program, t)} {t.dtype}" for t in program.inputs)
    raise OperandError(message, text=text, span=_span(text, name), sizes=sizes, next_step=next_step)


def exchanged(value: Any) -> Any:
    """An operand of another library, in the same memory: as a tensor through DLPack if it lies on a
    GPU, else as an array.  A value that is neither stays as it is."""
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        return value
    try:
        if hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) in ON_GPU:
            return torch.utils.dlpack.from_dlpack(value)
        if hasattr(value, "__array__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
    except Exception:  # whatever its own conversion raises; what it is then is said by name
        return value
    return value


def _kind(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return "torch"
    return "numpy" if isinstance(value, np.ndarray) else "python"


def _operand(program: Program, tensor: Tensor, value: Any, device: str) -> torch.Tensor:
    _refuse_containers(program, tensor, value)
    array: Any = value if isinstance(value, torch.Tensor) else as_array(program, tensor, value)
    typed = isinstance(value, torch.Tensor | np.ndarray)
    where = value.device if isinstance(value, torch.Tensor) else None
    refuse_misfit(program, tensor, array.shape, type_name(array) if typed else None, where, device)
    if not isinstance(value, torch.Tensor):
        return _from_numpy(array).to(device=device, dtype=getattr(torch, tensor.dtype))
    return value


def refuse_misfit(
    program: Program,
    tensor: Tensor,
    found: Sequence[int],
    dtype: str | None,
    where: torch.device | None,
    device: str,
) -> None:
    """Raises OperandError where an operand of this shape, type and place is none for the tensor, on
    this device.  None: it has no type or place of its own."""

    def refuse(message: str, next_step: str, sizes: str = "") -> NoReturn:
        _refuse(program, message, next_step, name, sizes)

    name, found = tensor.name, tuple(found)
    if found != tensor.shape:
        wanted = _wanted(program, tensor)
        refuse(
            f"{name} has shape {shape(found)}, the formula was compiled for {wanted}",
            f"pass an array of shape {wanted}, or compile for {name}={found}",
            f"{name} is {shape(found)} here",
        )
    if dtype is not None and dtype != tensor.dtype:
        other = f", or compile with dtypes={{{name!r}: {dtype!r}}}" if dtype in DTYPES else ""
        refuse(
            f"{name} has elements of type {dtype}, the formula was compiled for {tensor.dtype}",
            f"convert it to {tensor.dtype}{other}",
            f"{name} is {shape(found)} {dtype}",
        )
    if where is not None and where.type != device:
        refuse(
            f"{name} lies on {where}, the program was compiled for {device}",
            f"move it with .to({device!r}), or compile for another target",
        )


def _refuse_containers(program: Program, tensor: Tensor, value: Any) -> None:
    """Refuse what has more to it than its elements, which would be lost."""
    name = tensor.name
    if is_masked(value):
        what, next_step = "masked array, and no formula knows a mask", f"pass {name}.filled(0)"
    elif isinstance(value, torch.Tensor) and value.is_nested:
        what, next_step = "nested tensor", f"pass {name}.to_padded_tensor(0)"
    elif isinstance(value, torch.Tensor) and value.layout is not torch.strided:
        what, next_step = "sparse tensor", f"pass {name}.to_dense()"
    else:
        return
    _refuse(program, f"{name} is a {what}", next_step, name, "")


def as_array(program: Program, tensor: Tensor, value: Any) -> Any:
    """The operand as a NumPy array; what is no array becomes one where the formula's type holds
    its numbers."""
    try:
        array = np.asarray(value)
    except Exception:  # rows of different lengths, or whatever its own conversion raises
        array = np.asarray(None)
    kind = array.dtype.kind
    wanted = "f" if "float" in tensor.dtype else np.dtype(tensor.dtype).kind
    large = array is not value and kind == "O" and all(isinstance(n, int) for n in array.flat)
    if kind not in KINDS and not large:
        what = f"an array of {array.dtype}" if array is value else _type_of(value)
        message = f"{tensor.name} is not an array of numbers but {what}"
    elif large or (
        not isinstance(value, np.ndarray)
        and (KINDS.index(kind) > KINDS.index(wanted) or not _within(array, tensor.dtype))
    ):
        message = f"{tensor.name} holds numbers that are no {tensor.dtype}"
    else:
        return array
    step = f"pass an array of {tensor.dtype} of shape {_wanted(program, tensor)}"
    _refuse(program, message, step, tensor.name, "")


def _type_of(value: object) -> str:
    """`a str`, `an object`."""
    name = type(value).__name__
    return f"{'an' if name[:1] in tuple('aeiouAEIOU') else 'a'} {name}"


def _within(array: Any, dtype: str) -> bool:
    """Whether the type's range holds every finite number of the array."""
    kind = getattr(torch, dtype)
    if dtype == "bool" or not array.size:
        return True
    if not kind.is_floating_point and not kind.is_complex:
        limits = torch.iinfo(kind)
        return bool(limits.min <= array.min() and array.max() <= limits.max)
    most = torch.finfo(kind).max
    parts = (np.abs(part) for part in (array.real, array.imag))
    return all(bool((~np.isfinite(part) | (part <= most)).all()) for part in parts)


def _from_numpy(array: Any) -> torch.Tensor:
    """The array as a tensor, of the same memory where torch can read that: not backwards, not
    write-protected, not unaligned, not in foreign byte order, not of C's long long."""
    whole = all(stride >= 0 and stride % array.itemsize == 0 for stride in array.strides)
    if not whole or not array.flags.writeable or not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
    if array.dtype.char in "qQ":
        array = array.astype(array.dtype.name)
    return torch.from_numpy(array)


def _wanted(program: Program, tensor: Tensor) -> str:
    """The shape of an operand, in which sizes that may differ from call to call have their names:
    `n x 64`."""
    named = {} if program.at_shapes is None else program.at_shapes.named
    return shape(named.get(tensor.name, tensor.shape))


def _span(text: str, name: str) -> tuple[int, int] | None:
    """The place of the first read of the tensor."""
    found = re.search(rf"\b{re.escape(name)}\b", text) if name else None
    return found.span() if found else None
