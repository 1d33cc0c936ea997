"""Sums (averages) and maxima over windows in 1, 2 and 3 dimensions.

    Y[b,h] = sum[r](A[b,stride*h+r-padding])
    Y[b,h] = max[r](A[b,stride*h+dilation*r-padding])

A one-dimensional window may slide over any axis: the others become channels.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import inf, isinf, prod
from typing import Literal

import torch
from torch.nn import functional

from einderive.eops.library import arrange
from einderive.eops.library.operators import DIMENSIONS, operators
from einderive.eops.library.plain import view_refusal
from einderive.eops.library.sliding import Slide, bounds_of, slides, view_rows, wanted
from einderive.eops.library.traffic import output_bytes, read_bytes
from einderive.eops.torch_views.contract import Operand
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.steps import Dims
from einderive.eops.torch_views.types import HALVES
from einderive.ta.exact.fields import rounded
from einderive.ta.ir.node import Number
from einderive.ta.ir.operator import Binding, Launch, Operator, Unit, Work
from einderive.ta.traffic.walks import dense_strides, padded_copies

MAXIMUM = {n: getattr(functional, f"max_pool{n}d") for n in DIMENSIONS}


def _divisor(coefficient: Number) -> int:
    """The n of a coefficient 1/n, which the library divides by itself; else 1."""
    if isinstance(coefficient, Fraction) and coefficient.numerator == 1:
        return coefficient.denominator
    return 1


def _average(images: torch.Tensor, found: tuple[Slide, ...], coefficient: Number) -> torch.Tensor:
    """One dimension is pooled as the last of two: on a CPU that is the faster way, and dimensions
    inside it as channels run along the memory."""
    lead = 2 - len(found) if len(found) < 2 else 0
    divisor = _divisor(coefficient)
    pool = functional.avg_pool3d if len(found) == 3 else functional.avg_pool2d
    source = images.unsqueeze(2) if lead else images
    if len(found) == 3 and images.dtype in HALVES and not images.is_cuda:
        source = source.float()  # the library lacks this one
    result = pool(
        source,
        [1] * lead + [slide.kernel for slide in found],
        stride=[1] * lead + [slide.stride for slide in found],
        padding=[0] * lead + [slide.padding for slide in found],
        divisor_override=divisor,
    )
    result = wanted(result.squeeze(2) if lead else result, found)
    return (result if divisor > 1 else arrange.scaled(result, coefficient)).to(images.dtype)


def _maximum(images: torch.Tensor, found: tuple[Slide, ...], coefficient: Number) -> torch.Tensor:
    result = MAXIMUM[len(found)](
        images,
        [slide.kernel for slide in found],
        stride=[slide.stride for slide in found],
        padding=[slide.padding for slide in found],
        dilation=[slide.dilation for slide in found],
    )
    return arrange.scaled(wanted(result, found), coefficient)


def _average_constraint(binding: Binding) -> str | None:
    if any(abs(window.dilation) != 1 for window in binding.windows):
        return "the library's average has no dilation"
    return view_refusal(binding)


def _maximum_constraint(binding: Binding) -> str | None:
    if binding.coefficient <= 0:
        return "a negative factor turns the maximum into a minimum"
    if isinf(rounded(binding.coefficient)):
        return "an infinite factor cannot leave the maximum"
    return view_refusal(binding)


def _channels(operand: Operand, role: Dims, xs: Dims) -> tuple[Dims, Dims]:
    """The role as (images, channels): what lies inside the windows' dimensions in memory are
    channels, so that such operands are pooled as they lie."""
    strides = dict(zip(operand.dims, operand.tensor.stride(), strict=True))
    least = min(strides[x] for x in xs)
    ordered = arrange.by_stride(operand, role)
    inside = tuple(i for i in ordered if 0 < strides[i] < least)
    outside = tuple(i for i in ordered if i not in inside)
    return (outside, inside) if inside else ((), outside)


NOBODY: Dims = ()
Kind = Literal["avg", "max"]


def _slides(kind: Kind, binding: Binding) -> tuple[Slide, ...]:
    return slides(binding, pads_with=-inf if kind == "max" else 0, pooling=True)


def _launch(kind: Kind, binding: Binding) -> Launch:
    scope, coefficient = binding.scope, binding.coefficient
    found = _slides(kind, binding)
    bounds, role = bounds_of(binding, found), binding.roles["b"]
    (access,) = binding.operands
    xs = tuple(slide.position for slide in found)
    data = arrange.reading(access, view_rows(access, found), (*role, *xs), bounds)
    hs = tuple((slide.window.loop,) for slide in found)
    pool = _average if kind == "avg" else _maximum

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        operand = data(buffers, dtype)
        if kind == "max" and len(found) == 1:  # pooled row by row: much faster when contiguous
            images, channels = NOBODY, arrange.by_stride(operand, role)
        else:
            images, channels = _channels(operand, role, xs)
        arranged = arrange.merged(operand, (images, channels, *((x,) for x in xs)))
        return arrange.restored(pool(arranged, found, coefficient), (images, channels, *hs), scope)

    return arrange.library_call(scope, call)


def _work(kind: Kind, binding: Binding) -> Work:
    found = _slides(kind, binding)
    (access,) = binding.operands
    rows, role = view_rows(access, found), binding.roles["b"]
    outputs = binding.extent("b") * prod(slide.extent + slide.skipped for slide in found)
    groups = [role]
    if kind == "avg" or len(found) > 1:  # as `_channels` splits them
        steps = dense_strides(access.source, rows)
        least = min(steps[slide.position] for slide in found)
        groups = [
            tuple(i for i in role if (steps.get(i, 0) < least) is inside)
            for inside in (False, True)
        ]
    moved = output_bytes(binding.scope) + read_bytes(
        access, rows, bounds_of(binding, found), groups
    )
    taps = prod(slide.kernel for slide in found)
    unit: Unit = "extreme window" if kind == "max" and len(found) > 1 else "window"
    pads = padded_copies(rows, access.source.ranges, bounds_of(binding, found))
    return Work(float(outputs * taps), moved, 1, unit, shape=(outputs, taps), pads=pads)


def _pools(kind: Kind, constraint: Callable[[Binding], str | None]) -> tuple[Operator, ...]:
    work, launch = partial(_work, kind), partial(_launch, kind)
    return operators(f"{kind}_pool", work=work, launch=launch, constraint=constraint)


AVERAGE_POOLS = _pools("avg", _average_constraint)
MAXIMUM_POOLS = _pools("max", _maximum_constraint)
