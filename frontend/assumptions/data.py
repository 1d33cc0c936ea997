"""Data that satisfy the assumptions of a formula about its inputs: `assume A > 0, 0 <= B < 1`.

    least <= A                |x - least| + least
    A <= greatest             greatest - |greatest - x|
    least <= A <= greatest    the walk of x from end to end, reflected at each

So large numbers stay large, nearly equal ones nearly equal, and numbers that satisfy the
assumption stay as they are.  If a value is still outside, as a NaN is, or a number that is rounded
to an open end, a number well inside takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, inf, isfinite

import torch

from einderive.eops.dtypes import LIMITS
from einderive.frontend.assumptions.check import rounded
from einderive.ta.errors import BuildError
from einderive.ta.ir.node import ANY, Bounds, Tensor
from einderive.ta.ir.program import Assumption

MOST_APART = 15
"""Integers whose range has none of those that are usual lie so near to its end."""


def folded(values: torch.Tensor, bounds: Bounds) -> torch.Tensor:
    """Floating-point numbers, as the page says; not yet inside of ends that are open."""
    least, greatest = float(bounds.least), float(bounds.greatest)
    if isfinite(least) and isfinite(greatest):
        width = greatest - least
        if not width:
            return torch.full_like(values, least)
        held = (values >= least) & (values <= greatest)
        along = torch.remainder(values - least, 2 * width)
        return torch.where(held, values, least + torch.minimum(along, 2 * width - along))
    if isfinite(least):
        return torch.where(values >= least, values, least + (values - least).abs())
    if isfinite(greatest):
        return torch.where(values <= greatest, values, greatest - (greatest - values).abs())
    return values


def kept(values: torch.Tensor, tensor: Tensor) -> torch.Tensor:
    """The values in the tensor's type, each one that violates the assumption replaced."""
    dtype, bounds = getattr(torch, tensor.dtype), tensor.bounds
    found = values.to(dtype)
    if bounds == ANY:
        return found
    wrong = _broken(found, bounds)
    return found.masked_fill(wrong, _inside(tensor)) if bool(wrong.any()) else found


def _broken(values: torch.Tensor, assumed: Bounds) -> torch.Tensor:
    """The floating-point numbers that violate the assumption, NaN among them."""
    bounds = rounded(assumed, values.dtype)
    least, greatest = float(bounds.least), float(bounds.greatest)
    low = values > least if bounds.above else values >= least
    high = values < greatest if bounds.below else values <= greatest
    return ~(low & high) | ((values == 0) & bounds.nonzero)


def _inside(tensor: Tensor) -> float:
    """A number of the tensor's type that satisfies the assumption; BuildError if none is found."""
    dtype = getattr(torch, tensor.dtype)
    for number in _candidates(tensor.bounds):
        rounded = torch.tensor(number, dtype=torch.float64).to(dtype)
        if rounded.isfinite() and not _broken(rounded, tensor.bounds):
            return float(rounded)
    raise _none(tensor)


def _candidates(bounds: Bounds) -> Iterator[float]:
    least, greatest = float(bounds.least), float(bounds.greatest)
    if isfinite(least) and isfinite(greatest):
        yield from (least + share * (greatest - least) for share in (0.5, 0.25, 0.75))
    yield from (end for end in (1.0, least + 1, greatest - 1, least, greatest) if isfinite(end))


def whole_ends(tensor: Tensor, low: int, high: int) -> tuple[int, int]:
    """The least and the greatest integer to draw, instead of `low` and `high`.  BuildError if no
    number of the type satisfies the assumption."""
    bounds, (first, last) = tensor.bounds, LIMITS[tensor.dtype]
    if bounds.least > -inf:
        end = ceil(bounds.least)
        first = max(first, end + (bounds.above and bounds.least == end))
    if bounds.greatest < inf:
        end = floor(bounds.greatest)
        last = min(last, end - (bounds.below and bounds.greatest == end))
    if first > last or (bounds.nonzero and first == last == 0):
        raise _none(tensor)
    if max(first, low) <= min(last, high):
        return max(first, low), min(last, high)
    if first > high:
        return first, min(last, first + MOST_APART)
    return max(first, last - MOST_APART), last


def without_zero(values: torch.Tensor, tensor: Tensor, ends: tuple[int, int]) -> torch.Tensor:
    """The integers with another number in the place of 0, where an assumption excludes 0."""
    if not tensor.bounds.nonzero:
        return values
    return values.masked_fill_(values == 0, ends[1] or ends[0])


def _none(tensor: Tensor) -> BuildError:
    return BuildError(
        f"no {tensor.dtype} number keeps `{Assumption(tensor.name, tensor.bounds)}`, so that there "
        "are no data to try programs on",
        next_step="assume less, or choose another element type",
    )
