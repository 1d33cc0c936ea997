"""Integers in acceptance: data of the whole range of a type, on which nothing may wrap unseen.

    accepted   <=>   y = r  modulo 2^64, in every element                 r: the formula in int64

That is for programs that stay among integers: each stage of the formula computes in int64, as
`eops.dtypes` says, and an equal program gives the same.  Sums and products wrap modulo 2^64 in
every order; where the formula compares (max, relu), data are so small that nothing exceeds int64.
The reference is itself checked against the interpreter, in a field that wraps alike.  Other
programs that read integers are judged as those over floats, on such data too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import inf, prod
from typing import Any, ClassVar, Final

import numpy as np
import torch

from einderive.eops.dtypes import LIMITS, is_integral_throughout
from einderive.eops.torch_views.stage import lower_all
from einderive.eops.torch_views.types import types_beside
from einderive.ta.exact.fields import Array, NativeField, rounded
from einderive.ta.exact.interp import uses_order
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import combined
from einderive.ta.ir import affine
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Select,
    Source,
    Tensor,
)
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import accesses, branches, fold, sources, stages

SAFE: Final = 2.0**62
"""Numbers of this size are well within int64."""
LARGEST_NORMAL: Final = 8.0
"""No standard normal number of a test is larger."""


@dataclass(frozen=True, slots=True)
class ExactCase:
    """Inputs in the program's types, the outputs in int64, and the types that these are to have."""

    inputs: Mapping[Tensor, torch.Tensor]
    outputs: tuple[torch.Tensor, ...]
    types: tuple[torch.dtype, ...]

    def agrees(
        self, run: Callable[[Mapping[Tensor, torch.Tensor]], Sequence[torch.Tensor]]
    ) -> bool:
        """Whether `run` gives these numbers in every element, in these types."""
        found = run(self.inputs)
        return len(found) == len(self.outputs) and all(
            output.dtype == dtype and torch.equal(output.to(torch.int64), wanted)
            for output, wanted, dtype in zip(found, self.outputs, self.types, strict=True)
        )


def exact_case(program: Program, inputs: Mapping[Tensor, torch.Tensor]) -> ExactCase:
    """The exact case with these inputs, for a program that stays among integers."""
    wide = {tensor: value.to(torch.int64) for tensor, value in inputs.items()}
    outputs = tuple(lower_all(root)(wide) for root in program.roots())
    return ExactCase(inputs, outputs, output_types(program))


def reads_integers(program: Program) -> bool:
    return any(tensor.dtype in LIMITS for tensor in program.inputs)


def stays_whole(program: Program) -> bool:
    """Whether all inputs are integers or bools, and every stage keeps to integers."""
    order = stages(*program.roots(typed=True))
    return (
        bool(program.inputs)
        and all(tensor.dtype in LIMITS for tensor in program.inputs)
        and all(is_integral_throughout(stage) for stage in order)
    )


def output_types(program: Program) -> tuple[torch.dtype, ...]:
    """The element types of the outputs according to the formula's statements, taken one after the
    other.  They do not depend on the program that computes them."""
    inputs = [getattr(torch, t.dtype) for t in program.inputs]
    found: dict[Source, torch.dtype] = {t: getattr(torch, t.dtype) for t in program.inputs}
    found[INDEX] = torch.int64
    roots = program.roots(typed=True)
    for stage in stages(*roots):
        read = [found[source] for source in sources(stage.body)]
        found[stage] = types_beside(stage, read, inputs).result
    return tuple(found[root] for root in roots)


def greatest_entry(program: Program) -> int:
    """The largest magnitude of integer entries for which every value of the program fits int64
    and the floating types that take part.  Sums and products of integers alone allow every
    magnitude."""
    order = stages(*program.roots())
    if stays_whole(program) and not any(map(uses_order, order)):
        return 2**63
    types = [getattr(torch, t.dtype) for t in program.inputs] + list(output_types(program))
    floats = [float(torch.finfo(d).max) / 16 for d in types if d.is_floating_point]
    limit = min([SAFE, *floats])
    entry = 2**63
    while entry and not max(map(sizes(program, entry).__getitem__, order)) <= limit:
        entry //= 2
    return entry


def sizes(program: Program, entry: int) -> dict[Source, float]:
    """Bounds on the magnitudes of each stage's values and of the terms of its sums, for integer
    entries of at most `entry`.  Infinite if there is no bound."""
    found: dict[Source, float] = {}
    for tensor in program.inputs:
        limits = LIMITS.get(tensor.dtype)
        found[tensor] = min(entry, max(map(abs, limits))) if limits else LARGEST_NORMAL
    for stage in stages(*program.roots()):
        rows = (read.rows[0] for read in accesses(stage.body) if read.source is INDEX)
        ends = (end for row in rows for end in affine.bounds(row, stage.domain))
        found[INDEX] = float(max(map(abs, ends), default=0))
        body = fold(stage.body, partial(_size, found))
        count = prod(bound.extent for bound in stage.sums)
        if stage.reducer == "sum":
            body *= max(1, count)
        elif stage.reducer == "prod":
            body = _power(max(1.0, body), count)
        found[stage] = body
    return found


def _size(known: Mapping[Source, float], node: Node, parts: tuple[float, ...]) -> float:
    match node:
        case Const():
            return _magnitude(node.value)
        case Access():
            return max(known[node.source], _magnitude(node.fill))
        case Mul():
            return prod(max(1.0, part) for part in parts)
        case Add():
            return sum(parts)
        case Power() if node.exponent > 0:
            return _power(max(1.0, *parts), node.exponent)
        case Select():
            return max(parts)
        case Apply() if chosen := branches(node):
            return max(parts[-len(chosen) :])
        case Apply() if FUNCTIONS[node.function].truth:
            return 1.0
        case Apply() if (pieces := FUNCTIONS[node.function].pieces) is not None:
            rows = ([abs(c) for c in row] for row in (pieces.above, pieces.below))
            return float(pieces.step + max(combined(row, parts) for row in rows))
        case Apply() if FUNCTIONS[node.function].whole:
            return max(parts)  # a rounded number, a quotient, or what is left of a division
    return inf


def _magnitude(value: Number) -> float:
    """An infinity counts as nothing: as a fill of a maximum it is never seen, and elsewhere it is
    no overflow."""
    return abs(rounded(value)) if isinstance(value, Fraction) else 0.0


def _power(base: float, exponent: int) -> float:
    try:
        return base**exponent
    except OverflowError:
        return inf


class WrappingField(NativeField):
    """Integers modulo 2^64, as those of 64 bits with a sign; an infinity is the last one."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int64)

    def constant(self, value: Number) -> Array:
        low, high = LIMITS["int64"]
        if not isinstance(value, Fraction):
            return np.full((), high if value > 0 else low, dtype=np.int64)
        if value.denominator != 1:
            raise ValueError(f"{value} is no integer")
        return np.full((), (int(value) - low) % 2**64 + low, dtype=np.int64)

    def power(self, base: Array, exponent: int) -> Array:
        return np.asarray(np.power(base, np.int64(exponent)))

    def apply(self, function: str, *args: Array) -> Array:
        if FUNCTIONS[function].keeps_integers:
            return np.asarray(FUNCTIONS[function].real(*args)).astype(np.int64)
        raise ValueError(f"{function} leaves the integers")

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return generator.integers(*LIMITS["int64"], shape, dtype=np.int64, endpoint=True)
