"""Triton's interpreter with every address checked, as `loops/interpreted.py` does for a CPU.

    with checked_addresses(): kernel(...)  =  kernel(...), or an AssertionError where a lane whose
    mask is true reads beside all operands, or writes beside all results

The interpreter itself reads whatever lies there, which a mask later on may hide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from triton.runtime.interpreter import InterpreterBuilder

from einderive.eops.triton_kernels.build import Kernel


@contextmanager
def checked_addresses() -> Iterator[None]:
    launch, load, store = (
        Kernel.launch,
        InterpreterBuilder.create_masked_load,
        InterpreterBuilder.create_masked_store,
    )
    read, written = list[torch.Tensor](), list[torch.Tensor]()

    def launched(
        kernel: Kernel, config: Any, tensors: Sequence[torch.Tensor], outs: Sequence[torch.Tensor]
    ) -> Any:
        read[:], written[:] = tensors, outs
        return launch(kernel, config, tensors, outs)

    def loaded(builder: Any, pointers: Any, mask: Any, *rest: Any) -> Any:
        _check(pointers.data, mask.data, read, "read")
        return load(builder, pointers, mask, *rest)

    def stored(builder: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        _check(pointers.data, mask.data, written, "write")
        return store(builder, pointers, value, mask, *rest)

    with (
        patch.object(Kernel, "launch", launched),
        patch.object(InterpreterBuilder, "create_masked_load", loaded),
        patch.object(InterpreterBuilder, "create_masked_store", stored),
    ):
        yield


def _check(pointers: Any, mask: Any, tensors: Sequence[torch.Tensor], word: str) -> None:
    """Every address of a lane whose mask is true is one of an element."""
    places, live = np.broadcast_arrays(pointers, mask)
    asked = places[live.astype(bool)].astype(np.int64)
    known = np.zeros(asked.shape, bool)
    for tensor in tensors:
        start, size = tensor.data_ptr(), tensor.element_size()
        inside = (asked >= start) & (asked < start + tensor.numel() * size)
        known |= inside & ((asked - start) % size == 0)
    assert known.all(), f"{word} at {np.count_nonzero(~known)} places beside all tensors"
