"""The inputs that programs are judged on: random numbers, families of them, and NaN and infinities.

Each family (`accuracy.inputs.families`) makes every tensor of a program from one generator.
Integers and bools have no hard families; they are judged on data of their types' whole range as
well.  All data satisfy the assumptions of the formula about its inputs
(`frontend.assumptions.data`).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from einderive.eops.dtypes import LIMITS
from einderive.frontend.accuracy.inputs.families import Family, Make, Wanted, normal, sparse
from einderive.frontend.assumptions.data import folded, kept, whole_ends, without_zero
from einderive.frontend.assumptions.indices import Reach
from einderive.ta.ir.node import Tensor

SMALL = 8
"""Random integers lie between -8 and 7."""
NONE: Reach = {}
OUTSIDE = 64
"""One index in this many lies just outside of the dimension that it picks from, at either end."""


def random_inputs(
    tensors: Sequence[Tensor], device: str, seed: int = 0, scale: float = 1.0, reach: Reach = NONE
) -> dict[Tensor, torch.Tensor]:
    """Standard normal numbers times `scale` for floating types.  For others small integers, of both
    signs if the type has negative numbers, and for indices those of the dimension (`reach`)."""
    generator = torch.Generator().manual_seed(seed)
    return {tensor: _random(tensor, generator, scale, reach).to(device) for tensor in tensors}


def family_inputs(
    tensors: Sequence[Tensor], family: Family, device: str, seed: int = 0, reach: Reach = NONE
) -> dict[Tensor, torch.Tensor]:
    """The family's values in the tensors' types; random ones for tensors of integers."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[Tensor, torch.Tensor] = {}
    made: list[torch.Tensor] = []
    for tensor in tensors:
        if _type(tensor).is_floating_point:
            made.append(folded(family.make(Wanted(tensor, made, generator)), tensor.bounds))
            values = kept(made[-1], tensor)
        else:
            values = _random(tensor, generator, reach=reach)
        found[tensor] = values.to(device)
    return found


def whole_range_inputs(
    tensors: Sequence[Tensor], device: str, greatest: int = 2**63, seed: int = 1
) -> dict[Tensor, torch.Tensor]:
    """Integers of the whole range of their types, at most `greatest` in magnitude.  A quarter of
    them are the least or the greatest number.  Standard normal numbers for other types."""
    generator = torch.Generator().manual_seed(seed)
    return {
        tensor: _whole_range(tensor, greatest, generator).to(device)
        if tensor.dtype in LIMITS
        else _random(tensor, generator).to(device)
        for tensor in tensors
    }


def _whole_range(tensor: Tensor, greatest: int, generator: torch.Generator) -> torch.Tensor:
    least, most = LIMITS[tensor.dtype]
    low, high = whole_ends(tensor, max(least, -greatest), min(most, greatest))
    beyond = min(high + 1, LIMITS["int64"][1])
    values = torch.randint(low, beyond, tensor.shape, generator=generator, dtype=_type(tensor))
    kind = torch.randint(8, tensor.shape, generator=generator, dtype=torch.uint8)
    values = values.masked_fill_(kind == 0, low).masked_fill_(kind == 1, high)
    return without_zero(values, tensor, (low, high))


def _type(tensor: Tensor) -> torch.dtype:
    dtype = getattr(torch, tensor.dtype)
    assert isinstance(dtype, torch.dtype)
    return dtype


def _random(
    tensor: Tensor, generator: torch.Generator, scale: float = 1.0, reach: Reach = NONE
) -> torch.Tensor:
    dtype = _type(tensor)
    if dtype.is_floating_point or dtype.is_complex:
        drawn = torch.promote_types(dtype, torch.float32)
        values = torch.randn(tensor.shape, generator=generator, dtype=drawn)
        values = values if scale == 1 else scale * values
        return values.to(dtype) if dtype.is_complex else kept(folded(values, tensor.bounds), tensor)
    bound = reach.get(tensor)
    if bound is None or bound.hi <= bound.lo:
        low, high = whole_ends(tensor, -SMALL, SMALL - 1)
        values = torch.randint(low, high + 1, tensor.shape, generator=generator)
    else:
        low, high = whole_ends(tensor, bound.lo, bound.hi - 1)
        values = torch.randint(low, high + 1, tensor.shape, generator=generator)
        ends = torch.tensor(whole_ends(tensor, bound.lo - 1, bound.hi))
        which = torch.randint(2 * OUTSIDE, tensor.shape, generator=generator)
        values = torch.where(which < 2, ends[which.clamp(max=1)], values)
    return without_zero(values, tensor, (low, high)).to(dtype)


def nonfinite_families(terms: int) -> tuple[Family, ...]:
    """NaN and infinities that are so rare that a sum of this many terms meets about one of them."""
    rate = min(0.2, 1 / max(1, terms))

    def sprinkled(special: Sequence[float], base: Make) -> Make:
        choices = torch.tensor(special, dtype=torch.float64)

        def make(wanted: Wanted) -> torch.Tensor:
            shape, generator = wanted.tensor.shape, wanted.generator
            hit = torch.rand(shape, generator=generator) < rate
            which = torch.randint(len(special), shape, generator=generator)
            return torch.where(hit, choices[which], base(wanted))

        return make

    inf = float("inf")
    return (
        Family("NaN", sprinkled((float("nan"),), normal)),
        Family("infinities", sprinkled((inf, -inf), normal)),
        Family("infinities beside zeros", sprinkled((inf, -inf), sparse)),
    )
