"""Blocks of a box, in which the interpreter evaluates it, and positions in a flat box.

blocks       slices that cover the box, each with few elements
flat, unflat from indices to the position in the flat box, and back
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.fields import Field
from einderive.ta.ir.node import Scope

Indices: TypeAlias = npt.NDArray[np.int64]

MOST_FLAT = 1 << 62
"""Positions in a box of at most this many points are counted in 64 bits."""
SPREAD = 0x1E3779B97F4A7C15
"""An odd number of mixed bits."""


def flat(columns: Sequence[Indices], shape: Sequence[int]) -> Indices:
    """The position in the flat box of the shape.  Where 64 bits do not count these, a number made
    of the indices, which two given places share with a chance of 2^-64."""
    counted = math.prod(shape) <= MOST_FLAT
    position: Indices = np.zeros((), dtype=np.int64)
    with np.errstate(over="ignore"):
        for column, extent in zip(columns, shape, strict=True):
            position = position * np.int64(extent if counted else SPREAD) + column
    return position


def unflat(scope: Scope, positions: Indices) -> Indices:
    """The index points, shape (P, loops), of positions in the scope's flat box."""
    columns = np.unravel_index(positions, scope.shape) if scope.loops else ()
    points = np.empty((len(positions), len(scope.loops)), dtype=np.int64)
    for k, (column, loop) in enumerate(zip(columns, scope.loops, strict=True)):
        points[:, k] = column + loop.lo
    return points


def blocks(
    shape: Sequence[int], inner: int, field: Field, outer: int = 1
) -> Iterator[tuple[slice, ...]]:
    """Slices that cover the box, each with at most `field.block` elements (times what lies inside
    and outside of it), as far as single elements allow; leading axes are cut first."""
    sizes = [max(1, extent) for extent in shape]
    around = max(1, inner) * max(1, outer)
    for k in range(len(sizes)):
        rest = math.prod(sizes[k + 1 :]) * around
        sizes[k] = max(1, min(sizes[k], field.block // rest))
    starts = (range(0, extent, size) for extent, size in zip(shape, sizes, strict=True))
    for corner in product(*starts):
        yield tuple(
            slice(start, min(start + size, extent))
            for start, size, extent in zip(corner, sizes, shape, strict=True)
        )
