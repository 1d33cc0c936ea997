"""The calls of a recorded program as lines of Python, and the flat function of such lines.

    constants   v3 = torch.tensor([0.5], ...)           made once
                k0 = loops('c591...', ...)              compiled loops, from the disk
    calls       v4 = torch.Tensor.mul(v0, v3)           made at each call, on operands v0, v1, ...
                v5, = k0(v4, v1)
                return (v5,)

The lines hold for operands that are dense, of the shapes and types that the program was recorded
for: their strides stand in the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import Parameter
from torch.overrides import has_torch_function

from einderive.frontend.call.guard import autocast, guard, transformation

LOOPS = " = loops("
"""Follows the name of a kernel in its line."""


class Written(NamedTuple):
    """The lines, and whether each result is of a type that NumPy has."""

    constants: tuple[str, ...]
    calls: tuple[str, ...]
    arrays: tuple[bool, ...]

    @property
    def kernels(self) -> bool:
        """Whether it calls compiled loops, which are not of torch."""
        return any(LOOPS in line for line in self.constants)

    def converted(self, output: str) -> Written:
        """The lines whose results are converted to this type."""
        results = self.calls[-1].removeprefix("return ")
        last = f"return tuple([each.to(torch.{output}) for each in {results}])"
        arrays = (output != "bfloat16",) * len(self.arrays)
        return Written(self.constants, (*self.calls[:-1], last), arrays)


class Operand(NamedTuple):
    name: str
    shape: tuple[int, ...]
    dtype: str


def run_of(written: Written, operands: int) -> Any:
    """The function of tensors that gives a tuple of results."""
    names = ", ".join(f"v{number}" for number in range(operands))
    return _made(written, [f"def call({names}):", *_indented(written.calls)], {})


def flat_of(written: Written, expected: Sequence[Operand], given: Sequence[Any]) -> Any:
    """The guarded function for operands such as those given; None where these are no plain dense
    tensors of the CPU, or plain dense arrays, of the expected shapes and types; and where compiled
    loops are not on the disk any more, or are others."""
    numpy = any(type(operand) is np.ndarray for operand in given)
    dense = _dense_array if numpy else _dense_tensor
    if not given or len(given) != len(expected) or autocast() or transformation() is not None:
        return None
    if torch.compiler.is_compiling() or not all(map(dense, given, expected)):
        return None
    names, lines = guard(given, default_type=True, signs=written.kernels)
    if written.kernels and not numpy:  # a mode of torch is to know of all calls
        names.bound["seen"] = has_torch_function
        lines.append("    if seen(operands): return MISS")
    calls = _indented(written.calls[:-1])
    results = written.calls[-1].removeprefix("return ")
    if numpy:
        lines += [f"    v{n} = torch.from_numpy(v{n})" for n in range(len(given))]
    lines += [*calls, f"    found = {results}"]
    values = [
        f"found[{place}]{'.numpy()' if numpy and array else ''}"
        for place, array in enumerate(written.arrays)
    ]
    lines.append(f"    return {values[0] if len(values) == 1 else '(' + ', '.join(values) + ')'}")
    try:
        return _made(written, lines, names.bound)
    except LookupError:
        return None


def _dense_tensor(value: Any, expected: Operand) -> bool:
    return (
        type(value) in (torch.Tensor, Parameter)
        and value.layout is torch.strided
        and not value.is_nested
        and value.device.type == "cpu"
        and tuple(value.shape) == expected.shape
        and str(value.dtype) == f"torch.{expected.dtype}"
        and value.stride() == _strides(expected.shape)
        and not (value.is_neg() or value.is_conj())
        and not (value.requires_grad and torch.is_grad_enabled())
    )


def _dense_array(value: Any, expected: Operand) -> bool:
    return (
        type(value) is np.ndarray
        and value.shape == expected.shape
        and value.dtype.name == expected.dtype
        and value.dtype.isnative
        and value.dtype.char not in "qQ"
        and value.flags.behaved
        and value.strides == tuple(value.itemsize * s for s in _strides(expected.shape))
    )


def _strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a dense tensor, as torch gives them."""
    found, step = [], 1
    for extent in reversed(shape):
        found.append(step)
        step *= max(extent, 1)
    return tuple(reversed(found))


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _made(written: Written, lines: Sequence[str], bound: dict[str, Any]) -> Any:
    space: dict[str, Any] = {"torch": torch, **bound}
    if written.kernels:
        from einderive.eops.cpu_kernels.calls.linked import loops  # it needs llvmlite

        space["loops"] = loops
    source = "\n".join((*written.constants, *lines)) + "\n"
    exec(compile(source, "<einderive remembered call>", "exec"), space)
    return space["call"]
