"""The cases of `frontend.bench.run` on a GPU, and what one writes in torch for them: for operands
that lie as the formula has them, and for operands that were laid out for the library beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import torch
from torch.nn import functional

from einderive.frontend.bench.run import CASES
from einderive.frontend.bench.suite import Case

Torch = Callable[..., torch.Tensor]


def _conv(padding: int, image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """NHWC images, kernels [r,s,f,c], as views."""
    weights = kernel.permute(2, 3, 0, 1)
    return functional.conv2d(image.permute(0, 3, 1, 2), weights, padding=padding).permute(
        0, 2, 3, 1
    )


def _transposed(image: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    weights = kernel.permute(3, 2, 0, 1)
    images = image.permute(0, 3, 1, 2)
    return functional.conv_transpose2d(images, weights, stride=2, padding=1).permute(0, 2, 3, 1)


HALF, FEW = 1000, 2
"""Half the width of the band, and that of a small one."""


def _band(half: int, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Windows of padded rows as a strided view, then a product batched over the rows of each b:
    over all b at once the windows would have to be copied, 82 GB."""
    padded = functional.pad(right, (0, 0, 4 * half, 4 * half))
    windows = padded.unfold(1, 8 * half + 1, 1)[..., ::4]  # b, m, k, w
    pairs = zip(left, windows, strict=True)
    return torch.stack([torch.bmm(rows[:, None], held)[:, 0] for rows, held in pairs])


def _prepared(order: Sequence[int], tensor: torch.Tensor) -> torch.Tensor:
    """The tensor stored in that order of its dimensions, seen as before."""
    stored = tensor.permute(*order).contiguous()
    return stored.permute(*(order.index(d) for d in range(tensor.dim())))


NCHW, OIHW = (0, 3, 1, 2), (2, 3, 0, 1)
CHANNELS_LAST = (2, 0, 1, 3)
EAGER: dict[int, tuple[tuple[str, Torch, Sequence[int], Sequence[int]], ...]] = {
    1: (
        ("conv2d on views", partial(_conv, 1), (), ()),
        ("conv2d, NCHW beforehand", partial(_conv, 1), NCHW, OIHW),
        ("conv2d, channels last beforehand", partial(_conv, 1), (), CHANNELS_LAST),
    ),
    4: (
        ("conv2d on views", partial(_conv, 2), (), ()),
        ("conv2d, NCHW beforehand", partial(_conv, 2), NCHW, OIHW),
        ("conv2d, channels last beforehand", partial(_conv, 2), (), CHANNELS_LAST),
    ),
    6: (
        ("conv_transpose2d on views", _transposed, (), ()),
        ("conv_transpose2d, NCHW beforehand", _transposed, NCHW, (3, 2, 0, 1)),
        ("conv_transpose2d, channels last beforehand", _transposed, (), (3, 0, 1, 2)),
    ),
    7: (("pad, unfold, bmm for each b", partial(_band, HALF), (), ()),),
}


SMALLER: Final[Mapping[int, Mapping[int, int]]] = {
    1: {512: 4},
    4: {224: 9, 226: 11, 32: 4, 16: 1},
    6: {448: 3, 256: 2, 16: 2},
    7: {10000: 24, 2500: 6, 2001: 5, HALF: FEW, 64: 8},
}
"""What stands for the numbers of a case, in its formula and its shapes, where it is to be small."""


def case_of(number: int, small: bool = False) -> tuple[Case, str]:
    """The case, or the same with few channels and places, and the reference system's program."""
    known = CASES[number]
    less = SMALLER[number] if small else {}

    def lessened(text: str) -> str:
        return re.sub(r"\d+", lambda found: str(less.get(int(found[0]), found[0])), text)

    shapes = {
        name: tuple(less.get(extent, extent) for extent in shape)
        for name, shape in known.case.shapes.items()
    }
    case = replace(known.case, text=lessened(known.case.text), shapes=shapes)
    return case, lessened(known.derived)


def eager_of(
    number: int, operands: Sequence[torch.Tensor], small: bool = False
) -> Iterator[tuple[str, Torch, list[torch.Tensor]]]:
    """What one writes in torch, and operands for it; the first takes them as they are."""
    for label, run, *orders in EAGER[number]:
        given = [
            _prepared(order, operand) if order else operand
            for order, operand in zip(orders, operands, strict=True)
        ]
        yield label, partial(_band, FEW) if small and number == 7 else run, given
