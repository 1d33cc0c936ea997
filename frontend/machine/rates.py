"""Work at the points of the tables of rates: what is run there, and its operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import log2
from typing import Final, NamedTuple, TypeAlias

import torch
from torch.nn import functional

from einderive.eops.library.convolve import PLAIN, TRANSPOSED
from einderive.eops.torch_views.contract import Operand, contract
from einderive.frontend.machine.linked import linked

IMAGES: Final = 8
"""Convolutions of several images run as other kernels than those of one."""

Point: TypeAlias = tuple[Callable[[], object], float]
Make: TypeAlias = Callable[..., Point]
"""The sizes of a point to what is run there, and its operations."""


def operations_of(point: tuple[int, ...]) -> float:
    found = 2.0
    for size in point:
        found *= size
    return found


_KEPT = frozenset((0, 1, 2))
"""The batch, the rows and the columns of a product."""


def _product(batch: int, rows: int, columns: int, summed: int) -> Point:
    given = {"x": torch.ones(batch, rows, summed), "y": torch.ones(batch, columns, summed)}

    def run(buffers: Mapping[str, torch.Tensor]) -> torch.Tensor:
        left = Operand(buffers["x"], (0, 1, 3))
        return contract(left, Operand(buffers["y"], (0, 2, 3)), _KEPT).tensor

    return linked(run, given)[1], operations_of((batch, rows, columns, summed))


def _convolution(
    dimensions: int, images: int, groups: int, points: int, columns: int, summed: int
) -> Point:
    side = round((points / images) ** (1 / dimensions))
    channels = summed // 3**dimensions
    data = torch.ones(images, groups * channels, *(side,) * dimensions)
    kernel = torch.ones(groups * columns, channels, *(3,) * dimensions)
    run = partial(PLAIN[dimensions], data, kernel, padding=1, groups=groups)
    return run, operations_of((groups, images * side**dimensions, columns, summed))


def _depthwise(groups: int, points: int, columns: int, taps: int) -> Point:
    side, length = round(points**0.5), round(taps**0.5)
    data = torch.ones(1, groups, side, side)
    kernel = torch.ones(groups * columns, 1, length, length)
    run = partial(PLAIN[2], data, kernel, padding=length // 2, groups=groups)
    return run, operations_of((groups, side**2, columns, taps))


def _transposed(groups: int, points: int, columns: int, summed: int) -> Point:
    side, channels = round(points**0.5), summed // 9
    data = torch.ones(1, groups * channels, side, side)
    kernel = torch.ones(groups * channels, columns, 3, 3)
    run = partial(TRANSPOSED[2], data, kernel, padding=1, groups=groups)
    return run, operations_of((groups, side**2, columns, summed))


def _pieces(function: Callable[..., object], rows: int, length: int) -> Point:
    """A function of squares of a matrix, beside each other."""
    side, taps = round(rows**0.5), round(length**0.5)
    whole = torch.ones(side * taps, side * taps)
    squares = whole.view(side, taps, side, taps).transpose(1, 2)
    return partial(function, squares, (2, 3)), float(rows * length)


def _rows(function: Callable[..., object], along: int, rows: int, length: int) -> Point:
    """A function over the last dimension or the first one."""
    values = torch.ones(rows, length) if along else torch.ones(length, rows)
    return partial(function, values, along), float(rows * length)


def _fourier(rows: int, length: int) -> Point:
    values = torch.ones(rows, length)
    operations = 2.5 * rows * length * log2(length + 1)
    return lambda: torch.fft.rfft(values).real.contiguous(), operations


def _window(function: Callable[..., object], points: int, taps: int) -> Point:
    side, length = int(points**0.5), int(taps**0.5)
    images = torch.ones(1, 1, side + length - 1, side + length - 1)
    return partial(function, images, length, stride=1), float(points * taps)


class Rates(NamedTuple):
    """The table of a unit: the grid that has its points, and what runs there.  The launch of
    `operator` is subtracted; without one, the least time of the table is."""

    grid: str
    make: Make
    operator: str = ""


TABLES: Final[Mapping[str, Rates]] = {
    "matmul": Rates("product", _product),
    "convolution": Rates("convolution", partial(_convolution, 2, 1), "conv2d"),
    "convolution of images": Rates("convolution", partial(_convolution, 2, IMAGES), "conv2d"),
    "convolution1d": Rates("convolution1d", partial(_convolution, 1, 1), "conv1d"),
    "convolution1d of images": Rates("convolution1d", partial(_convolution, 1, IMAGES), "conv1d"),
    "convolution3d": Rates("convolution3d", partial(_convolution, 3, 1), "conv3d"),
    "depthwise convolution": Rates("depthwise", _depthwise, "conv2d"),
    "transposed convolution": Rates("transposed", _transposed, "conv_transpose2d"),
    "window": Rates("window", partial(_window, functional.avg_pool2d)),
    "extreme window": Rates("window", partial(_window, functional.max_pool2d), "max_pool2d"),
    "reduction": Rates("reduction", partial(_rows, torch.sum, 1)),
    "reduction of rows": Rates("reduction", partial(_rows, torch.sum, 0)),
    "reduction of pieces": Rates("pieces", partial(_pieces, torch.sum), "reduction"),
    "extreme": Rates("reduction", partial(_rows, torch.amax, 1)),
    "extreme of rows": Rates("reduction", partial(_rows, torch.amax, 0)),
    "extreme of pieces": Rates("pieces", partial(_pieces, torch.amax), "reduction"),
    "softmax": Rates("softmax", partial(_rows, torch.softmax, 1)),
    "softmax of rows": Rates("softmax", partial(_rows, torch.softmax, 0)),
    "fourier": Rates("fourier", _fourier),
}
