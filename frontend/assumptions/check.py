"""Checks of operands against the assumptions of a formula: `assume A > 0`.

If a program's steps used an assumption, each call checks it in one pass over the tensor.  Under a
mode of torch such as `FakeTensorMode`, whose tensors have no elements, nothing is checked.  A NaN
violates every assumption.  The ends of an assumption are rounded to the tensor's type, so that an
element 0.1 satisfies `assume A <= 0.1` in float32 as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import torch

from einderive.eops.opaque import opaque, recordable
from einderive.ta.errors import AssumptionError
from einderive.ta.ir.node import Bounds, Number, Tensor
from einderive.ta.ir.program import Assumption

Check = Callable[[torch.Tensor], None]


@lru_cache
def rounded(bounds: Bounds, dtype: torch.dtype) -> Bounds:
    """The assumption with its ends as numbers of a floating type."""
    if not dtype.is_floating_point:
        return bounds

    def end(value: Number) -> float:
        return float(torch.tensor(float(value), dtype=torch.float64).to(dtype))

    return bounds._replace(least=end(bounds.least), greatest=end(bounds.greatest))


def check_of(tensor: Tensor) -> Check:
    """A function of values that raises AssumptionError if one of them violates the
    tensor's assumption."""
    return opaque(partial(_check, tensor))


def _check(tensor: Tensor, values: torch.Tensor) -> None:
    if not values.numel() or not recordable():
        return
    bounds = rounded(tensor.bounds, values.dtype)
    numbers = values.abs() if values.is_complex() else values
    numbers = numbers.to(torch.uint8) if values.dtype is torch.bool else numbers
    least, greatest = torch.aminmax(numbers)
    between = bounds._replace(nonzero=False)
    if not between.holds(least.item()):
        place = numbers.argmin()
    elif not between.holds(greatest.item()):
        place = numbers.argmax()
    elif bounds.nonzero and bool((zeros := values == 0).any()):
        place = zeros.to(torch.uint8).argmax()
    else:
        return
    index = np.unravel_index(int(place), tuple(values.shape))
    at = f"[{','.join(map(str, index))}]" if index else ""
    raise AssumptionError(
        f"`assume {Assumption(tensor.name, tensor.bounds)}` does not hold: "
        f"{tensor.name}{at} is {values[index].item()}",
        next_step="pass data for which it holds, or leave the assumption out of the formula; with "
        "check_assumptions=False it is not checked, and the results may then be wrong",
    )
