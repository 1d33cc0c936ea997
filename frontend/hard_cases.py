"""Candidates on inputs that are hard to sum, and on NaN and infinities.

    accepted on a family   <=>   error(candidate) <= 4*error(baseline) + 16*eps*max|f|/max|r|

The factor max|f|/max|r| says how much larger the terms are than their sum: no order of summation
can promise less than eps*|f| (Higham, section 4.2), so a program that only adds in another order is
not refused for it.  r and |f| (see `frontend.accuracy`) are the exact interpreter's in float64, at
corners and random points of the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, log10, prod

import numpy as np
import torch

from derivations.verify import sample_points
from frontend.accept import accepted, at_points, epsilon, error
from frontend.accept_integers import output_types
from frontend.accuracy import Accuracy, magnitude
from frontend.execute import Executable
from frontend.hard_inputs import Family
from frontend.inputs import family_inputs, nonfinite_families
from frontend.unequal import hard_families
from ta.fields import RealField
from ta.interp import evaluate_at
from ta.node import Scope, Tensor
from ta.program import Program
from ta.subst import accesses, stages

SAMPLES = 64
MOST_WORK = 1_000_000
"""Points of iteration spaces that one evaluation by the interpreter may visit: some 50 ms."""
MOST_WORK_STRICT = 20_000_000
WRONG = 0.1
"""A baseline with a larger error has not a digit right: it sets no standard for candidates."""


@dataclass(frozen=True, slots=True)
class FamilyError:
    """The errors of a program and of the baseline on one family of inputs; `condition` is
    max|f|/max|r| there, and `rounding` the error of a result that is rounded once (where it is
    componentwise, far below epsilon if the result is small beside |f|)."""

    family: str
    error: float
    baseline: float
    condition: float
    epsilon: float
    rounding: float

    @property
    def accepted(self) -> bool:
        """Whether the program is as exact as the baseline; also where that has no digit right."""
        if not self.baseline <= WRONG:
            return True
        return accepted(self.error, self.baseline, self.epsilon, self.condition)

    @property
    def digits(self) -> float:
        """The decimal digits that the program has less than the baseline: 0 where it is as exact,
        at most those that the baseline has."""
        if not self.baseline <= WRONG:
            return 0.0
        own, base = (
            max(off, self.rounding) / self.rounding * self.epsilon
            for off in (self.error, self.baseline)
        )
        return max(0.0, log10(min(own, 1.0) / min(base, 1.0)))


@dataclass(frozen=True, slots=True)
class Case:
    """Inputs of one family, and the outputs' values and sizes at points."""

    family: str
    inputs: Mapping[Tensor, torch.Tensor]
    points: tuple[np.ndarray, ...]
    expected: tuple[torch.Tensor, ...]
    sizes: tuple[torch.Tensor, ...]


@dataclass
class HardCases:
    """The hard families of one program and the baseline's errors on them, each computed when it is
    first asked for."""

    program: Program
    device: str
    accuracy: Accuracy
    baseline: Executable
    _known: dict[str, tuple[Case, float]] = field(default_factory=dict)

    def errors(self, built: Executable, most: int) -> tuple[FamilyError, ...]:
        """The errors on the first `most` families; none for integers and complex numbers."""
        if not _has_families(self.program):
            return ()
        return tuple(self._error(built, family) for family in hard_families(self.program)[:most])

    def _error(self, built: Executable, family: Family) -> FamilyError:
        if family.name not in self._known:
            made = case(self.program, family, self.device)
            # the inputs are made again when they are asked for again: they may be large
            self._known[family.name] = replace(made, inputs={}), self._measure(made, self.baseline)
        else:
            inputs = family_inputs(self.program.inputs, family, self.device)
            made = replace(self._known[family.name][0], inputs=inputs)
        base = self._known[family.name][1]
        condition = 1.0 if self.accuracy == "componentwise" else _condition(made)
        off = self._measure(made, built)
        unit = epsilon(self.program)
        share = _share(made, self.program) if self.accuracy == "componentwise" else 1.0
        return FamilyError(family.name, off, base, condition, unit, unit * share)

    def _measure(self, made: Case, built: Executable) -> float:
        outputs = _sampled(self.program, made, built)
        sizes = made.sizes if self.accuracy == "componentwise" else None
        return error(outputs, made.expected, sizes)


