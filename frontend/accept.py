"""Acceptance: a candidate runs, and its error against float64 is not far above the baseline's.

    error(y) = max|y - r| / max|r|              r: the program evaluated in float64
    accepted   <=>   error(candidate) <= FACTOR * error(baseline) + FLOOR * epsilon(dtype)

The maximum, not a mean, so that one wrong border element is enough to refuse.  The reference is
itself checked against the exact interpreter's float64 values at corners and random points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, prod

import numpy as np
import torch

from derivations.verify import sample_points
from eops.torch_stage import lower_all
from ta.errors import BuildError
from ta.interp import RealField, evaluate_at
from ta.node import Scope, Tensor
from ta.program import Program
from ta.subst import stages

FACTOR = 4.0
FLOOR = 16.0
SAMPLES = 24
MOST_WORK = 20_000_000


@dataclass(frozen=True, slots=True)
class Reference:
    """Random inputs in the program's types, and the outputs in float64 computed from them."""

    inputs: Mapping[Tensor, torch.Tensor]
    outputs: tuple[torch.Tensor, ...]
    epsilon: float


def random_inputs(
    tensors: Sequence[Tensor], device: str, seed: int = 0
) -> dict[Tensor, torch.Tensor]:
    """Standard normal numbers; small integers, of both signs where there are such, for others."""
    generator = torch.Generator().manual_seed(seed)
    found: dict[Tensor, torch.Tensor] = {}
    for tensor in tensors:
        dtype: torch.dtype = getattr(torch, tensor.dtype)
        if dtype.is_floating_point or dtype.is_complex:
            wide = torch.complex128 if dtype.is_complex else torch.float64
            values = torch.randn(tensor.shape, generator=generator, dtype=wide).to(dtype)
        else:
            low, high = (0, 2) if dtype == torch.bool else (-8 if dtype.is_signed else 0, 8)
            values = torch.randint(low, high, tensor.shape, generator=generator).to(dtype)
        found[tensor] = values.to(device)
    return found


def reference(program: Program, device: str) -> Reference:
    """Inputs and float64 outputs; BuildError where the interpreter disagrees with the latter."""
    inputs = random_inputs(program.inputs, device)
    wide = {
        tensor: value.to(torch.complex128 if value.is_complex() else torch.float64)
        for tensor, value in inputs.items()
    }
    outputs = tuple(lower_all(root)(wide) for root in program.roots())
    for root, output in zip(program.roots(), outputs, strict=True):
        _confirm(root, output, wide)
    floats = [getattr(torch, t.dtype) for t in program.inputs]
    epsilons = [torch.finfo(d).eps for d in floats if d.is_floating_point or d.is_complex]
    return Reference(inputs, outputs, max(epsilons, default=0.0))


def _confirm(root: Scope, output: torch.Tensor, wide: Mapping[Tensor, torch.Tensor]) -> None:
    """The reference against the interpreter, at points."""
    if 0 in root.shape or any(value.is_complex() for value in wide.values()):
        return
    work = max(prod(r.extent for r in stage.sums) for stage in stages(root))
    count = max(2, min(SAMPLES, MOST_WORK // max(1, work)))
    points = sample_points(root, count, seed=11)
    values = {tensor.name: value.cpu().numpy() for tensor, value in wide.items()}
    exact = np.asarray(evaluate_at(root, points, values, RealField()), dtype=np.float64)
    lows = np.array([r.lo for r in root.loops], dtype=np.int64)
    index = tuple(torch.as_tensor(column) for column in (points - lows).T)
    got = output.cpu()[index].numpy() if index else output.cpu().numpy().reshape(-1)
    finite = np.isfinite(exact)
    scale = float(np.max(np.abs(exact[finite]), initial=0.0)) or 1.0
    if not np.allclose(got[finite], exact[finite], rtol=1e-9, atol=1e-9 * scale):
        raise BuildError("the float64 reference disagrees with the exact interpreter")


def error(outputs: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """The largest norm-wise error over the outputs; infinite for a wrong shape, a stray NaN or a
    lost imaginary part."""
    worst = 0.0
    for output, wanted in zip(outputs, expected, strict=True):
        if output.shape != wanted.shape:
            return float("inf")
        if not wanted.numel():
            continue
        if wanted.is_complex() and not output.is_complex():
            return float("inf")
        got = output.to(wanted.dtype)
        if output.dtype.is_floating_point:  # what the type cannot hold is infinite in it
            wanted = torch.where(torch.isinf(wanted.to(output.dtype)), wanted.sign() / 0, wanted)
        finite = torch.isfinite(wanted.abs())
        same_odd = _same_odd(got[~finite], wanted[~finite])
        if not same_odd or not torch.isfinite(got[finite].abs()).all():
            return float("inf")
        largest = float(wanted[finite].abs().max()) if bool(finite.any()) else 0.0
        off = float((got - wanted)[finite].abs().max()) if bool(finite.any()) else 0.0
        worst = max(worst, off / largest if largest else off)
    return worst


def _same_odd(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """NaN for NaN and each infinity for itself; complex ones, whose parts are no guide, for any."""
    if wanted.is_complex():
        return not bool(torch.isfinite(got.abs()).any())
    return bool(torch.isclose(got, wanted, rtol=0.0, atol=0.0, equal_nan=True).all())


def accepted(candidate: float, baseline: float, epsilon: float) -> bool:
    """Whether the candidate's error is within reach of the baseline's."""
    return not isnan(candidate) and candidate <= FACTOR * baseline + FLOOR * epsilon
