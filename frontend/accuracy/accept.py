"""Acceptance on random inputs: a program's error against float64 is not far above the formula's
own.

    error(y) = max|y - r| / max|r|              r: the program evaluated in float64
    accepted   <=>   error(candidate) <= FACTOR * error(written) + FLOOR * epsilon(dtype)

The error is a maximum, not a mean, so one wrong border element is enough to refuse a program.  For
componentwise accuracy (see `accuracy.levels`), error(y) = max_i |y_i - r_i| / |f|_i replaces the
first line.  The reference is itself checked against the exact interpreter's float64 values at
corners and random points.  Programs of integers are compared exactly: see
`frontend.accuracy.accept_integers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite, isnan

import numpy as np
import torch

from einderive.eops.torch_views.stage import lower_all
from einderive.eops.torch_views.types import is_whole
from einderive.eops.whole_parts import DIVIDED
from einderive.frontend.accuracy import accept_integers, sampled_reference
from einderive.frontend.accuracy.inputs.drawn import SMALL, random_inputs, whole_range_inputs
from einderive.frontend.accuracy.levels import Accuracy, magnitude
from einderive.frontend.accuracy.rows import Piece, narrowed
from einderive.frontend.assumptions.indices import reach_of
from einderive.frontend.running.unwritten import Marked
from einderive.ta.equality.positions import positions
from einderive.ta.errors import BuildError
from einderive.ta.exact.fields import Field, RealField
from einderive.ta.exact.interp import affordable, evaluate_at, visited
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir.affine import Range
from einderive.ta.ir.expr import tensor
from einderive.ta.ir.node import Apply, Scope, Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import every_term

FACTOR = 10.0
"""One decimal digit."""
FLOOR = 16.0
SAMPLES = 24
DIVIDED_MOST = 1 << 26
"""Integers that are divided beside floats are no larger: float64 holds their products, and float32
does not hold them."""
MOST_WORK = 3_000_000
"""At most this many values are computed by the interpreter for the points of one output, its last
point apart."""
MOST_ALONE = 10_000_000
"""If an output's last point takes more values than this, about half a second, it is checked with
shorter sums."""
_NO_INPUT = tensor("", (), "float64")
"""Stands where a program has no input, and says that it is evaluated in float64."""
BLOCK = 1 << 16
"""Entries that are compared at a time."""
MOST_CHECKED = 6_000_000
"""The number of outputs, or rows, that are checked.  The first is always checked."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Random inputs in the program's types, and the outputs in float64 computed from them; `sizes`
    are |f| for a componentwise error, None for a normwise one.

    `types` are those that the formula gives its outputs.  A program of integers has `exact` cases
    instead, and no error but 0 and infinity.  Where some inputs are integers, `wider` is a second
    reference, on data of the types' whole range."""

    inputs: Mapping[Tensor, torch.Tensor]
    outputs: tuple[torch.Tensor, ...]
    epsilon: float
    sizes: tuple[torch.Tensor, ...] | None = None
    exact: tuple[accept_integers.ExactCase, ...] = ()
    types: tuple[torch.dtype, ...] = ()
    wider: Reference | None = None
    parts: tuple[Piece, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    """If the full outputs take too long: the rows that `outputs` holds instead, one after the
    other."""

    def error_of(
        self, run: Callable[[Mapping[Tensor, torch.Tensor]], Sequence[torch.Tensor]]
    ) -> float:
        """The error of the results that `run` gives for the inputs.  All memory that it allocates
        holds NaN until it is written."""
        with Marked():
            if self.exact:
                return 0.0 if all(case.agrees(run) for case in self.exact) else inf
            outputs = run(self.inputs)
        if any(y.dtype != dtype for y, dtype in zip(outputs, self.types, strict=True)):
            return inf
        if self.parts:
            shapes = [tuple(output.shape) for output in outputs]
            if shapes != list(self.shapes):
                return inf
            outputs = sampled_reference.gathered(outputs, self.parts)
        off = error(outputs, self.outputs, self.sizes)
        return off if self.wider is None else max(off, self.wider.error_of(run))


def reference(
    program: Program, device: str, accuracy: Accuracy = "normwise", scale: float = 1.0
) -> Reference:
    """Random inputs, `scale` times as large as usual, and the float64 outputs.  BuildError if the
    interpreter disagrees with the outputs."""
    inputs = random_inputs(program.inputs, device, scale=scale, reach=reach_of(program))
    if not accept_integers.reads_integers(program):
        return _real_reference(program, inputs, accuracy)
    greatest = accept_integers.greatest_entry(program)
    whole = whole_range_inputs(program.inputs, device, greatest)
    if accept_integers.stays_whole(program):
        exact = tuple(accept_integers.exact_case(program, given) for given in (inputs, whole))
        for case in exact:
            whole_numbers = _Given(case.inputs)
            for root, output in zip(program.roots(), case.outputs, strict=True):
                _confirm(root, output, whole_numbers, accept_integers.WrappingField())
        types = exact[0].types
        return Reference(inputs, exact[0].outputs, 0.0, exact=exact, types=types)
    if _divides(program) and greatest > DIVIDED_MOST:
        greatest = DIVIDED_MOST
        whole = whole_range_inputs(program.inputs, device, greatest)
    found = _real_reference(program, inputs, accuracy)
    wider = _real_reference(program, whole, accuracy) if greatest > SMALL else None
    return replace(found, wider=wider)


def _divides(program: Program) -> bool:
    """Whether the rest of a division of integers is asked for, which float64 has up to 2^53."""
    terms = every_term(*program.roots())
    return any(isinstance(node, Apply) and node.function in DIVIDED for node in terms)


def _wide(value: torch.Tensor, digits: bool) -> torch.Tensor:
    """Integers stay as they are where their digits count."""
    if digits and not (value.is_floating_point() or value.is_complex()):
        return value
    return value.to(torch.complex128 if value.is_complex() else torch.float64)


def _real_reference(
    program: Program, inputs: Mapping[Tensor, torch.Tensor], accuracy: Accuracy
) -> Reference:
    terms = every_term(*program.roots())
    digits = any(isinstance(node, Apply) and FUNCTIONS[node.function].digits for node in terms)
    wide = {source: _wide(value, digits) for source, value in inputs.items()} or {
        _NO_INPUT: torch.zeros((), dtype=torch.float64)
    }
    roots = tuple(map(sampled_reference.equally_cheap, program.roots()))
    parts = sampled_reference.pieces(roots)
    if parts:
        outputs, parts = _rows(parts, wide)
    else:
        outputs = tuple(in_numbers(lower_all(root)(wide)) for root in roots)
    scopes = [piece.scope for piece in parts] or roots
    checked, given = 0.0, _Given(wide)
    for scope, output in zip(scopes, outputs, strict=True):
        if checked < MOST_CHECKED:
            checked += _confirm(scope, output, given, RealField())
    sizes = None
    if accuracy == "componentwise":
        sizes = tuple(in_numbers(lower_all(magnitude(scope))(wide)).abs() for scope in scopes)
    if parts:
        outputs = sampled_reference.joined(outputs, parts)
        sizes = None if sizes is None else sampled_reference.joined(sizes, parts)
    shapes = tuple(root.shape for root in roots)
    return Reference(
        inputs,
        outputs,
        epsilon(program),
        sizes,
        types=accept_integers.output_types(program),
        parts=parts,
        shapes=shapes,
    )


def _rows(
    parts: Sequence[Piece], wide: Mapping[Tensor, torch.Tensor]
) -> tuple[tuple[torch.Tensor, ...], tuple[Piece, ...]]:
    """The rows, as many as there is time for."""
    started, found, kept = time.perf_counter(), [], []
    for piece in parts:
        if piece.corner or time.perf_counter() - started < sampled_reference.SAMPLED_SECONDS:
            found.append(in_numbers(lower_all(piece.scope)(wide)))
            kept.append(piece)
    return tuple(found), tuple(kept)


def in_numbers(values: torch.Tensor) -> torch.Tensor:
    """The outputs, of which those of integers and bools are converted to float64."""
    return values.to(torch.float64) if is_whole(values.dtype) else values


def epsilon(program: Program) -> float:
    """The spacing of numbers at 1 in the least precise floating type of the inputs.  If all inputs
    are integers, in that of the outputs."""
    inputs = [getattr(torch, t.dtype) for t in program.inputs]
    for types in (inputs, accept_integers.output_types(program) if inputs else ()):
        floats = [torch.finfo(d).eps for d in types if d.is_floating_point or d.is_complex]
        if floats:
            return max(floats)
    return 0.0


@dataclass(frozen=True)
class _Given:
    """The inputs, and the same as arrays on the host, copied once however often they are read."""

    tensors: Mapping[Tensor, torch.Tensor]

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        return {source.name: value.cpu().numpy() for source, value in self.tensors.items()}


def _confirm(root: Scope, output: torch.Tensor, given: _Given, domain: Field) -> float:
    """The reference against the interpreter, at points; the values that this took."""
    if 0 in root.shape or any(value.is_complex() for value in (output, *given.tensors.values())):
        return 0.0
    count = max(1, affordable([root], SAMPLES, MOST_WORK))
    if visited([root], count) > MOST_ALONE:
        return _confirm_in_part(root, given, domain)
    points = positions(root, count)
    found = evaluate_at(root, points, given.arrays, domain)
    got = at_points(root, points, output).cpu().numpy()
    if isinstance(domain, accept_integers.WrappingField):
        if not np.array_equal(got, found):
            raise BuildError("the int64 reference disagrees with the exact interpreter")
        return 0.0
    exact = np.asarray(found, dtype=np.float64)
    finite = np.isfinite(exact)
    got, exact, scale = got[finite], exact[finite], _largest(exact) or 1.0
    if not np.allclose(got, exact, rtol=1e-9, atol=1e-9 * scale):
        # what cancels is off by the rounding of its terms
        terms = evaluate_at(magnitude(root), points, given.arrays, domain)
        if not np.allclose(got, exact, rtol=1e-9, atol=1e-9 * _largest(terms)):
            raise BuildError("the float64 reference disagrees with the exact interpreter")
    return visited([root], len(points))


def _largest(values: np.ndarray) -> float:
    sizes = np.abs(np.asarray(values, dtype=np.float64))
    return float(np.max(sizes[np.isfinite(sizes)], initial=0.0))


def _confirm_in_part(root: Scope, given: _Given, domain: Field) -> float:
    """Confirms the reference at an entry that sums too many terms: as much of its sums as can be
    confirmed is evaluated by itself.  Integers, which another function evaluates, are left out."""
    box = tuple(Range(int(i), int(i) + 1) for i in positions(root, 1)[0])
    part = sampled_reference.fewer_terms(narrowed(root, box), MOST_WORK)
    if isinstance(domain, accept_integers.WrappingField) or visited([part], 1) > MOST_ALONE:
        return 0.0
    return _confirm(part, lower_all(part)(given.tensors), given, domain)


def at_points(root: Scope, points: np.ndarray, output: torch.Tensor) -> torch.Tensor:
    """The output's elements at index points, shape (P, loops)."""
    lows = np.array([r.lo for r in root.loops], dtype=np.int64)
    index = tuple(torch.as_tensor(column, device=output.device) for column in (points - lows).T)
    return output[index] if index else output.reshape(-1)


def error(
    outputs: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    sizes: Sequence[torch.Tensor] | None = None,
) -> float:
    """The largest error over the outputs: norm-wise, or component-wise against `sizes`.  It is
    infinite for a wrong shape, a NaN in a wrong place, or a lost imaginary part.

    Numbers below the smallest normal number of the output's type count as if they were that number.
    """
    worst = 0.0
    for position, (output, wanted) in enumerate(zip(outputs, expected, strict=True)):
        if output.shape != wanted.shape:
            return inf
        if not wanted.numel():
            continue
        if wanted.is_complex() and not output.is_complex():
            return inf
        plain = _plain_error(output, wanted) if sizes is None else None
        if plain is not None:
            worst = max(worst, plain)
            continue
        got, least = output.to(wanted.dtype), 0.0
        if output.dtype.is_floating_point:  # what the type cannot hold is infinite in it
            wanted = torch.where(torch.isinf(wanted.to(output.dtype)), wanted.sign() / 0, wanted)
        if output.dtype.is_floating_point or output.is_complex():
            least = torch.finfo(output.dtype).tiny
        finite = torch.isfinite(wanted.abs())
        same_odd = _same_odd(got[~finite], wanted[~finite])
        if not same_odd or not torch.isfinite(got[finite].abs()).all():
            return inf
        if not bool(finite.any()):
            continue
        off = (got - wanted)[finite].abs()
        if sizes is None:
            against = wanted[finite].abs().max()
        else:
            against = sizes[position][finite].to(off.dtype)
        against = against.clamp_min(least) if least else torch.where(against == 0, 1.0, against)
        worst = max(worst, float((off / against).max()))
    return worst


def _plain_error(output: torch.Tensor, wanted: torch.Tensor) -> float | None:
    """The norm-wise error where all numbers are finite and real, and within what the output's type
    holds: the usual case, in few passes.  None elsewhere."""
    if not (wanted.is_floating_point() and output.is_floating_point()):
        return None
    largest = float(torch.linalg.vector_norm(wanted, inf))  # NaN, if there is one
    if not largest <= torch.finfo(output.dtype).max:
        return None
    given, right = output.reshape(-1), wanted.reshape(-1)
    found = [  # block by block, so that the differences stay in the caches
        torch.linalg.vector_norm(given[at : at + BLOCK] - right[at : at + BLOCK], inf)
        for at in range(0, right.numel(), BLOCK)
    ]
    off = float(torch.stack(found).amax())
    return off / max(largest, torch.finfo(output.dtype).tiny) if isfinite(off) else None


def _same_odd(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    """NaN for NaN and each infinity for itself; complex ones, whose parts are no guide, for any."""
    if wanted.is_complex():
        return not bool(torch.isfinite(got.abs()).any())
    return bool(torch.isclose(got, wanted, rtol=0.0, atol=0.0, equal_nan=True).all())


def accepted(
    candidate: float, written: float, epsilon: float, condition: float = 1.0, factor: float = FACTOR
) -> bool:
    """Whether the candidate's error is close enough to that of the formula as written.  `condition`
    is the size of the terms that are summed, relative to the result."""
    floor = FLOOR * epsilon * condition
    return not isnan(candidate) and candidate <= factor * written + floor
