"""Inputs that are hard to compute with: families of fixed magnitudes, the most telling first.

    offset      1000 + n(0, 1)              clusters      +-1000 + n(0, 1), one sign a row
    near        b = a*(1 + j*eps), |j| <= 4 itself        b = a, row by row
    opposite    a, -a*(1 + 32*n*eps), ...   rise and fall +u, ..., +u, -u, ..., -u
    scales      n * 2^(+-E/6), E the type's largest exponent
    halves      -1000 + n(0, 1) in the first half of the first dimension, 1000 + n(0, 1) after it
    far         n, one row 2^20 n (at most 2^(E/6) n), in every other tensor
    squares     n * 2^(E/3), of programs in float16 only
    exponents   128*n, of programs in bfloat16 only
    huge        n * 2^(E/2 + 4), of programs with roots of squares only

n is a standard normal number, u a uniform one from 1 to 2, eps the spacing of the type's numbers at
1.  A family makes the tensors of a program one after the other, so that a later one can be nearly
what an earlier one is.  All magnitudes are those of this file, whatever the formula; a formula that
overflows on a family, or has no digit right there as it is written, is not judged by it
(`accuracy.hard_cases`).  Where a formula has no value for numbers below 0, their absolute values
take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import frexp, log2, prod
from typing import NamedTuple

import torch

from einderive.ta.ir.node import Tensor

OFFSET = 1000.0
"""The mean of a family with an offset over its deviation, if the type has enough digits: `OFFSET *
RESOLVED * eps <= 1`."""
RESOLVED = 32
"""A deviation is at least this many roundings of the mean."""
SPREAD = 1e-3
"""The deviation of a family with a mean of 1, `RESOLVED` roundings at least."""
NEAR = 4
"""Nearly equal numbers are at most this many roundings apart."""
BINADES = 64.0
"""Magnitudes of a large dynamic range go over this many powers of two, or a third of the type's."""

FAR = 2.0**20
"""How much larger one row is than the others, at most."""

PERIOD = 1_000_003
"""A prime: rows of a large tensor begin elsewhere each time."""


