"""The library's convolutions, plain and transposed, with the digits of the element type.

float32 on a GPU       without TF32, whatever torch's flags say: its 10 bits cost 3 digits
16-bit types on a CPU  in float32, rounded once: oneDNN's own kernels for processors with AMX
                       give wrong elements now and then (torch 2.13, small images of float16 in
                       2 and 3 dimensions, of bfloat16 in 3)
large kernels          on a CPU, transposed, with images and kernel exchanged where that is faster;
                       plain, as another convolution's weight gradient (`weight_gradient`), or as
                       a sum of products of strided tensors (`window_products`), where that is
                       faster, or more exact and not far slower
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import Final, NamedTuple, TypeAlias

import torch
from torch.nn import functional

from einderive.eops.library.weight_gradient import MOST_SUMMED, Slid, is_large
from einderive.eops.library.window_products import by_products
from einderive.eops.timed import GAIN, fastest, is_timed
from einderive.eops.torch_views.types import HALVES


def _functions(word: str) -> dict[int, Callable[..., torch.Tensor]]:
    return {n: getattr(functional, f"{word}{n}d") for n in (1, 2, 3)}


PLAIN, TRANSPOSED = _functions("conv"), _functions("conv_transpose")

FAR_FASTER: Final = 0.3
"""A form that loses digits is taken if it takes at most this part of the other one's time."""


Form: TypeAlias = Callable[[], torch.Tensor]


def _fastest(key: Hashable, forms: Sequence[Form], gain: float = GAIN) -> Form:
    """The form that `timed.fastest` chooses."""
    return forms[fastest(key, lambda: forms, gain)]


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
            given = partial(TRANSPOSED[len(self.stride)], images, weights, **options)
            if not (self._exchangeable(images, weights) and is_timed(images, weights)):
                return given()
            layouts = images.shape, images.stride(), weights.shape, weights.stride()
            exchanged = partial(self._exchanged, images, weights)
            return _fastest((str(self), *layouts, images.dtype), [given, exchanged])()
        plain = partial(PLAIN[len(self.stride)], images, weights, **options)
        slid = Slid(**options)
        outputs = slid.outputs(images, weights) if is_timed(images, weights) else None
        if outputs is None:
            return plain()
        layouts = images.shape, images.stride(), weights.shape, weights.stride()
        key = (str(self), *layouts, images.dtype)
        exact: list[Form] = [partial(slid, images, weights, outputs)]
        products = by_products(slid, images, weights, outputs)
        if products is not None:
            exact.insert(0, products)
        if prod(weights.shape[1:]) <= MOST_SUMMED:
            return _fastest(key, [plain, *exact])()
        best = _fastest(("exact", *key), exact)
        return _fastest(key, [best, plain], FAR_FASTER)()  # plain loses up to two digits more

    def _exchangeable(self, images: torch.Tensor, weights: torch.Tensor) -> bool:
        """Whether `_exchanged` computes the transposed convolution, and may be faster."""
        plain = {*self.dilation} == {1} and min(self._reach(images)) >= 0
        return plain and is_large(weights.shape[2:], images.shape[2:])

    def _exchanged(self, images: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """The transposed convolution without dilation as a plain one, in which images and weights
        are exchanged.

            Y[n,(g,f),h] = A[n,(g,c),i] * K[(g,c),f,h+padding-stride*i]
                         = A[n,(g,c),I-1-i] * K[(g,c),f,h+stride*i-reach]"""
        flipped = images.flip(tuple(range(2, images.ndim)))
        flipped = flipped.view(images.shape[0], self.groups, -1, *images.shape[2:])
        found = PLAIN[len(self.stride)](
            weights.transpose(0, 1),
            flipped.transpose(0, 1).flatten(0, 1),
            padding=self._reach(images),
            dilation=self.stride,
            groups=self.groups,
        )
        found = found.view(found.shape[0], self.groups, -1, *found.shape[2:])
        return found.transpose(0, 2).flatten(1, 2)

    def _reach(self, images: torch.Tensor) -> list[int]:
        """`stride*(I-1) - padding` of each dimension."""
        numbers = zip(self.stride, images.shape[2:], self.padding, strict=True)
        return [stride * (extent - 1) - padding for stride, extent, padding in numbers]

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
