"""Candidates on inputs with NaN and infinities: theirs have to stay where the formula has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
import torch

from einderive.frontend.accuracy.accept import at_points, error
from einderive.frontend.accuracy.hard_cases import has_families
from einderive.frontend.accuracy.inputs.drawn import family_inputs, nonfinite_families
from einderive.frontend.accuracy.inputs.families import Family
from einderive.frontend.assumptions.indices import reach_of
from einderive.frontend.running.execute import Executable
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import affordable, evaluate_at, visited
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program

SAMPLES = 64
MOST_WORK_STRICT = 20_000_000
"""Points of iteration spaces that one evaluation by the interpreter may visit for NaN: a second."""


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs of one family of NaN and infinities, and the outputs' values at points."""

    family: str
    inputs: Mapping[Tensor, torch.Tensor]
    points: tuple[np.ndarray, ...]
    expected: tuple[torch.Tensor, ...]


def nonfinite_cases(program: Program, device: str) -> tuple[Case, ...]:
    """Inputs with NaN and infinities, and the places of NaN and infinities in the outputs, at
    points."""
    if not has_families(program):
        return ()
    families = nonfinite_families(visited(program.roots(), 1))
    return tuple(case(program, family, device) for family in families)


def moved(program: Program, cases: Sequence[Case], built: Executable) -> str:
    """The name of the first family on which the program has a NaN or an infinity at another place
    than the formula.  Empty if there is none."""
    for made in cases:
        if not isfinite(error(_sampled(program, made, built), made.expected)):
            return made.family
    return ""


def case(program: Program, family: Family, device: str) -> Case:
    """The family's inputs with the interpreter's values at as many points as the work allows."""
    inputs = family_inputs(program.inputs, family, device, reach=reach_of(program))
    values = {t.name: v.to(torch.float64).cpu().numpy() for t, v in inputs.items()}
    count = max(2, affordable(program.roots(), SAMPLES, MOST_WORK_STRICT))
    points = tuple(positions(root, count) for root in program.roots())

    def at(roots: Sequence[Scope]) -> Iterator[torch.Tensor]:
        for root, places in zip(roots, points, strict=True):
            found = np.asarray(evaluate_at(root, places, values, RealField()), dtype=np.float64)
            yield torch.as_tensor(found, device=device)

    return Case(family.name, inputs, points, tuple(at(program.roots())))


def _sampled(program: Program, made: Case, built: Executable) -> tuple[torch.Tensor, ...]:
    outputs = built(made.inputs)
    return tuple(
        at_points(root, points, output)
        for root, points, output in zip(program.roots(), made.points, outputs, strict=True)
    )
