"""The library call of convolutions, plain and transposed, on grouped channels.

    y[n,(g,f),h] = convolve(x[n,(g,c),..], w[(g,f),c,..])           transposed: w[(g,c),f,..]

Each of n, g, f and c is a role of any number of iterators, or of none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

import torch

from einderive.eops.library import arrange
from einderive.eops.library.convolve import Windows
from einderive.eops.library.sliding import Slide, bounds_of, wanted
from einderive.eops.library.traffic import call_bytes, operand_bytes
from einderive.eops.torch_views.scalar import Buffers
from einderive.eops.torch_views.strided import fill_value
from einderive.ta.ir.affine import Ranges, Row
from einderive.ta.ir.node import Access
from einderive.ta.ir.operator import Binding, Launch, Unit, Work, utilisation
from einderive.ta.traffic.walks import dense_strides, padded_copies


class Part(NamedTuple):
    """An operand's rows, and its iterators in the dimensions that slide over each other."""

    rows: Sequence[Row]
    sliding: Sequence[int]


class Convolution(NamedTuple):
    """A binding's windows, as slides and as the library takes them, and what slides."""

    found: Sequence[Slide]
    windows: Windows
    images: Part
    kernel: Part

    @property
    def roles(self) -> tuple[str, str]:
        """The kernel's outer and inner channels, beside the groups."""
        return ("c", "f") if self.windows.transposed else ("f", "c")


def grouped_work(binding: Binding, convolution: Convolution, points: int, taps: int) -> Work:
    """The work where this many points of every image meet this many of the kernel."""
    _, _, images, kernel = convolution
    bounds, roles = bounds_of(binding, convolution.found), binding.roles
    a, k = binding.operands
    outer, inner = convolution.roles
    moved, copied, in_runs = call_bytes(
        binding.scope,
        operand_bytes(a, images.rows, bounds, (roles["n"], (*roles["g"], *roles["c"]))),
        operand_bytes(k, kernel.rows, bounds, ((*roles["g"], *roles[outer]), roles[inner])),
    )
    points *= binding.extent("n")
    columns, summed = binding.extent(outer), binding.extent(inner) * taps
    shape = (binding.extent("g"), points, columns, summed)
    used = utilisation(points, columns, summed)
    if not copied and not in_runs and not _in_order(a, images, roles, bounds):
        copied += 2.0 * moved
    pads = padded_copies(images.rows, a.source.ranges, bounds)
    pads += padded_copies(kernel.rows, k.source.ranges, bounds)
    work = Work(2.0 * prod(shape), moved, 1, _unit(binding, convolution), used, copied, shape)
    return work._replace(pads=pads, views=_views(binding), bytes_in_runs=in_runs)


def _in_order(
    read: Access, part: Part, roles: Mapping[str, tuple[int, ...]], bounds: Ranges
) -> bool:
    """Whether images lie one after the other, and in each one its channels: as the library takes
    them."""
    steps = dense_strides(read.source, part.rows)
    groups = roles["n"], (*roles.get("g", ()), *roles["c"]), part.sliding
    held = [[abs(steps.get(i, 0)) for i in g if bounds[i].extent > 1] for g in groups]
    held = [group for group in held if group]
    return all(min(outer) >= max(inner) for outer, inner in pairwise(held))


def _unit(binding: Binding, convolution: Convolution) -> Unit:
    if convolution.windows.transposed:
        return "transposed convolution"
    if binding.extent("g") > 1 and binding.extent("c") == 1 and len(binding.windows) < 3:
        return "depthwise convolution"
    several = binding.extent("n") > 1
    if len(binding.windows) == 1:
        return "convolution1d of images" if several else "convolution1d"
    if len(binding.windows) == 3:
        return "convolution3d"
    return "convolution of images" if several else "convolution"


def _views(binding: Binding) -> int:
    """The operands, and the result, of which several or no iterators play a role."""
    alone = {role for role in "ngfc" if len(binding.roles.get(role, ())) == 1}
    plain = "g" not in binding.roles or not binding.roles["g"]
    return sum(not (plain and alone >= {*roles}) for roles in ("nc", "fc", "nf"))


def grouped_call(binding: Binding, convolution: Convolution) -> Launch:
    """The launcher for a binding whose windows slide as `convolution` says."""
    found, windows, images, kernel = convolution
    bounds = bounds_of(binding, found)
    scope, coefficient, roles = binding.scope, binding.coefficient, binding.roles
    a, k = binding.operands
    in_data = [*(i for role in "ngc" for i in roles[role]), *images.sliding]
    in_kernel = [*(i for role in "gfc" for i in roles[role]), *kernel.sliding]
    data = arrange.reading(a, images.rows, in_data, bounds)
    taps = arrange.reading(k, kernel.rows, in_kernel, bounds)
    xs, rs = ([(i,) for i in part.sliding] for part in (images, kernel))
    hs = [(window.loop,) for window in binding.windows]

    def call(buffers: Buffers, dtype: torch.dtype) -> torch.Tensor:
        x, w = data(buffers, dtype), taps(buffers, dtype)
        n, f = arrange.by_stride(x, roles["n"]), arrange.by_stride(w, roles["f"])
        larger = x if x.tensor.numel() >= w.tensor.numel() else w
        g, c = arrange.by_stride(larger, roles["g"]), arrange.by_stride(larger, roles["c"])
        outer, inner = (c, f) if windows.transposed else (f, c)
        weights = arrange.merged(w, ((*g, *outer), inner, *rs))
        early = arrange.scales_operand(weights, prod(scope.shape), coefficient)
        if early:
            weights = weights * fill_value(coefficient, dtype)
        result = wanted(windows.convolve(arrange.merged(x, (n, (*g, *c), *xs)), weights), found)
        if not early:
            result = arrange.scaled(result, coefficient)
        return arrange.restored(result, (n, (*g, *f), *hs), scope)

    return arrange.library_call(scope, call)
