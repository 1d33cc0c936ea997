"""Results written to arrays that the caller gives: `f(a, b, out=y)`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch

from einderive.frontend.masked import is_masked
from einderive.frontend.running.results import Layout, layout, meet, repeats
from einderive.frontend.text import shape
from einderive.ta.errors import OperandError, shown
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.program import Program
from einderive.ta.printing.show import show_program

MOST_WORK = 1 << 16
"""Beyond this many candidates NumPy stops looking for an overlap of two arrays; they count as
overlapping."""


def into(program: Program, out: Any, result: Any) -> Any:
    """`out`, holding the result; several outputs go to a tuple of as many.  OperandError where one
    is not of the result's kind, shape, type and device, or is not memory of its own; nothing is
    written then."""
    results = result if isinstance(result, tuple) else (result,)
    targets = out if isinstance(result, tuple) and isinstance(out, tuple) else (out,)
    if len(targets) != len(results):
        raise OperandError(
            f"out is {shown(out, 40)}, and there are {len(results)} outputs",
            text=show_program(program),
            next_step=f"pass a tuple of {len(results)}",
        )
    if any(isinstance(value, torch.Tensor) and value.requires_grad for value in results):
        raise OperandError(
            "out takes no gradients back, and an operand requires them",
            text=show_program(program),
            next_step="leave out=, or call within torch.no_grad()",
        )
    for number, (target, value) in enumerate(zip(targets, results, strict=True)):
        reason = _unfit(target, value)
        if not reason and any(_overlap(target, other) for other in targets[:number]):
            reason = "shares memory with another one"
        if reason:
            raise OperandError(
                f"out {reason}", text=show_program(program), next_step=f"pass {_described(value)}"
            )
    for target, value in zip(targets, results, strict=True):
        if isinstance(target, torch.Tensor):
            with torch.no_grad():
                target.copy_(value)
        else:
            np.copyto(target, value)
    return out


def _unfit(target: Any, value: Any) -> str:
    """Why the target cannot hold the value; nothing where it can."""
    if not isinstance(target, type(value)):
        known = isinstance(target, torch.Tensor | np.ndarray)
        own = _described(target) if known else shown(target, 40)
        return f"is {own}, and the result is {_described(value)}"
    if tuple(target.shape) != tuple(value.shape) or target.dtype != value.dtype:
        return f"is {_described(target)}, and the result is {_described(value)}"
    if isinstance(target, torch.Tensor):
        if target.device != value.device:
            return f"lies on {target.device}, the result on {value.device}"
        if target.is_inference() and not torch.is_inference_mode_enabled():
            return "was made in inference mode"
        if target.requires_grad and torch.is_grad_enabled():
            return "requires gradients"
        return "holds elements that share memory" if repeats(layout(target)) else ""
    if is_masked(target):
        return "is a masked array"
    if not target.flags.writeable:
        return "is read-only"
    steps = tuple(abs(stride) // target.itemsize for stride in target.strides)
    return "holds elements that share memory" if repeats(Layout(target.shape, steps, 0)) else ""


def _overlap(target: Any, other: Any) -> bool:
    if isinstance(target, torch.Tensor):
        same = target.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
        return same and (target.dtype != other.dtype or meet(layout(target), layout(other)))
    try:
        return bool(cast(Any, np.shares_memory)(target, other, max_work=MOST_WORK))
    except np.exceptions.TooHardError:
        return True


def _described(value: Any) -> str:
    kind = "a tensor" if isinstance(value, torch.Tensor) else "an array"
    dtype = type_name(value)
    return f"{kind} of {dtype} of shape {shape(tuple(value.shape))}"
