"""Grouped convolution in 1, 2 and 3 dimensions.

    Y[n,g,f,h] = A[n,g,c,stride*h+dilation*r-padding] * K[g,f,c,r]

Each of n, g, f and c may be several iterators or none.  A negative dilation is the convolution of
signal processing, computed on the reversed kernel.
"""

from __future__ import annotations

from math import prod

from einderive.eops.library.convolve import Windows
from einderive.eops.library.grouped import Convolution, Part, grouped_call, grouped_work
from einderive.eops.library.operators import operators
from einderive.eops.library.plain import view_refusal
from einderive.eops.library.sliding import reversed_kernel, slides, view_rows
from einderive.ta.ir.operator import Binding, Work


def forward(binding: Binding) -> Convolution:
    """What the binding's kernel slides over."""
    found = slides(binding, pads_with=0)
    a, k = binding.operands
    windows = Windows(
        [slide.stride for slide in found],
        [slide.padding for slide in found],
        [slide.dilation for slide in found],
        binding.extent("g"),
    )
    return Convolution(
        found,
        windows,
        Part(view_rows(a, found), [slide.position for slide in found]),
        Part(
            reversed_kernel(k, found, binding.scope.domain),
            [slide.window.reduction for slide in found],
        ),
    )


def _work(binding: Binding) -> Work:
    convolution = forward(binding)
    points = prod(slide.extent + slide.skipped for slide in convolution.found)
    taps = prod(slide.kernel for slide in convolution.found)
    return grouped_work(binding, convolution, points, taps)


def _keeps_nonfinite(binding: Binding) -> bool:
    """The library leaves out what its own padding would be multiplied by."""
    return not any(slide.padding for slide in slides(binding, pads_with=0))


CONVOLUTIONS = operators(
    "conv",
    work=_work,
    launch=lambda binding: grouped_call(binding, forward(binding)),
    constraint=view_refusal,
    keeps_nonfinite=_keeps_nonfinite,
)
