"""Functions of tensors that a recording of torch's calls takes as one call.

    @opaque
    def f(x, y): ...          f(x, y) is one call to a torch function mode, not the calls inside

They are for code that must run as Python every time: it decides from the data, launches kernels of
its own, or keeps something from call to call.  All tensors have to be arguments by position.  The
result is a new tensor or one of the arguments, as the data decide; or None, if the function only
looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.autograd import forward_ad
from torch.overrides import handle_torch_function, has_torch_function

from einderive.eops.capture import capturing

Result = TypeVar("Result")
KernelFor = Callable[..., Any]
_KNOWN: WeakSet[Callable[..., object]] = WeakSet()
_KERNELS: WeakKeyDictionary[Callable[..., object], KernelFor] = WeakKeyDictionary()


def opaque(
    function: Callable[..., Result], kernel: KernelFor | None = None
) -> Callable[..., Result]:
    """The function, announced to torch function modes as torch announces its own.  If the function
    is one generated kernel, `kernel` gives that kernel for tensors such as these."""

    @wraps(function)
    def call(*tensors: torch.Tensor) -> Result:
        if has_torch_function(tensors):
            found: Result = handle_torch_function(call, tensors, *tensors)
            return found
        return function(*tensors)

    _KNOWN.add(call)
    if kernel is not None:
        _KERNELS[call] = kernel
    return call


def kernel_of(function: Callable[..., object], tensors: Sequence[torch.Tensor]) -> Any:
    """The generated kernel that such a function is for these tensors.  None if it is no kernel."""
    found = _KERNELS.get(function)
    return None if found is None else found(*tensors)


def is_opaque(function: Callable[..., object]) -> bool:
    """Whether `opaque` made the function.  Its `__wrapped__` is then the original."""
    return function in _KNOWN


def recordable() -> bool:
    """Whether calls may be recorded.  They may not under a transformation or a dispatch mode of
    torch (`vmap`, `FakeTensorMode`), whose tensors must not be kept, nor where tangents are carried
    along, nor in the capture of a CUDA graph, where what is made once would be made at a replay."""
    return (
        torch._C._functorch.maybe_current_level() is None
        and not torch._C._len_torch_dispatch_stack()
        and forward_ad._current_level < 0
        and not capturing()
    )
