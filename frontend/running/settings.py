"""What changes the results of torch or sees its operators, kept away from what is compiled.

with torch.autocast("cpu"): compile(text, ...)   =   compile(text, ...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import torch

from einderive.eops.opaque import recordable

_Made = TypeVar("_Made")


@contextmanager
def undisturbed() -> Iterator[None]:
    """A context in which this thread has no autocast, and new tensors lie on the CPU unless told
    otherwise.  As a decorator, it holds for each call."""
    with ExitStack() as stack:
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":  # a mode, which costs time in every call
            stack.enter_context(torch.device("cpu"))
        yield


def unseen(make: Callable[[], _Made]) -> _Made:
    """What is made where torch transforms no function, traces nothing and records no gradient: in
    this thread if it does none of this here, else in a thread of its own.

    A thread of its own is the last resort.  It has another memory pool and other helpers of OpenMP,
    which make short programs of torch up to eight times slower: a race there may choose wrongly."""
    if _seen():
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(make).result()
    with torch.enable_grad():
        return make()


def _seen() -> bool:
    """Whether this thread has a state of torch that a new thread does not have."""
    return (
        not recordable()
        or torch._C._get_tracing_state() is not None
        or torch._C._is_any_autocast_enabled()
        or torch._C._len_torch_function_stack() > 0
        or torch._C._current_graph_task_id() != -1
        or torch._C._autograd._top_saved_tensors_default_hooks(True) is not None
        or torch.is_inference_mode_enabled()
        or torch.compiler.is_compiling()
        or bool(torch.cuda.is_initialized())  # type: ignore[no-untyped-call]
    )
