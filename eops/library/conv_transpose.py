"""Transposed convolution in 1, 2 and 3 dimensions.

    Y[n,g,f,h] = A[n,g,i,c] * K[g,f,c,h+padding-stride*i]

Every element i of the input adds a whole kernel to the output at stride*i.  n, g, f and c may each
be several iterators or none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

import torch
from torch.nn import functional

from eops.library.arrange import (
    by_stride,
    library_call,
    merged,
    reading,
    restored,
    scaled,
    scales_operand,
)
from eops.library.sliding import Slide, bounds_of, split_row, touched, view_rows
from eops.library.traffic import operand_bytes, output_bytes, utilisation
from eops.torch_scalar import Buffers
from eops.views import fill_value
from ta import affine
from ta.affine import Range
from ta.operator import Binding, Launch, Operator, Work

LOOPS = {1: "h", 2: "hw", 3: "zhw"}
INPUTS = {1: "i", 2: "ij", 3: "lij"}
CONVOLVE: dict[int, Callable[..., torch.Tensor]] = {
    1: functional.conv_transpose1d,
    2: functional.conv_transpose2d,
    3: functional.conv_transpose3d,
}


class Scatter(NamedTuple):
    """One window `y = h - step*i` into the kernel: `slide.bound` is the range of y that is laid
    out, `cropped` the outputs dropped by the library on both sides, `skipped` those before the
    first wanted one after that."""

    slide: Slide
    step: int
    cropped: int
    skipped: int


def _scatters(binding: Binding) -> tuple[Scatter, ...]:
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
        slide = Slide(window, place, Range(low, high + 1), stop - first, end - start)
        before = first - (low + step * start)
        after = step * (end - 1) + high - (stop - 1)
        cropped = min(before, after, high - low)
        found.append(Scatter(slide, step, cropped, before - cropped))
    return tuple(found)


def _constraint(binding: Binding) -> str | None:
    if any(row.floors for read in binding.operands for row in read.rows):
        return "an index with // is not a view"
    if any(window.dilation > 0 for window in binding.windows):
        return "the kernel's window slides with its input: that is a plain convolution"
    if any(window.stride != 1 for window in binding.windows):
        return "the outputs are strided"
    return None


def _launch(dimensions: int, binding: Binding) -> Launch:
    scope, coefficient = binding.scope, binding.coefficient
    scatters = _scatters(binding)
    found = [scatter.slide for scatter in scatters]
    bounds, roles = bounds_of(binding, found), binding.roles
    a, k = binding.operands
    ys = tuple((slide.position,) for slide in found)
    inputs = tuple((slide.window.reduction,) for slide in found)
    hs = tuple((slide.window.loop,) for slide in found)
    in_data = [i for role in (*map(roles.__getitem__, "ngc"), *inputs) for i in role]
    in_kernel = [i for role in (*map(roles.__getitem__, "gfc"), *ys) for i in role]
    data = reading(a, a.rows, in_data, bounds)
    kernel = reading(k, view_rows(k, found), in_kernel, bounds)
    convolve = partial(
        CONVOLVE[dimensions],
        stride=[scatter.step for scatter in scatters],
        padding=[scatter.cropped for scatter in scatters],
        groups=binding.extent("g"),
    )

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        x, w = data(buffers, dtype), kernel(buffers, dtype)
        n, f = by_stride(x, roles["n"]), by_stride(w, roles["f"])
        larger = x if x.tensor.numel() >= w.tensor.numel() else w
        g, c = by_stride(larger, roles["g"]), by_stride(larger, roles["c"])
        weights = merged(w, ((*g, *c), f, *ys))
        early = scales_operand(weights, prod(scope.shape), coefficient)
        if early:
            weights = weights * fill_value(coefficient, dtype)
        result = _wanted(convolve(merged(x, (n, (*g, *c), *inputs)), weights), scatters)
        if not early:
            result = scaled(result, coefficient)
        return restored(result, (n, (*g, *f), *hs), scope)

    return library_call(scope, call)


def _wanted(result: torch.Tensor, scatters: Sequence[Scatter]) -> torch.Tensor:
    for axis, scatter in enumerate(scatters, result.dim() - len(scatters)):
        result = result.narrow(axis, scatter.skipped, scatter.slide.extent)
    return result


def _work(binding: Binding) -> Work:
    scope, roles = binding.scope, binding.roles
    found = [scatter.slide for scatter in _scatters(binding)]
    bounds = bounds_of(binding, found)
    a, k = binding.operands
    n, g, f, c = (binding.extent(role) for role in "ngfc")
    points = n * prod(slide.kernel for slide in found)
    outputs = f * prod(slide.bound.extent for slide in found)
    channels = ((*roles["g"], *roles["c"]), roles["f"])
    reads = (
        (a, a.rows, bounds, (roles["n"], channels[0])),
        (k, view_rows(k, found), bounds, channels),
    )
    moved, copied = output_bytes(scope), 0.0
    for read in reads:
        touched_bytes, copied_bytes = operand_bytes(*read)
        moved += touched_bytes
        copied += copied_bytes
    operations = 2.0 * points * g * c * outputs
    return Work(operations, moved, 1, "convolution", utilisation(points, c, outputs), copied)


def _definition(dimensions: int) -> str:
    pairs = list(zip(LOOPS[dimensions], INPUTS[dimensions], strict=True))
    windows = ",".join(f"{h}+{{padding_{h}}}-{{stride_{h}}}*{i}" for h, i in pairs)
    loops, inputs = ",".join(LOOPS[dimensions]), ",".join(INPUTS[dimensions])
    return f"Y[n,g,f,{loops}] = A[n,g,c,{inputs}] * K[g,f,c,{windows}]"


def _operator(dimensions: int) -> Operator:
    return Operator(
        name=f"conv_transpose{dimensions}d",
        definition=_definition(dimensions),
        work=_work,
        launch=partial(_launch, dimensions),
        constraint=_constraint,
        summary=f"{dimensions}-d transposed convolution with stride, padding and groups",
    )


TRANSPOSED_CONVOLUTIONS = tuple(map(_operator, LOOPS))
