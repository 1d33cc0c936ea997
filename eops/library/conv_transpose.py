"""Transposed convolution in 1, 2 and 3 dimensions.

    Y[n,g,f,h] = A[n,g,i,c] * K[g,f,c,h+padding-stride*i]

Every element i of the input adds a whole kernel to the output at stride*i.  Each of n, g, f
and c may be several iterators or none.
"""

from __future__ import annotations

from math import prod

from einderive.eops.library.convolve import Windows
from einderive.eops.library.grouped import Convolution, Part, grouped_call, grouped_work
from einderive.eops.library.operators import operators
from einderive.eops.library.plain import view_refusal
from einderive.eops.library.sliding import Slide, split_row, touched, view_rows
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.operator import Binding, Work


def slides_of(binding: Binding) -> tuple[Slide, ...]:
    """Each window `y = h - step*i` into the kernel, its step the slide's dilation: `bound` is the
    range of y that is laid out, `padding` the outputs that the library drops on both sides,
    `skipped` those before the first wanted one after that."""
    domain = binding.scope.domain
    found = []
    for place, window in enumerate(binding.windows, len(domain)):
        kernel = binding.operands[window.operand]
        row = kernel.rows[window.dimension]
        step, (first, stop) = -window.dilation, domain[window.loop]
        start, end = domain[window.reduction]
        low, high = affine.bounds(split_row(row, window)[0], domain)
        if kernel.fill == 0:
            hit = touched(row, window, kernel.source.ranges[window.dimension], domain)
            # the kernel of the first input reaches the first output, that of the last the last
            low = min(max(low, hit.lo), first - step * start)
            high = max(min(high, hit.hi - 1), stop - 1 - step * (end - 1))
            high = max(low, high)  # nothing is hit: one y, which reads the fill
        before = first - (low + step * start)
        after = step * (end - 1) + high - (stop - 1)
        cropped = min(before, after, high - low)
        bound = Range(low, high + 1)
        extents = stop - first, end - start
        found.append(Slide(window, place, bound, *extents, cropped, before - cropped))
    return tuple(found)


def _constraint(binding: Binding) -> str | None:
    if (refusal := view_refusal(binding)) is not None:
        return refusal
    if any(window.dilation > 0 for window in binding.windows):
        return "the kernel's window slides with its input: that is a plain convolution"
    if any(window.stride != 1 for window in binding.windows):
        return "the outputs are strided"
    return None


def backward(binding: Binding) -> Convolution:
    """What the binding's inputs add to."""
    found = slides_of(binding)
    a, k = binding.operands
    windows = Windows(
        [slide.dilation for slide in found],
        [slide.padding for slide in found],
        [1] * len(found),
        binding.extent("g"),
        transposed=True,
    )
    return Convolution(
        found,
        windows,
        Part(a.rows, [slide.window.reduction for slide in found]),
        Part(view_rows(k, found), [slide.position for slide in found]),
    )


def _work(binding: Binding) -> Work:
    convolution = backward(binding)
    points = prod(slide.kernel for slide in convolution.found)
    taps = prod(slide.bound.extent for slide in convolution.found)
    return grouped_work(binding, convolution, points, taps)


TRANSPOSED_CONVOLUTIONS = operators(
    "conv_transpose",
    work=_work,
    launch=lambda binding: grouped_call(binding, backward(binding)),
    constraint=_constraint,
)
