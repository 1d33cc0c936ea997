"""Convolutions of few outputs with large kernels, as the weight gradient of another convolution.

    Y[n,f,h] = A[n,c,stride*h+dilation*r-padding] * K[f,c,r]

    W[f,n,h] = the gradient by the weights W of the convolution of the images A'[c,n,x] that has
               the stride `dilation`, the dilation `stride`, and the cotangent K'[c,f,r]

The gradient of a convolution by its weights has the form of the first line: h runs over the few
places of the weights, r over all points of the pictures.  The library's own routine for it takes
a half to a tenth of the time of its convolution with so large a kernel.  It adds up r one after the
other; more than `MOST_SUMMED` products are therefore added up in parts along the first dimension
of r, which keeps up to two digits that would be lost where the mean is far from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import torch
from torch.nn import functional

LARGE: Final = 4
"""A kernel is large if it has this many times as many elements as there are outputs of it."""
MOST_SUMMED: Final = 1 << 12
"""The most products that one call of the library adds up for an element."""


def is_large(kernel: Sequence[int], outputs: Sequence[int]) -> bool:
    """Whether a kernel of these extents is large."""
    return prod(kernel) >= LARGE * prod(outputs)


class Slid:
    """A convolution's numbers, one for each dimension of its windows."""

    def __init__(
        self, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
    ) -> None:
        self.stride, self.padding, self.dilation = [*stride], [*padding], [*dilation]
        self.groups = groups

    def outputs(self, images: torch.Tensor, weights: torch.Tensor) -> tuple[int, ...] | None:
        """The outputs' extents where the kernel is large; None where it is not, or where some
        points of the pictures are not read, which the other convolution would read."""
        extents, left = [], []
        for axis, (stride, padding, dilation) in enumerate(
            zip(self.stride, self.padding, self.dilation, strict=True), 2
        ):
            reach = images.shape[axis] + 2 * padding - dilation * (weights.shape[axis] - 1) - 1
            extents.append(reach // stride + 1)
            left.append(reach % stride < dilation)
        if min(extents) < 1 or not all(left):
            return None
        return tuple(extents) if is_large(weights.shape[2:], extents) else None

    def __call__(
        self, images: torch.Tensor, weights: torch.Tensor, outputs: Sequence[int]
    ) -> torch.Tensor:
        """As `conv*d(images, weights, None, stride, padding, dilation, groups)`."""
        grouped = images.reshape(images.shape[0], self.groups, -1, *images.shape[2:])
        pictures = grouped.transpose(0, 2).flatten(1, 2)
        kernels = weights.reshape(self.groups, -1, *weights.shape[1:])
        cotangents = kernels.movedim(2, 0).flatten(1, 2)
        shape = (weights.shape[0], images.shape[0], *outputs)
        rows, each = cotangents.shape[2], cotangents.shape[0] * prod(cotangents.shape[3:])
        step = max(1, MOST_SUMMED // max(each, 1))
        if step >= rows:
            found = self._gradient(pictures, cotangents, shape, self.padding)
        else:
            found = pictures.new_zeros(shape)
            for first in range(0, rows, step):
                part = range(first, min(first + step, rows))
                found += self._part(pictures, cotangents, shape, part)
        return found.transpose(0, 1)

    def _part(
        self,
        pictures: torch.Tensor,
        cotangents: torch.Tensor,
        shape: Sequence[int],
        rows: range,
    ) -> torch.Tensor:
        """The products with some rows of the cotangents."""
        first = rows.start * self.dilation[0] - self.padding[0]
        end = (rows.stop - 1) * self.dilation[0] - self.padding[0]
        end += self.stride[0] * (shape[2] - 1) + 1
        extent = pictures.shape[2]
        low, high = min(max(first, 0), extent), max(min(end, extent), 0)
        inside = pictures[:, :, low : max(low, high)]
        around = [0, 0] * (len(self.stride) - 1)
        before = min(max(0, -first), end - first)
        after = end - first - before - inside.shape[2]
        padded = functional.pad(inside, [*around, before, after]) if before or after else inside
        return self._gradient(
            padded, cotangents[:, :, rows.start : rows.stop], shape, [0, *self.padding[1:]]
        )

    def _gradient(
        self,
        pictures: torch.Tensor,
        cotangents: torch.Tensor,
        shape: Sequence[int],
        padding: Sequence[int],
    ) -> torch.Tensor:
        found: torch.Tensor = torch.ops.aten.convolution_backward(
            cotangents,
            pictures,
            pictures.new_empty(shape),
            None,
            self.dilation,
            padding,
            self.stride,
            False,
            [0] * len(self.stride),
            self.groups,
            [False, True, False],
        )[1]
        return found
