"""Verdicts by laws of functions: equal by a proof, or different for entries that are assumed.

sqrt(x^2) = abs(x)       equal: proved in two cases
sqrt(x^2) = x            equal where x > 0 is assumed; else x = -1 shows a difference
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from time import monotonic

import numpy as np

from einderive.frontend.equality.equation import Pair
from einderive.frontend.equality.increasing import TEXTS, simplified
from einderive.frontend.equality.verdict import Counterexample, Verdict
from einderive.ta.equality.apart import apart
from einderive.ta.equality.counterexample import ROUNDING, first_difference, real_fields
from einderive.ta.equality.laws import LAWS
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import Array, ComplexField, Field, RealField
from einderive.ta.exact.interp import Values, evaluate, evaluate_at, input_tensors, visited
from einderive.ta.exact.sampled import SMALL, Positions, sampled_values
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.node import ANY, Bounds, Scope, Tensor
from einderive.ta.ir.program import Assumption
from einderive.ta.ir.subst import points_of
from einderive.ta.laws import REAL_LAWS
from einderive.ta.reals.prove import Proof, prove
from einderive.ta.reals.whole import STATED

DRAWS = 60
PRECISE = 3
"""Draws that are also computed with many digits."""
MOST_VISITED = 20_000
"""Points that one evaluation may visit."""
MOST_SEEN = 4_000_000
"""The same limit for a check that a large program has values."""
FEW = 8
LATE = "no proof was found within"
REDRAWN = 400
"""Entries are drawn anew at most so often until they satisfy the assumptions."""


def proved(pair: Pair, seconds: float) -> Verdict:
    """Equal by laws, if all outputs are seen to be within this many seconds; otherwise
    undecided."""
    proofs: list[Proof] = []
    end = monotonic() + seconds
    for left, right in zip(pair.left, pair.right, strict=True):
        if left is right:
            continue
        proof = _by_order(left, right) or prove(left, right, end - monotonic())
        if proof.late:
            return Verdict("undecided", f"{LATE} {seconds:g} s; more `seconds` may help")
        if not proof.equal:
            return Verdict("undecided", f"laws of functions do not show it: {proof.reason}")
        proofs.append(proof)
    if not _has_values(pair):
        return Verdict("undecided", "no entries were found at which both sides have a value")
    laws = dict.fromkeys(law for proof in proofs for law in proof.laws)
    cases = sum(proof.cases for proof in proofs)
    where = f" for {assumed}" if (assumed := assumptions(pair)) else ""
    by = f", by {'; '.join(map(_law, laws))}" if laws else ""
    split = f", in {cases} cases" if cases > 1 else ""
    return Verdict("proved", f"equal wherever both sides have a value{where}{split}{by}")


def _by_order(left: Scope, right: Scope) -> Proof | None:
    """The proof where both become the same without functions that increase."""
    sides = simplified(left), simplified(right)
    if sides[0].root is not sides[1].root:
        return None
    laws = dict.fromkeys(law for side in sides for law in side.laws)
    return Proof(True, tuple(laws), 1)


def _law(name: str) -> str:
    if name in TEXTS:
        return name
    known = REAL_LAWS.get(name)
    return known.text if known else STATED.get(name) or LAWS[name].equation


def assumptions(pair: Pair) -> str:
    """The assumptions about the entries: `A > 0, 0 <= B < 1`."""
    tensors = input_tensors(*pair.left, *pair.right)
    found = [Assumption(tensor.name, tensor.bounds) for tensor in tensors if tensor.bounds != ANY]
    return ", ".join(map(str, found))


def difference(pair: Pair) -> Counterexample | None:
    """Entries that satisfy the assumptions and for which both sides certainly differ."""
    if not _small(pair):
        return None
    field = _fields(pair)[0]
    for data in _drawn(pair):
        found = first_difference(pair.left, pair.right, data, field)
        if found is not None:
            return pair.example(found, data)
    for data in islice(_drawn(pair), 0, DRAWS, DRAWS // PRECISE):
        found = apart(pair.left, pair.right, data)
        if found is not None:
            return pair.example(found, data)
    return None


def _has_values(pair: Pair) -> bool:
    """Whether every output was seen to have a position at which both sides are numbers; of a large
    program a few positions are looked at, with entries of any kind."""
    if _small(pair):
        return any(_numbers(pair, data) for data in _drawn(pair))
    tensors = input_tensors(*pair.left, *pair.right)
    for sides in zip(pair.left, pair.right, strict=True):
        points = positions(sides[0], FEW)
        if visited(sides, len(points)) > MOST_VISITED:
            points = points[:1]
        if visited(sides, len(points)) > MOST_SEEN:
            return False
        entries = sampled_values(tensors, RealField(), 0)
        if not any(
            _seen(sides, points, {name: _scaled(at, by) for name, at in entries.items()}, field)
            for by, field in product((1, 1 / SMALL), _fields(pair))
        ):
            return False
    return True


def _seen(
    sides: tuple[Scope, Scope],
    points: Array,
    entries: Mapping[str, Values],
    field: Field,
) -> bool:
    with np.errstate(all="ignore"):
        values = [np.isfinite(evaluate_at(side, points, entries, field)) for side in sides]
    return bool(np.any(np.logical_and(*values)))


def _scaled(entries: Callable[[Positions], Array], by: float) -> Values:
    """Whole numbers of either sign, or fractions, whose powers do not overflow."""
    return lambda positions: entries(positions) * by


def _fields(pair: Pair) -> tuple[Field, ...]:
    if any(may_be_complex(side) for side in (*pair.left, *pair.right)):
        return (ComplexField(ROUNDING),)
    return real_fields()


def _small(pair: Pair) -> bool:
    entries = sum(tensor.size for tensor in input_tensors(*pair.left, *pair.right))
    return entries <= MOST_VISITED and points_of(*pair.left, *pair.right) <= MOST_VISITED


def _numbers(pair: Pair, data: Mapping[str, Array]) -> bool:
    field = _fields(pair)[0]
    for sides in zip(pair.left, pair.right, strict=True):
        values = [np.isfinite(evaluate(side, data, field)) for side in sides]
        if not np.any(np.logical_and(*values)):
            return False
    return True


def _drawn(pair: Pair) -> Iterator[dict[str, Array]]:
    """Entries as assumed: small whole numbers, then halves and tenths, then any."""
    tensors = {t.name: t for t in input_tensors(*pair.left, *pair.right)}
    generator = np.random.default_rng(0)
    for draw in range(DRAWS):
        data = {name: _entries(t, draw, generator) for name, t in tensors.items()}
        for _ in range(REDRAWN):
            wrong = {name: _broken(tensors[name].bounds, data[name]) for name in data}
            if not any(broken.any() for broken in wrong.values()):
                yield data
                break
            for name, broken in wrong.items():
                data[name] = np.where(broken, _entries(tensors[name], draw, generator), data[name])


def _entries(tensor: Tensor, draw: int, generator: np.random.Generator) -> Array:
    if not tensor.dtype.startswith("complex"):
        return _reals(tensor.shape, draw, generator)
    parts = [_reals(tensor.shape, draw, generator) for _ in range(2)]
    return np.asarray(parts[0] + 1j * parts[1])


def _reals(shape: tuple[int, ...], draw: int, generator: np.random.Generator) -> Array:
    if draw < 8:
        reach = 1 + draw // 2
        return generator.integers(-reach, reach + 1, shape).astype(np.float64)
    if draw < 16:
        return generator.integers(-24, 25, shape) / 8
    return np.asarray(generator.standard_normal(shape) * (0.5, 1.0, 3.0)[draw % 3])


def _broken(bounds: Bounds, values: Array) -> Array:
    """The entries that violate an assumption, of which complex numbers have only `!= 0`."""
    if np.iscomplexobj(values):
        return np.asarray(bounds.nonzero & (values == 0))
    low = values > float(bounds.least) if bounds.above else values >= float(bounds.least)
    high = values < float(bounds.greatest) if bounds.below else values <= float(bounds.greatest)
    return np.asarray(~(low & high & ((values != 0) | (not bounds.nonzero))))
