"""Candidates on inputs that are hard to compute with.

A program is compared (`accuracy.judged`) with the formula as written, in the same types
(`accuracy.written`), on a few whole rows of each output (`frontend.accuracy.rows`).  The exact
interpreter gives r and |f| (see `accuracy.levels`): in float64, or for programs in float64 with
more digits (`ExtendedField`).  If that takes too long, torch gives them in float64 on strided
views, which acceptance on random inputs has compared with the interpreter.

A family on which the formula as written overflows, or has no digit right, does not judge a program:
`FamilyError.standard` is False; but a plain program that has a digit right there is the standard
(`accuracy.plain_standard`), or else a candidate that has one (`trial.shifted`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np
import torch

from einderive.derivations.search.replay import replace_step
from einderive.derivations.steps.kernel import Step
from einderive.eops.dtypes import HALVES
from einderive.eops.torch_views.stage import lower
from einderive.eops.torch_views.types import is_imaginary
from einderive.frontend.accuracy import digits
from einderive.frontend.accuracy.accept import epsilon
from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.accuracy.inputs.chosen import always_tried, hard_families
from einderive.frontend.accuracy.inputs.drawn import family_inputs
from einderive.frontend.accuracy.inputs.families import OF_ROOTS, Family
from einderive.frontend.accuracy.judged import FamilyError, Standard, judged
from einderive.frontend.accuracy.levels import Accuracy, can_cancel, magnitude
from einderive.frontend.accuracy.plain_standard import Fails, held, is_wrong, overflows
from einderive.frontend.accuracy.rows import Piece, narrowed, pieces, smallest
from einderive.frontend.accuracy.sampled_reference import evaluable
from einderive.frontend.accuracy.summed import summed
from einderive.frontend.accuracy.written import has_products, written
from einderive.frontend.assumptions.indices import reach_of
from einderive.frontend.running.about_maxima import about_maxima
from einderive.frontend.running.execute import Executable
from einderive.ta.exact.direct import computed_points, interpreted_points
from einderive.ta.exact.fields import Array, RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import ANY, Number, Scope, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages


@dataclass(frozen=True)
class ExtendedField(RealField):
    """NumPy's long double in place of float64.

    It has 64 bits of mantissa on x86 (three decimal digits more than float64) and is float64
    elsewhere; then a float64 program is judged by float64.  erf and gelu have float64's digits
    here.  The values of programs in float64 are computed with it, so that their own rounding is
    seen."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.longdouble)

    def constant(self, value: Number) -> Array:
        if not isinstance(value, Fraction):
            return np.full((), value, dtype=np.longdouble)
        above, below = (np.longdouble(str(n)) for n in (value.numerator, value.denominator))
        return np.full((), above / below, dtype=np.longdouble)


T = TypeVar("T")
INTERPRETED, LONG_INTERPRETED = 1 << 22, 1 << 19
"""Beyond this many points, torch's float64 replaces the interpreter, which would take more than
some 0.1 s: beyond fewer for programs in float64, as functions of a long double take eight times as
long."""
PREPARING_SECONDS = 1.5
"""The seconds that making all hard inputs of a program, and evaluating the formula as written on
them, may take unless told otherwise.  The first `LEAST` families are always tried; for a program
without a step that can cancel, the first `LEAST_SAFE`; and those that are `always_tried`."""
LEAST, LEAST_SAFE = 7, 2
DRAWS = 4
"""Outputs with fewer entries than `FEW` are too few to judge the formula as written by.  It is then
evaluated on this many draws of each family; if these visit more than `DRAWN` points, on fewer, at
least two."""
FEW = 16
DRAWN = 1 << 20
MOST_KEPT = 1 << 27
"""Bytes of hard inputs that are kept from one program to the next."""


