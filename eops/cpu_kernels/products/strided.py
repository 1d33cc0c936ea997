"""Long sums of products of strided tensors, of which only their numbers of dimensions are given.

    Z[p,x,g] = sum[q](X[p,x,q] * G[p,g,q])       p: one dimension; x, g and q: any number of them

X may read its elements many times, as windows do.  The kernel adds up few products in the operands'
type and these sums in float64 (`sliding`).  It is made for these shapes and strides.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Final

import torch

from einderive.eops.cpu_kernels.build import KEPT
from einderive.eops.cpu_kernels.products.sliding import Form
from einderive.eops.cpu_kernels.products.written import Kernel
from einderive.ta.ir.dtypes import type_name

LANES: Final = {"float32": (16, 8, 4), "float64": (8, 4)}
AT_ONCE: Final = 512, 128
"""As many products are added to each other in a lane, across and along the places of a row."""
FAR: Final = 4
"""A vector is read from numbers so far apart at most: from as many vectors of neighbours."""
MOST_PARTS: Final = 64
LONG: Final = 64
"""Rows of so many places are long."""
LEAST_SUM: Final = 1 << 13
"""Each part adds up this many products for an element, at least."""
MOST_BYTES: Final = 1 << 25
"""The parts' results together take no more."""


class Strided(Kernel):
    """The kernel of a form: Z in the form's shape, in float64."""

    form: Form

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], torch.dtype], ...]:
        return ((self.form.shape, torch.float64),)

    @property
    def source(self) -> str:
        return f"{__doc__}\n{self.form}\n"

    @property
    def work(self) -> float:
        return 2.0 * self.form.work


def kernel_for(x: torch.Tensor, g: torch.Tensor, summed: int) -> Strided | None:
    """The kernel for these tensors, whose last so many dimensions are summed over; None where no
    vectors of neighbours can be read."""
    if x.dtype != g.dtype or type_name(x) not in LANES:
        return None
    return _kernel((*x.shape,), x.stride(), (*g.shape,), g.stride(), summed, type_name(x))


def added(z: torch.Tensor, x: torch.Tensor, g: torch.Tensor, summed: int) -> torch.Tensor:
    """The kernel's result as Z[p,x,g], in the type of the operands."""
    found = z.sum(1) if z.shape[1] > 1 else z[:, 0]
    xs, gs = x.shape[1 : x.ndim - summed], g.shape[1 : g.ndim - summed]
    lanes = found.shape[-1]
    split = [place for place, n in enumerate((*xs, *gs), 1) if n == found.shape[place] * lanes]
    if lanes > 1:
        found = found.movedim(-1, split[0] + 1)
    return found.reshape(x.shape[0], *xs, *gs).to(x.dtype)


@lru_cache(maxsize=KEPT)
def _kernel(
    x_shape: tuple[int, ...],
    x_steps: tuple[int, ...],
    g_shape: tuple[int, ...],
    g_steps: tuple[int, ...],
    summed: int,
    dtype: str,
) -> Strided | None:
    """See `kernel_for`; all of a tensor that the code depends on are its shape and its strides."""
    xs = [*zip(x_shape[1 : len(x_shape) - summed], x_steps[1:], strict=False)]
    gs = [*zip(g_shape[1 : len(g_shape) - summed], g_steps[1:], strict=False)]
    rows = [*zip(x_shape[-summed:], x_steps[-summed:], g_steps[-summed:], strict=True)]
    lanes = LANES[dtype]
    near = [row for row in rows if row[0] >= lanes[0] and all(1 <= n <= FAR for n in row[1:])]
    along = [row for row in near if row[1:] == (1, 1)]
    x_lanes, g_lanes = (1, 1) if along else _across(xs, gs, lanes[:1])
    if x_lanes == g_lanes and not along:  # no full vectors of neighbours
        along = near
        x_lanes, g_lanes = (1, 1) if along else _across(xs, gs, lanes[1:])
    if along:
        x_lanes = g_lanes = lanes[0]
    elif x_lanes == g_lanes:
        return None
    places = max(along or rows, key=lambda row: (min(row[0], LONG), -row[2] - row[1], row[0]))
    rows.remove(places)
    at_once = AT_ONCE[bool(along)] * (lanes[0] if along else 1)
    longest = min(at_once, places[0])
    terms = prod(row[0] for row in rows) * places[0]
    kept = 1 if along else max(x_lanes, g_lanes)
    results = 8 * x_shape[0] * prod(n for n, _ in (*xs, *gs)) * kept
    parts = min(MOST_PARTS, terms // LEAST_SUM, MOST_BYTES // max(results, 1))
    apart = ((x_shape[0], x_steps[0], g_steps[0]),)
    count = max(1, at_once // longest)
    steps = (tuple(xs), tuple(gs), apart, tuple(rows), places)
    return Strided(Form(*steps, max(1, parts), longest, count, x_lanes, g_lanes, dtype))


def _across(
    xs: list[tuple[int, int]], gs: list[tuple[int, int]], lanes: tuple[int, ...]
) -> tuple[int, int]:
    """The lanes of vectors of neighbours of X, and of G, of which one has some at most."""
    g_lanes = _vectors(gs, lanes)
    return _vectors(xs, lanes) if g_lanes == 1 else 1, g_lanes


def _vectors(dimensions: list[tuple[int, int]], lanes: tuple[int, ...]) -> int:
    """The lanes of vectors of neighbours, whose dimension then counts vectors; 1 where there are
    none."""
    for place, (extent, step) in enumerate(dimensions):
        found = next((n for n in lanes if step == 1 and extent % n == 0 and extent), 1)
        if found > 1:
            dimensions[place] = extent // found, found
            return found
    return 1
