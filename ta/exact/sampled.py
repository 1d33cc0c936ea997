"""Tensors of any size with random entries that are never stored.

    A[x]  =  mix(seed, number of the tensor, flat position of x)      a fixed integer for each place

Evaluation at a few points of a program over large tensors then costs what the points cost.  The
mixing is that of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.fields import Field, ModularField
from einderive.ta.ir.node import Tensor

Positions = npt.NDArray[np.int64]
SMALL = 17
"""Entries lie in -8..8 where numbers are exact or real, and below 2^30 where they are residues."""


def sampled_values(
    tensors: Iterable[Tensor], field: Field, seed: int
) -> dict[str, Callable[[Positions], npt.NDArray[np.int64]]]:
    """For each tensor, by name, the function from positions in its flat box to integers of the
    field."""
    wide = isinstance(field, ModularField)
    return {tensor.name: _entries(seed, number, wide) for number, tensor in enumerate(tensors)}


def _entries(seed: int, number: int, wide: bool) -> Callable[[Positions], npt.NDArray[np.int64]]:
    start = np.uint64((seed * 1_000_003 + number + 1) * 0x9E3779B97F4A7C15 % 2**64)

    def entries(positions: Positions) -> npt.NDArray[np.int64]:
        mixed = _mix(np.asarray(positions).astype(np.uint64) + start)
        if wide:
            return (mixed >> np.uint64(34)).astype(np.int64)
        return (mixed % np.uint64(SMALL)).astype(np.int64) - SMALL // 2

    return entries


def _mix(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        state = state * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))
