"""Functions of tensors that a recording of torch's calls takes as one call.

    @opaque
    def f(x, y): ...          f(x, y) is one call to a torch function mode, not the calls inside

For what must run as Python every time: what decides from the data, launches kernels of its own, or
keeps something from call to call.  All tensors have to be arguments by position.  The result may be
one of them, or a new tensor, as the data decide; or None, of what only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.autograd import forward_ad
from torch.overrides import handle_torch_function, has_torch_function

Result = TypeVar("Result")
KernelFor = Callable[..., Any]
_KNOWN: WeakSet[Callable[..., object]] = WeakSet()
_KERNELS: WeakKeyDictionary[Callable[..., object], KernelFor] = WeakKeyDictionary()


def opaque(
    function: Callable[..., Result], kernel: KernelFor | None = None
) -> Callable[..., Result]:
    """The function, announced to torch function modes as torch announces its own.  `kernel` gives
    the generated kernel that all of it is for tensors such as these, if it is one."""

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
    """The generated kernel that such a function is for these tensors, None where it is none."""
    found = _KERNELS.get(function)
    return None if found is None else found(*tensors)


def is_opaque(function: Callable[..., object]) -> bool:
    """Was it made by `opaque`?  What it wraps is then its `__wrapped__`."""
    return function in _KNOWN


def recordable() -> bool:
    """Are calls what they are elsewhere?  Not under a transformation or a dispatch mode of torch
    (`vmap`, `FakeTensorMode`), whose tensors are not to be kept, nor where tangents are carried
    along."""
    return (
        torch._C._functorch.maybe_current_level() is None
        and not torch._C._len_torch_dispatch_stack()
        and forward_ad._current_level < 0
    )
