"""Convolutions of few outputs with large kernels, as one long sum of products of strided tensors.

    Y[n,(g,f),h] = sum[c,r](A[n,(g,c),stride*h+dilation*r-padding] * K[(g,f),c,r])

                 = sum[c,r](X[g,n,h,c,r] * K[g,f,c,r])          X: A's windows, read where they lie

`products_by` sets the function that computes such sums.  Where it reads no vectors from tensors
that lie like these, they are copied; a dilation d of the last dimension then becomes d tensors,
each of every d-th column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import prod
from typing import Final, TypeAlias

import torch

from einderive.eops.library.weight_gradient import Slid

LEAST_WORK: Final = 1 << 22
"""Multiply-adds below which the function, which may compile code, is not asked."""
LEAST_ROW: Final = 16
"""The function takes all tensors whose last dimension has so many elements side by side."""

Products: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor | None]
"""`Z[p,x,g] = sum[q](X[p,x,q]*G[p,g,q])`, where p and g are one dimension each; None where it reads
no vectors from tensors that lie like these."""
_PRODUCTS: ContextVar[Products | None] = ContextVar("products", default=None)


@contextmanager
def products_by(products: Products) -> Iterator[None]:
    """A context in which this function computes long sums of products."""
    token = _PRODUCTS.set(products)
    try:
        yield
    finally:
        _PRODUCTS.reset(token)


def is_long(work: int, row: int) -> bool:
    """Whether the function is asked for a sum of so many products in rows of this length."""
    return work >= LEAST_WORK and row >= LEAST_ROW


def by_products(
    slid: Slid, images: torch.Tensor, weights: torch.Tensor, outputs: Sequence[int]
) -> Callable[[], torch.Tensor] | None:
    """The convolution with so many outputs as a long sum; None where no function computes it."""
    products = _PRODUCTS.get()
    work = images.shape[0] * weights.numel() * prod(outputs)
    if products is None or not is_long(work, weights.shape[-1]):
        return None
    if images.dtype not in (torch.float32, torch.float64):
        return None
    if slid.stride[-1] > 1 and slid.stride[-1] % slid.dilation[-1]:
        return None  # the columns of a window are of several of the d tensors
    grouped = weights.view(slid.groups, -1, *weights.shape[1:])

    def convolved() -> torch.Tensor:
        found = products(_windows(slid, images, weights, outputs), grouped)
        if found is None:
            x = _windows(slid, images, weights, outputs, in_columns=True)
            found = products(x, grouped.contiguous())
            assert found is not None
            found = found.flatten(-3, -2).narrow(-2, 0, outputs[-1])
        return found.movedim(-1, 1).movedim(2, 0).flatten(1, 2)

    return convolved


def _windows(
    slid: Slid,
    images: torch.Tensor,
    weights: torch.Tensor,
    outputs: Sequence[int],
    *,
    in_columns: bool = False,
) -> torch.Tensor:
    """The windows X[g,n,h,c,r].  With `in_columns`, r has step 1 in the last dimension, and h has
    two numbers there, of which the second one says in which of the d tensors a window begins."""
    stride, dilation, kernel = slid.stride, slid.dilation, weights.shape[2:]
    apart = dilation[-1] if in_columns else 1
    last = (outputs[-1] - 1) // apart * apart + apart - 1 if stride[-1] == 1 else outputs[-1] - 1
    ends = [
        s * h + d * (r - 1) + 1
        for s, h, d, r in zip(
            stride, (*(n - 1 for n in outputs[:-1]), last), dilation, kernel, strict=True
        )
    ]
    ends[-1] = -(-ends[-1] // apart) * apart
    x = _around(images, slid.padding, ends)
    x = x.view(x.shape[0], slid.groups, -1, *x.shape[2:])
    if in_columns:
        x = x.reshape(*x.shape[:-1], -1, apart).transpose(-1, -2).contiguous()
    n, g, c, *own = x.stride()
    hs = [(extent, s * step) for extent, s, step in zip(outputs, stride, own, strict=False)]
    rs = [d * step for d, step in zip(dilation, own, strict=False)]
    if in_columns:
        begins = stride[-1] == 1 and apart > 1
        hs[-1:] = (
            [(last // apart + 1, 1), (apart, own[-2])]
            if begins
            else [(outputs[-1], stride[-1] // apart), (1, 0)]
        )
        rs[-1] = 1
    sizes = [slid.groups, x.shape[0], *(extent for extent, _ in hs), x.shape[2], *kernel]
    return x.as_strided(sizes, [g, n, *(step for _, step in hs), c, *rs])


def _around(images: torch.Tensor, before: Sequence[int], ends: Sequence[int]) -> torch.Tensor:
    """The images from `before` so many places before their first one on, of extents `ends`, with
    zeros around them, and in the same order of dimensions in memory."""
    if not any(before) and all(n >= end for n, end in zip(images.shape[2:], ends, strict=True)):
        return images
    order = sorted(range(images.ndim), key=images.stride, reverse=True)
    shape = [*images.shape[:2], *ends]
    own = [order.index(axis) for axis in range(images.ndim)]
    found = images.new_empty([shape[axis] for axis in order]).permute(own)
    inside = found
    for axis, (low, end) in enumerate(zip(before, ends, strict=True), 2):
        high = min(low + images.shape[axis], end)
        inside.narrow(axis, 0, low).zero_()
        inside.narrow(axis, high, end - high).zero_()
        inside = inside.narrow(axis, low, high - low)
        images = images.narrow(axis, 0, high - low)
    inside.copy_(images)
    return found
