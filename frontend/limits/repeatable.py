"""Why a program may give other bits when it runs again on the same operands.

- An operation adds numbers in an order that threads decide, as a sum of groups on a GPU does.
- A generated kernel for a GPU is tuned by timing, and each configuration sums in its own order.
- All threads compute a part of one sum, so that the bits depend on how many there are.
- The bits differed when it ran here: at another place in memory, for example.

What torch says of its own operations (`torch.use_deterministic_algorithms`) is the source of the
lists.  Sums of integers are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from einderive.eops.opaque import is_opaque, kernel_of
from einderive.frontend.call.record import Ref
from einderive.frontend.call.simplify import Simple, View
from einderive.frontend.limits.observed import Operation, observed

ADDING: Final = {
    "cpu": frozenset({"put"}),
    "cuda": frozenset(
        {"index_add", "scatter_add", "scatter_reduce", "index_put", "put", "bincount", "cumsum"}
    ),
}
"""Operations that add in no fixed order, by device."""
WRITING: Final = {
    "cpu": frozenset({"index_copy"}),
    "cuda": frozenset({"index_copy", "scatter", "index_put", "put"}),
}
"""Operations that write to one place in no fixed order, if two of their indices are equal."""
EXACT: Final = ("amax", "amin")
RUNS: Final = 3
SHIFT: Final = 16
"""Bytes by which operands lie at another place, as NumPy's arrays do."""


def why_not_repeatable(
    call: Callable[..., Any], operands: Sequence[torch.Tensor], device: str, simple: Simple | None
) -> str:
    """Why the call may give other bits; empty if nothing is known.  `simple` is its recording."""
    if device == "cpu" and simple is not None and _shares_sums(simple):
        return "all threads compute a part of one sum, whose bits depend on their number"
    calls = () if simple is None else (s for s in simple.steps if not isinstance(s, View))
    if device == "cuda" and (simple is None or any(is_opaque(call.function) for call in calls)):
        return "a generated kernel is tuned by timing, which may change the order of a sum"
    for operation in observed(call, operands, simple).operations:
        if _in_no_order(operation, device):
            return f"{operation.name} works in no fixed order on {device}"
    return _differs(call, operands)


def _in_no_order(operation: Operation, device: str) -> bool:
    name, words = operation.name, operation.words
    if name == "index_put":
        accumulates = bool(words.get("accumulate", False))
        if accumulates:
            return operation.rounds
    if name == "convolution":  # forward, and transposed as the gradient of one
        return device == "cuda" and (
            bool(words.get("transposed", False)) or torch.backends.cudnn.benchmark
        )
    if name in ADDING[device] and operation.rounds and words.get("reduce") not in EXACT:
        return True
    return name in WRITING[device]


def _shares_sums(simple: Simple) -> bool:
    """Whether threads exchange totals in one of the kernels."""
    for step in simple.steps:
        if isinstance(step, View) or not is_opaque(step.function):
            continue
        layouts = [simple.values[each.number].layout for each in step.args if isinstance(each, Ref)]
        kernel = kernel_of(step.function, [layout.meta() for layout in layouts])
        if getattr(kernel, "team", 0):
            return True
    return False


def _differs(call: Callable[..., Any], operands: Sequence[torch.Tensor]) -> str:
    first = _bits(call(*operands))
    for number in range(RUNS):
        others = [_moved(operand, number % 2 * SHIFT) for operand in operands]
        if _bits(call(*others)) != first:
            return "its bits differed from run to run"
    return ""


def _bits(found: Any) -> list[bytes]:
    results = found if isinstance(found, tuple | list) else (found,)
    return [
        bytes(y.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        for y in results
    ]


def _moved(tensor: torch.Tensor, shift: int) -> torch.Tensor:
    """The dense tensor at another place in memory."""
    count = -(-shift // tensor.element_size())
    memory = torch.empty(tensor.numel() + count, dtype=tensor.dtype, device=tensor.device)
    found = memory[count:].view(tensor.shape)
    return found.copy_(tensor)
