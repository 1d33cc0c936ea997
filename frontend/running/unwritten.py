"""Marks in memory that has not been written to.

    with marked():   torch.empty(3)   ->   NaN, NaN, NaN

Newly allocated memory may happen to hold the right result of an earlier run.  A program that leaves
an element unwritten, or reads one that it has not written, would then pass by luck.  With NaN in
this memory, it is found out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from einderive.eops.opaque import is_opaque

ALLOCATIONS: Final[frozenset[Callable[..., torch.Tensor]]] = frozenset(
    (
        *(torch.empty, torch.empty_like, torch.empty_permuted, torch.empty_strided),
        *(torch.Tensor.new_empty, torch.Tensor.new_empty_strided),
    )
)
"""Calls that give memory as it is.  The library's own operators are not looked into."""


class Marked(TorchFunctionMode):
    """While it is entered, this thread's `torch.empty` and its kin give memory full of NaN; of
    integers, the least and the greatest number in turn.

    torch's own setting for this comes only with deterministic algorithms, for the whole process:
    other algorithms would then be judged than those that run later.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if is_opaque(func):  # what it does inside is looked into all the same
            with Marked():
                return func.__wrapped__(*args)  # type: ignore[attr-defined]  # set by `wraps`
        result = func(*args, **(kwargs or {}))
        if func in ALLOCATIONS:
            mark(result)
        return result


@torch.no_grad()
def mark(tensor: torch.Tensor) -> None:
    """Overwrites the tensor with numbers that no program is expected to compute."""
    if tensor.is_complex():
        tensor.fill_(complex("nan+nanj"))
    elif tensor.is_floating_point():
        tensor.fill_(float("nan"))
    else:  # one number alone could be what a maximum or a minimum starts with
        least, greatest = 0, 1
        if tensor.dtype != torch.bool:
            least, greatest = torch.iinfo(tensor.dtype).min, torch.iinfo(tensor.dtype).max
        tensor.fill_(greatest)
        if tensor.dim():
            tensor[..., ::2].fill_(least)
