"""The library's convolutions, plain and transposed, with the digits of the element type.

float32 on a GPU       without TF32, whatever torch's flags say: its 10 bits cost 3 digits
16-bit types on a CPU  in float32, rounded once: oneDNN's own kernels for processors with AMX
                       give wrong elements now and then (torch 2.13, small images of float16 in
                       2 and 3 dimensions, of bfloat16 in 3)
large kernels          on a CPU as another convolution's weight gradient (`weight_gradient`), where
                       that is faster, or more exact and not far slower
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Final, NamedTuple

import torch
from torch.nn import functional

from einderive.eops.library.weight_gradient import MOST_SUMMED, Slid
from einderive.eops.timed import fastest, is_timed
from einderive.eops.torch_views.types import HALVES


def _functions(word: str) -> dict[int, Callable[..., torch.Tensor]]:
    return {n: getattr(functional, f"{word}{n}d") for n in (1, 2, 3)}


PLAIN, TRANSPOSED = _functions("conv"), _functions("conv_transpose")

FAR_FASTER: Final = 0.3
"""A form that loses digits is taken if it takes at most this part of the other one's time."""


class Windows(NamedTuple):
    """The windows of a convolution, one number for each dimension, in the order that torch takes
    them."""

    stride: Sequence[int]
    padding: Sequence[int]
    dilation: Sequence[int]
    groups: int
    transposed: bool = False

    def convolve(self, images: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """As `torch.nn.functional.conv*d(images, weights, None, stride, padding, dilation,
        groups)`, or `conv_transpose*d`."""
        if images.dtype in HALVES and images.is_cpu:
            return self._called(images.float(), weights.float()).to(images.dtype)
        if images.is_cuda and images.dtype is torch.float32:
            return self.without_tf32(images, weights)
        return self._called(images, weights)

    def _called(self, images: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        options = self._asdict()
        if options.pop("transposed"):
            return TRANSPOSED[len(self.stride)](images, weights, **options)
        plain = partial(PLAIN[len(self.stride)], images, weights, **options)
        slid = Slid(**options)
        outputs = slid.outputs(images, weights) if is_timed(images, weights) else None
        if outputs is not None:
            key = (str(self), images.shape, weights.shape, images.dtype)
            gradient = partial(slid, images, weights, outputs)
            if prod(weights.shape[1:]) > MOST_SUMMED:  # it loses up to two digits less
                return (gradient, plain)[fastest(key, lambda: (gradient, plain), FAR_FASTER)]()
            return (plain, gradient)[fastest(key, lambda: (plain, gradient))]()
        return plain()

    def without_tf32(self, images: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """The operator beneath, which takes torch's flags as arguments: setting them would meet
        other threads."""
        flags = torch.backends.cudnn
        found: torch.Tensor = torch._convolution(
            images,
            weights,
            None,
            self.stride,
            self.padding,
            self.dilation,
            self.transposed,
            [0] * len(self.stride),
            self.groups,
            flags.benchmark,
            flags.deterministic,
            flags.enabled,
            False,
        )
        return found
