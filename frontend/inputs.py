"""The inputs that programs are judged on: random numbers, and families that are hard to sum.

Each family makes every tensor of a program from one generator.  Magnitudes are at most about 1, so
that sums overflow no sooner than for random numbers.  Integers and bools have no hard families;
they are judged on data of their types' whole range as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2

import torch

from eops.dtypes import LIMITS
from ta.node import Tensor

SMALL = 8
"""Random integers lie between -8 and 7."""

Make = Callable[[Tensor, int, torch.Generator], torch.Tensor]
"""A tensor's values in float64, from the tensor, its number among the inputs, and a generator."""


@dataclass(frozen=True, slots=True)
class Family:
    """`name` completes the phrase "inputs with"."""

    name: str
    make: Make


def random_inputs(
    tensors: Sequence[Tensor], device: str, seed: int = 0
) -> dict[Tensor, torch.Tensor]:
    """Standard normal numbers; small integers, of both signs where there are such, for others."""
    generator = torch.Generator().manual_seed(seed)
    return {tensor: _random(tensor, generator).to(device) for tensor in tensors}


def family_inputs(
    tensors: Sequence[Tensor], family: Family, device: str, seed: int = 0
) -> dict[Tensor, torch.Tensor]:
    """The family's values in the tensors' types; random ones for tensors of integers."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[Tensor, torch.Tensor] = {}
    for number, tensor in enumerate(tensors):
        if _type(tensor).is_floating_point:
            values = family.make(tensor, number, generator).to(_type(tensor))
        else:
            values = _random(tensor, generator)
        found[tensor] = values.to(device)
    return found


def whole_range_inputs(
    tensors: Sequence[Tensor], device: str, greatest: int = 2**63, seed: int = 1
) -> dict[Tensor, torch.Tensor]:
    """Integers of the whole range of their types, a quarter of them the least or the greatest one,
    none larger than `greatest`; standard normal numbers for others."""
    generator = torch.Generator().manual_seed(seed)
    return {
        tensor: _whole_range(tensor, greatest, generator).to(device)
        if tensor.dtype in LIMITS
        else _random(tensor, generator).to(device)
        for tensor in tensors
    }


def _whole_range(tensor: Tensor, greatest: int, generator: torch.Generator) -> torch.Tensor:
    least, most = LIMITS[tensor.dtype]
    low, high = max(least, -greatest), min(most, greatest)
    beyond = min(high + 1, LIMITS["int64"][1])
    values = torch.randint(low, beyond, tensor.shape, generator=generator, dtype=_type(tensor))
    kind = torch.randint(8, tensor.shape, generator=generator, dtype=torch.uint8)
    return values.masked_fill_(kind == 0, low).masked_fill_(kind == 1, high)


def _type(tensor: Tensor) -> torch.dtype:
    dtype = getattr(torch, tensor.dtype)
    assert isinstance(dtype, torch.dtype)
    return dtype


def _random(tensor: Tensor, generator: torch.Generator) -> torch.Tensor:
    dtype = _type(tensor)
    if dtype.is_floating_point or dtype.is_complex:
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return torch.randn(tensor.shape, generator=generator, dtype=wide).to(dtype)
    low, high = (0, 2) if dtype == torch.bool else (-SMALL if dtype.is_signed else 0, SMALL)
    return torch.randint(low, high, tensor.shape, generator=generator).to(dtype)


def _normal(tensor: Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(tensor.shape, generator=generator, dtype=torch.float64)


def _offset(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    """1 plus a spread of 1/1000, or of 32 roundings where the type has fewer digits."""
    spread = max(1e-3, 32 * torch.finfo(_type(tensor)).eps)
    return 1 + spread * _normal(tensor, generator)


def _range(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    """Both signs, magnitudes log-uniform over a third of the type's binades below 1, 64 at most."""
    binades = min(64.0, -log2(torch.finfo(_type(tensor)).tiny) / 3)
    uniform = torch.rand(tensor.shape, generator=generator, dtype=torch.float64)
    return torch.exp2(-binades * uniform) * torch.sign(_normal(tensor, generator))


def _opposite(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    """Neighbours along the last dimension nearly equal, in the first tensor of opposite sign: sums
    of products are then small differences of large terms."""
    values = _normal(tensor, generator)
    if not tensor.shape:
        return values
    pairs = values[..., 1::2]
    near = 1 + 32 * torch.finfo(_type(tensor)).eps * pairs
    values[..., 1::2] = values[..., ::2][..., : pairs.shape[-1]] * near * (1 if number else -1)
    return values


def _tiny(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    """The first tensor about the smallest normal number of its type, half of it subnormal; the
    others about 1, so that products with it do not vanish."""
    scale = 1.0 if number else torch.finfo(_type(tensor)).tiny
    return scale * _normal(tensor, generator)


def _sparse(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    values = torch.randint(-3, 4, tensor.shape, generator=generator)
    return torch.where(values.abs() > 1, 0, values).to(torch.float64)


def _constant(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
    return torch.full(tensor.shape, 0.7 + 0.1 * number, dtype=torch.float64)


FAMILIES: tuple[Family, ...] = (
    Family("a large common offset", _offset),
    Family("a large dynamic range", _range),
    Family("nearly opposite neighbours", _opposite),
    Family("subnormal numbers", _tiny),
    Family("mostly zeros", _sparse),
    Family("equal entries", _constant),
)
"""The hard families, the most telling first."""


def nonfinite_families(terms: int) -> tuple[Family, ...]:
    """NaN and infinities so seldom that a sum of so many terms meets about one of them."""
    rate = min(0.2, 1 / max(1, terms))

    def sprinkled(
        special: Sequence[float], base: Callable[[Tensor, torch.Generator], torch.Tensor]
    ) -> Make:
        choices = torch.tensor(special, dtype=torch.float64)

        def make(tensor: Tensor, number: int, generator: torch.Generator) -> torch.Tensor:
            hit = torch.rand(tensor.shape, generator=generator) < rate
            which = torch.randint(len(special), tensor.shape, generator=generator)
            return torch.where(hit, choices[which], base(tensor, generator))

        return make

    def zeros(tensor: Tensor, generator: torch.Generator) -> torch.Tensor:
        return _sparse(tensor, 0, generator)

    inf = float("inf")
    return (
        Family("NaN", sprinkled((float("nan"),), _normal)),
        Family("infinities", sprinkled((inf, -inf), _normal)),
        Family("infinities beside zeros", sprinkled((inf, -inf), zeros)),
    )
