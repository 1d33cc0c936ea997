"""Results written to arrays that the caller gives: `f(a, b, out=y)`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from frontend.text import shape
from ta.errors import OperandError, shown
from ta.program import Program
from ta.show import show_program


def into(program: Program, out: Any, result: Any) -> Any:
    """`out`, holding the result; several outputs go to a tuple of as many.  OperandError where one
    is not of the result's kind, shape, type and device; nothing is written then."""
    results = result if isinstance(result, tuple) else (result,)
    targets = out if isinstance(result, tuple) and isinstance(out, tuple) else (out,)
    if len(targets) != len(results):
        raise OperandError(
            f"out is {shown(out, 40)}, and there are {len(results)} outputs",
            text=show_program(program),
            next_step=f"pass a tuple of {len(results)}",
        )
    for target, value in zip(targets, results, strict=True):
        if reason := _unfit(target, value):
            raise OperandError(
                f"out {reason}",
                text=show_program(program),
                next_step=f"pass {_described(value)}",
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
        return f"is {shown(target, 40)}, and the result is {_described(value)}"
    if tuple(target.shape) != tuple(value.shape) or target.dtype != value.dtype:
        return f"is {_described(target)}, and the result is {_described(value)}"
    if isinstance(target, torch.Tensor):
        if target.device != value.device:
            return f"lies on {target.device}, the result on {value.device}"
        return "requires gradients" if target.requires_grad and torch.is_grad_enabled() else ""
    return "" if target.flags.writeable else "is read-only"


def _described(value: Any) -> str:
    kind = "a tensor" if isinstance(value, torch.Tensor) else "an array"
    dtype = str(value.dtype).removeprefix("torch.")
    return f"{kind} of {dtype} of shape {shape(tuple(value.shape))}"