class Wanted(NamedTuple):
    """A tensor to be filled with values, the values of the tensors before it, and a generator."""

    tensor: Tensor
    earlier: Sequence[torch.Tensor]
    generator: torch.Generator

    @property
    def precision(self) -> torch.finfo:
        """torch's description of the tensor's floating type."""
        return torch.finfo(getattr(torch, self.tensor.dtype))

    @property
    def large(self) -> int:
        """The exponent of a power of two whose sixth power the type still holds."""
        return frexp(self.precision.max)[1] // 6

    @property
    def mean(self) -> float:
        """The mean of a family with an offset."""
        return min(OFFSET, 1 / (RESOLVED * self.precision.eps))

    def integers(self, low: int, high: int, shape: Sequence[int] | None = None) -> torch.Tensor:
        """Integers from `low` to `high`, both included."""
        chosen = self.tensor.shape if shape is None else shape
        found = torch.randint(low, high + 1, tuple(chosen), generator=self.generator)
        return found.to(torch.float64)

    def drawn(self, draw: Callable[..., torch.Tensor]) -> torch.Tensor:
        """Random numbers.  After `PERIOD` of them the same ones repeat, since drawing takes time.
        They have no more bits than the tensor's type."""
        size = prod(self.tensor.shape)
        dtype = torch.float32 if self.precision.bits <= 32 else torch.float64
        found = draw(min(size, PERIOD), generator=self.generator, dtype=dtype).to(torch.float64)
        if size > PERIOD:
            found = found.repeat(-(-size // PERIOD))[:size]
        return found.reshape(self.tensor.shape)


Make = Callable[[Wanted], torch.Tensor]
"""The values in float64."""


@dataclass(frozen=True, slots=True)
class Family:
    """`name` completes the phrase "inputs with"."""

    name: str
    make: Make


def normal(wanted: Wanted) -> torch.Tensor:
    """Standard normal numbers."""
    return wanted.drawn(torch.randn)


def _offset(wanted: Wanted) -> torch.Tensor:
    """A mean of 1000 (of 32 in float16, 4 in bfloat16) and a deviation of 1."""
    return normal(wanted).add_(wanted.mean)


def _clusters(wanted: Wanted) -> torch.Tensor:
    """Two clusters of deviation 1 about the means of `_offset` and its negative; the entries along
    the last dimension are a point, and so is each entry of a vector."""
    shape = wanted.tensor.shape
    signs = 2 * wanted.integers(0, 1, (*shape[:-1], 1) if len(shape) > 1 else shape) - 1
    return wanted.mean * signs + normal(wanted)


def _halves(wanted: Wanted) -> torch.Tensor:
    """`_clusters` with the sign of the half of the first dimension.  An image and a template that
    is cut out of it agree where both have their step."""
    values = normal(wanted)
    if wanted.tensor.shape:
        half = wanted.tensor.shape[0] // 2
        values[:half] -= wanted.mean
        values[half:] += wanted.mean
    return values


def _far(parity: int) -> Make:
    """Normal numbers; in the middle row of every other tensor they are up to `FAR` times as large.
    A mean over the rows is then far from all of them.  The first and the last row, which are always
    judged, are ordinary."""

    def make(wanted: Wanted) -> torch.Tensor:
        values = normal(wanted)
        shape = wanted.tensor.shape
        if len(wanted.earlier) % 2 == parity and 0 not in shape:
            rows = values.view(-1, shape[-1] if len(shape) > 1 else 1)
            rows[len(rows) // 2] *= min(FAR, 2.0**wanted.large)
        return values

    return make


def _itself(wanted: Wanted) -> torch.Tensor:
    """Rows of an earlier tensor, in turn, where the last dimensions agree."""
    found = _rows_of(wanted.tensor, wanted.earlier)
    return normal(wanted) if found is None else found


def _near(wanted: Wanted) -> torch.Tensor:
    """What `_itself` gives, each entry up to four roundings off."""
    found = _itself(wanted)
    return found * (1 + wanted.precision.eps * wanted.integers(-NEAR, NEAR))


def _rows_of(tensor: Tensor, earlier: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """The entries of the first earlier tensor of this shape; else rows of one with this last
    dimension, from the first on, again and again."""
    alike = [e for e in earlier if e.numel() and e.shape[-1:] == tensor.shape[-1:]]
    source = next((e for e in alike if e.shape == tensor.shape), alike[0] if alike else None)
    if source is None or not tensor.shape or not prod(tensor.shape):
        return None
    rows = source.reshape(-1, tensor.shape[-1])
    count = prod(tensor.shape[:-1])
    return rows[torch.arange(count) % len(rows)].reshape(tensor.shape)


def _common(wanted: Wanted) -> torch.Tensor:
    """1 plus a spread of 1/1000, or of 32 roundings where the type has fewer digits."""
    spread = max(SPREAD, RESOLVED * wanted.precision.eps)
    return 1 + spread * normal(wanted)


def _range(wanted: Wanted) -> torch.Tensor:
    """Both signs, magnitudes log-uniform over a third of the type's binades below 1, 64 at most."""
    binades = min(BINADES, -log2(wanted.precision.tiny) / 3)
    uniform = _positive(wanted)
    return torch.exp2(-binades * uniform) * torch.sign(normal(wanted))


def _opposite(wanted: Wanted) -> torch.Tensor:
    """Neighbours along the last dimension nearly equal, in the first tensor of opposite sign: sums
    of products are then small differences of large terms."""
    values = normal(wanted)
    if not wanted.tensor.shape:
        return values
    pairs = values[..., 1::2]
    near = (1 + RESOLVED * wanted.precision.eps * pairs) * (1 if wanted.earlier else -1)
    values[..., 1::2] = values[..., ::2][..., : pairs.shape[-1]] * near
    return values


def _rise_and_fall(wanted: Wanted) -> torch.Tensor:
    """From 1 to 2, in the first tensor negative in the second half of the last dimension: a long
    sum grows to half of its terms and falls back."""
    values = 1 + _positive(wanted)
    if wanted.tensor.shape and not wanted.earlier:
        values[..., wanted.tensor.shape[-1] // 2 :] *= -1
    return values


def _positive(wanted: Wanted) -> torch.Tensor:
    """From 0 to 1: a long sum grows with each term."""
    return wanted.drawn(torch.rand)


def _scaled(direction: int) -> Make:
    """Normal numbers times a power of two whose sixth power the type still holds."""

    def make(wanted: Wanted) -> torch.Tensor:
        return normal(wanted) * 2.0 ** (direction * wanted.large)

    return make


def _squares(wanted: Wanted) -> torch.Tensor:
    """Normal numbers times a power of two, 32 in float16, whose third power the type still holds: a
    sum of a hundred squares leaves float16, and their mean does not."""
    return normal(wanted) * 2.0 ** (frexp(wanted.precision.max)[1] // 3)


def _exponents(wanted: Wanted) -> torch.Tensor:
    """Normal numbers times 128: exponentials leave bfloat16, which ends at exp(88), as float32
    does.  The offset, which makes them leave other types, is 4 there."""
    return normal(wanted) * 128


def _tiny(wanted: Wanted) -> torch.Tensor:
    """The first tensor about the smallest normal number of its type, half of it subnormal; the
    others about 1, so that products with it do not vanish.  Processors take subnormal bfloat16 for
    0 where they multiply matrices: of that type it is 128 times as large, few of it subnormal."""
    least = wanted.precision.tiny * (128 if wanted.tensor.dtype == "bfloat16" else 1)
    return (1.0 if wanted.earlier else least) * normal(wanted)


def _huge(wanted: Wanted) -> torch.Tensor:
    """Normal numbers times 16 times the root of the smallest power of two that the type does not
    hold."""
    return normal(wanted) * 2.0 ** (frexp(wanted.precision.max)[1] // 2 + 4)


def sparse(wanted: Wanted) -> torch.Tensor:
    """Four zeros, one 1 and one -1 among seven."""
    values = wanted.integers(-3, 3)
    return torch.where(values.abs() > 1, 0, values)


def _constant(wanted: Wanted) -> torch.Tensor:
    value = 0.7 + 0.1 * len(wanted.earlier)
    return torch.full(wanted.tensor.shape, value, dtype=torch.float64)


TINY = Family("subnormal numbers", _tiny)
HUGE = Family("numbers whose squares overflow", _huge)
FAMILIES: tuple[Family, ...] = (
    Family("normal numbers", normal),
    Family("a mean of 1000 and a deviation of 1", _offset),
    Family("clusters at +-1000", _clusters),
    Family("one row far from the others", _far(0)),
    Family("two halves at +-1000", _halves),
    Family("a set against itself", _itself),
    Family("one row far from the others, in the other tensors", _far(1)),
    Family("nearly equal tensors", _near),
    Family("a large common offset", _common),
    Family("nearly opposite neighbours", _opposite),
    Family("a large dynamic range", _range),
    Family("sums that rise and fall", _rise_and_fall),
    Family("large numbers", _scaled(1)),
    Family("small numbers", _scaled(-1)),
    TINY,
    Family("mostly zeros", sparse),
    Family("equal entries", _constant),
    Family("positive numbers", _positive),
)
"""The families, the most telling first."""
SQUARES = Family("float16 numbers of a deviation of 32", _squares)
EXPONENTS = Family("bfloat16 numbers of a deviation of 128", _exponents)
OF_ROOTS = (TINY, HUGE)
"""The families of programs with roots of squares (`inputs.chosen`)."""
OF_HALVES: Mapping[str, Family] = {"float16": SQUARES, "bfloat16": EXPONENTS}
"""One more family of programs with operands of these types, whose range or digits end early
(`accuracy.plain_standard`)."""