@dataclass
class HardCases:
    """The hard families of one program, and the results of the formula as written on them.  Each is
    computed when it is first needed."""

    program: Program
    device: str
    accuracy: Accuracy
    preparing: float = PREPARING_SECONDS
    lines: Callable[[], Iterable[Executable]] = tuple
    """Other programs, asked for where the formula as written has no digit right: plain ones, and a
    candidate that has digits there (`trial.shifted`)."""
    _known: dict[str, Standard] = field(default_factory=dict)
    _kept: dict[str, Mapping[Tensor, torch.Tensor]] = field(default_factory=dict)
    _refusing: set[str] = field(default_factory=set)
    _spent: float = 0.0

    def errors(
        self,
        built: Executable,
        most: int,
        *,
        small: bool = False,
        least: int = LEAST,
    ) -> tuple[FamilyError, ...]:
        """The errors of a program on the first `most` families, as many as there is time for, up to
        the first one that refuses it: those come first that have refused a program before.  There
        are none for integers and complex numbers.

        `small` says that the program may cancel: while there is time, it is then judged on the row
        that is smallest beside the others as well.
        """
        if not has_families(self.program):
            return ()
        families = hard_families(self.program)
        least += len(always_tried(self.program))
        found: list[FamilyError] = []
        asked = sorted(families[: max(most, least)], key=lambda one: one.name not in self._refusing)
        for number, family in enumerate(asked):
            late = self._spent > self.preparing and family.name not in self._known
            if late and number >= least:
                break
            small = small and self._spent <= self.preparing
            found.append(self._error(built, family, small))
            if self.accuracy != "fast" and not found[-1].accepted:
                self._refusing.add(family.name)
                break
        names = [family.name for family in families]
        return tuple(sorted(found, key=lambda error: names.index(error.family)))

    def _error(self, built: Executable, family: Family, small: bool) -> FamilyError:
        started = time.perf_counter()
        if family.name not in self._known:
            inputs, self._known[family.name] = self._standard(family)
            self._spent += time.perf_counter() - started
        else:
            kept = self._kept.get(family.name)
            inputs = kept or self._inputs(family, self._known[family.name].positive)
        standard = self._known[family.name]
        self._keep(family.name, inputs)
        outputs = built(inputs)
        error = self._judged(standard, outputs)
        rows = smallest(self.program.roots(), outputs) if small and error.accepted else ()
        if not rows:
            return error
        started = time.perf_counter()
        others = {piece.output: piece for piece in self._pieces} | {p.output: p for p in rows}
        beside = HardCases(self.program, self.device, self.accuracy, lines=self.lines)
        beside.__dict__["_pieces"] = tuple(others.values())
        other = beside._judged(beside._standard(family)[1], outputs)
        self._spent += time.perf_counter() - started
        return max(error, other, key=lambda found: (not found.accepted, found.digits))

    def _keep(self, name: str, inputs: Mapping[Tensor, torch.Tensor]) -> None:
        """Keeps the inputs for the next program.  Large inputs are made again."""
        kept = [value for known in (*self._kept.values(), inputs) for value in known.values()]
        if name not in self._kept and sum(value.nbytes for value in kept) <= MOST_KEPT:
            self._kept[name] = inputs

    def _judged(self, standard: Standard, outputs: Sequence[torch.Tensor]) -> FamilyError:
        return judged(
            standard,
            self._by_output(self._pieces_of(outputs)),
            self.accuracy,
            epsilon(self.program),
        )

    def _pieces_of(self, outputs: Sequence[torch.Tensor]) -> list[digits.Array]:
        return [_array(outputs[piece.output][piece.index]) for piece in self._pieces]

    def _by_output(self, rows: Iterable[T]) -> list[list[T]]:
        """What belongs to the pieces, for each output together."""
        found: list[list[T]] = [[] for _ in self.program.outputs]
        for piece, row in zip(self._pieces, rows, strict=True):
            found[piece.output].append(row)
        return found

    def step_digits(
        self, steps: Sequence[Step], families: Sequence[FamilyError]
    ) -> tuple[tuple[str, float], ...]:
        """For each step that can cancel, as `2 (distribute)`, the digits that it loses on the
        family where the whole program loses most: those of the program after it, as written, less
        those of the one before.  A step whose program is too much work has none."""
        worst = max(families, key=lambda family: family.digits, default=None)
        if worst is None or not worst.digits:
            return ()
        standard = self._known.get(worst.family)
        if standard is None:
            return ()
        inputs = self._inputs(standard.family, standard.positive)
        types, unit = output_types(self.program), epsilon(self.program)
        roots, before = self.program.roots(), 0.0
        found: list[tuple[str, float]] = []
        for number, step in enumerate(steps, 1):
            roots = replace_step(roots, step)
            if not can_cancel(step):
                continue
            parts = [narrowed(roots[p.output], p.scope.loops) for p in self._pieces]
            if computed_points(*parts) > INTERPRETED:
                continue
            made = written(parts, [types[p.output] for p in self._pieces])(inputs)
            now = judged(standard, self._by_output(map(_array, made)), "fast", unit).digits
            found.append((f"{number} ({step.rule})", max(0.0, now - before)))
            before = max(before, now)
        return tuple(found)

    def _inputs(
        self, family: Family, positive: bool, seed: int = 0
    ) -> Mapping[Tensor, torch.Tensor]:
        program = self.program
        found = family_inputs(program.inputs, family, self.device, seed, reach_of(program))
        if not positive:
            return found
        return {
            t: v.abs() if v.dtype.is_floating_point and t.bounds == ANY else v
            for t, v in found.items()
        }

    @cached_property
    def _pieces(self) -> tuple[Piece, ...]:
        return pieces(self.program.roots())

    @cached_property
    def _limits(self) -> list[digits.Limits]:
        """Those of each output's type."""
        unit = epsilon(self.program)
        return [_limits(dtype, unit) for dtype in output_types(self.program)]

    @cached_property
    def _roots(self) -> tuple[Scope, ...]:
        return tuple(piece.scope for piece in self._pieces)

    @cached_property
    def _written(self) -> tuple[Executable, ...]:
        """The rows as written, in each way to accumulate a sum; where there are very many products,
        only as a product of matrices."""
        types = output_types(self.program)
        own = [types[piece.output] for piece in self._pieces]
        roots = evaluable(self._roots)
        products = has_products(roots)
        found = [] if products and computed_points(*roots) > INTERPRETED else [written(roots, own)]
        if products:
            wide = evaluable([_wide(piece) for piece in self._pieces])
            found.append(written(wide, own, "einsum"))
        return tuple(found)

    @cached_property
    def _exact(self) -> Any:
        """A function from inputs to the rows' exact values, to |f|, and to what sums add up."""
        terms = tuple(magnitude(root) for root in self._roots)
        totals = tuple(map(summed, self._roots))
        return exact_rows((*self._roots, *terms, *totals), epsilon(self.program))

    def _standard(self, family: Family) -> tuple[Mapping[Tensor, torch.Tensor], Standard]:
        inputs, positive = self._inputs(family, False), False
        values = self._exact(inputs)
        missing = _not_finite(values[: len(self._roots)])
        if missing:  # outside of a function's domain, perhaps
            other = self._inputs(family, True)
            found = self._exact(other)
            if _not_finite(found[: len(self._roots)]) < missing:
                inputs, values, positive = other, found, True
        halves = any(tensor.dtype in HALVES for tensor in self.program.inputs)
        fails = is_wrong if halves or family in OF_ROOTS else overflows
        drawn = [self._draw(inputs, values, fails)]
        entries = sum(prod(root.shape) for root in self.program.roots())
        points = computed_points(*self._roots)
        few = entries < FEW and points <= INTERPRETED
        for seed in range(1, max(2, min(DRAWS, DRAWN // max(points, 1))) if few else 1):
            more = self._inputs(family, positive, seed)
            drawn.append(self._draw(more, self._exact(more), fails))
        rows = []
        for output, limits in enumerate(self._limits):
            all_rows = (values for draw in drawn for values in draw[output])
            rows.append(digits.rows_of(drawn[0][output], all_rows, limits))
        return inputs, Standard(family, positive, tuple(rows))

    def _draw(
        self,
        inputs: Mapping[Tensor, torch.Tensor],
        values: Sequence[digits.Array],
        fails: Fails,
    ) -> list[list[digits.Values]]:
        """The rows of each output on one draw of a family."""
        made = [
            [
                _array(y if y.shape == piece.scope.shape else y[piece.inside])
                for y, piece in zip(run(inputs), self._pieces, strict=True)
            ]
            for run in self._written
        ]
        count = len(self._roots)
        parts = [values[first : first + count] for first in range(0, 3 * count, count)]
        found = [
            digits.Values(exact, terms, total, tuple(ways))
            for exact, terms, total, *ways in zip(*parts, *made, strict=True)
        ]
        lines = (self._pieces_of(line(inputs)) for line in self.lines())
        limits = [self._limits[piece.output] for piece in self._pieces]
        found = held(found, lines, limits, fails)
        return self._by_output(found)


def _wide(piece: Piece) -> Scope:
    """The piece with its neighbours, where that is not much work."""
    return piece.wide if computed_points(piece.wide) <= INTERPRETED else piece.scope


def exact_rows(roots: Sequence[Scope], unit: float) -> Any:
    """A function from inputs to the values of the scopes, in float64, or with more digits where the
    types have as many; where that overflows (exp(1000)/exp(999)), of equal scopes with their
    exponentials about their maxima, and in a larger range."""
    wide = unit <= torch.finfo(torch.float64).eps
    usual = ExtendedField() if wide else RealField()
    domains = (usual,) if wide else (usual, ExtendedField())

    def interpreted(inputs: Mapping[Tensor, torch.Tensor]) -> list[digits.Array]:
        values = {t.name: v.to(torch.float64).cpu().numpy() for t, v in inputs.items()}
        found = [evaluate(root, values, usual) for root in roots]
        for domain in domains:
            found = [
                evaluate(about_maxima(root), values, domain) if _not_finite([value]) else value
                for root, value in zip(roots, found, strict=True)
            ]
        return found

    if interpreted_points(*roots) <= (LONG_INTERPRETED if wide else INTERPRETED):
        return interpreted
    run, tensors = _by_torch(roots), input_tensors(*roots)

    def lowered(inputs: Mapping[Tensor, torch.Tensor]) -> list[digits.Array]:
        values = {t: inputs[t].to(torch.float64) for t in tensors}
        found = [_array(y) for y in run(values)]
        if _not_finite(found):
            found = [_array(y) for y in _by_torch(list(map(about_maxima, roots)))(values)]
        return found

    return lowered


def _by_torch(roots: Sequence[Scope]) -> Executable:
    scopes = tuple(stages(*roots))
    return Executable(tuple(roots), scopes, tuple(map(lower, scopes)), ("",) * len(scopes))


def _array(values: torch.Tensor) -> digits.Array:
    return values.to(torch.float64).cpu().numpy()


def _not_finite(values: Sequence[digits.Array]) -> int:
    return sum(int((~np.isfinite(v)).sum()) for v in values)


def _limits(dtype: torch.dtype, epsilon: float) -> digits.Limits:
    if not dtype.is_floating_point:
        return digits.Limits(epsilon, torch.finfo(torch.float64).tiny, float("inf"))
    return digits.Limits(epsilon, torch.finfo(dtype).tiny, torch.finfo(dtype).max)


def has_families(program: Program) -> bool:
    types = [getattr(torch, tensor.dtype) for tensor in program.inputs]
    complex_numbers = any(dtype.is_complex for dtype in types)
    complex_numbers |= any(map(is_imaginary, stages(*program.roots())))
    empty = any(0 in root.shape for root in program.roots())
    return any(d.is_floating_point for d in types) and not complex_numbers and not empty