def _condition(made: Case) -> float:
    """The largest max|f|/max|r| of the outputs, 1 at least."""
    found = 1.0
    for wanted, size in zip(made.expected, made.sizes, strict=True):
        finite = torch.isfinite(wanted) & torch.isfinite(size)
        if bool(finite.any()) and float(wanted[finite].abs().max()):
            found = max(found, float(size[finite].max() / wanted[finite].abs().max()))
    return found


def _share(made: Case, program: Program) -> float:
    """The largest |r_i|/|f|_i of the outputs, numbers below the smallest normal one counting as if
    they were that; 1 where all are 0."""
    found = 0.0
    for wanted, size, dtype in zip(made.expected, made.sizes, output_types(program), strict=True):
        least = torch.finfo(dtype).tiny if dtype.is_floating_point else 0.0
        share = wanted.abs().clamp_min(least) / size.clamp_min(least)
        share = share[torch.isfinite(share) & (wanted != 0)]
        found = max(found, float(share.max()) if share.numel() else 0.0)
    return min(found, 1.0) or 1.0


def nonfinite_cases(program: Program, device: str) -> tuple[Case, ...]:
    """Inputs with NaN and infinities, and where these stand in the outputs, at points."""
    if not _has_families(program):
        return ()
    families = nonfinite_families(int(_work(program.roots(), 1)))
    return tuple(case(program, family, device, MOST_WORK_STRICT) for family in families)


def moved(program: Program, cases: Sequence[Case], built: Executable) -> str:
    """The first family on which NaN or an infinity stands elsewhere than the formula has it; empty
    where none does."""
    for made in cases:
        if not isfinite(error(_sampled(program, made, built), made.expected)):
            return made.family
    return ""


def _has_families(program: Program) -> bool:
    types = [getattr(torch, tensor.dtype) for tensor in program.inputs]
    complex_numbers = any(dtype.is_complex for dtype in types)
    empty = any(0 in root.shape for root in program.roots())
    return any(d.is_floating_point for d in types) and not complex_numbers and not empty


def case(program: Program, family: Family, device: str, most_work: int = MOST_WORK) -> Case:
    """The family's inputs with the interpreter's values at as many points as the work allows."""
    inputs = family_inputs(program.inputs, family, device)
    values = {t.name: v.to(torch.float64).cpu().numpy() for t, v in inputs.items()}
    count = SAMPLES
    while count > 2 and _work(program.roots(), count) > most_work:
        count //= 2
    points = tuple(sample_points(root, count, seed=7) for root in program.roots())

    def at(roots: Sequence[Scope]) -> Iterator[torch.Tensor]:
        for root, places in zip(roots, points, strict=True):
            found = np.asarray(evaluate_at(root, places, values, RealField()), dtype=np.float64)
            yield torch.as_tensor(found, device=device)

    expected = tuple(at(program.roots()))
    sizes = tuple(at([magnitude(root) for root in program.roots()]))
    return Case(family.name, inputs, points, expected, sizes)


def _sampled(program: Program, made: Case, built: Executable) -> tuple[torch.Tensor, ...]:
    outputs = built(made.inputs)
    return tuple(
        at_points(root, points, output)
        for root, points, output in zip(program.roots(), made.points, outputs, strict=True)
    )


def _work(roots: Sequence[Scope], count: int) -> float:
    """Points of iteration spaces that so many points of each root need, at most."""
    needed: dict[Scope, float] = {root: float(min(count, prod(root.shape))) for root in roots}
    total = 0.0
    for stage in reversed(stages(*roots)):
        visited = needed.get(stage, 0.0) * prod(bound.extent for bound in stage.sums)
        total += visited
        for source in dict.fromkeys(access.source for access in accesses(stage.body)):
            if isinstance(source, Scope):
                asked = needed.get(source, 0.0) + visited
                needed[source] = min(asked, float(prod(source.shape)))
    return total
