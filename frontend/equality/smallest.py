"""A small counterexample: small shapes first, then inputs with few entries that are not 0.

Each class of dimensions that are indexed alike is made as small as a difference allows, the
greatest first; then entries are set to 0 as long as a difference remains, and the rest to 1 where
that keeps it.  The position is the first one that differs, in lexicographic order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from einderive.frontend.equality.element_ranges import limited
from einderive.frontend.equality.equation import Equation, Pair
from einderive.frontend.equality.verdict import Counterexample
from einderive.ta.equality.compare import compare, exactly
from einderive.ta.equality.counterexample import ROUNDING, Found, difference_at, first_difference
from einderive.ta.equality.laws import EXP_SUM, apply_definitions
from einderive.ta.equality.sign_bounds import opaque_functions
from einderive.ta.equality.small_extents import Classes, reduce_extents
from einderive.ta.errors import EinderiveError
from einderive.ta.exact.fields import Array, Field, ModularField, RealField
from einderive.ta.exact.interp import input_tensors, visited
from einderive.ta.exact.rationals import ExactField
from einderive.ta.exact.sampled import sampled_values
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import points_of

SIDES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)
MOST_POINTS = 60_000
MOST_ENTRIES = 2048
MOST_TRIALS = 400
SECONDS = 1.5
"""After this many seconds no further step begins, and the example so far is the result."""


class _Search:
    def __init__(self, equation: Equation, laws: frozenset[str]) -> None:
        self.equation, self.laws = equation, laws
        self.end = time.monotonic() + SECONDS

    @property
    def late(self) -> bool:
        return time.monotonic() > self.end

    def difference(self, shapes: Mapping[str, Any]) -> tuple[Pair, Found] | None:
        """A difference at these shapes, or None where there is none that is quickly seen."""
        try:
            pair = self.equation.at(shapes).pair()
        except EinderiveError:
            return None
        if pair.mismatch:
            return None
        small = reduce_extents(
            *(apply_definitions(side, self.laws) for side in (pair.left, pair.right))
        )
        if points_of(*small.left, *small.right) > MOST_POINTS:
            return None
        found = compare(small.left, small.right, exp_sum=EXP_SUM in self.laws).found
        return (pair, found) if found else None


def smallest(equation: Equation, pair: Pair, laws: frozenset[str], found: Found) -> Counterexample:
    """The smallest counterexample that is quickly found; `found` itself at worst."""
    search = _Search(equation, laws)
    chosen, best = pair, found
    if not any(isinstance(side, Program) for side in (equation.lhs, equation.rhs)):
        shapes: dict[str, tuple[int, ...]] = {
            name: tuple(int(size) for size in shape) for name, shape in equation.shapes.items()
        }
        for smaller in _shrunk(search, shapes, pair):
            chosen, best = smaller
    sparse = _sparse(search, chosen)
    return sparse or _plain(chosen, best)


def _shrunk(
    search: _Search, shapes: dict[str, tuple[int, ...]], pair: Pair
) -> Iterator[tuple[Pair, Found]]:
    """Ever smaller pairs that differ."""
    together = Classes(pair.left, pair.right).dimensions()
    outputs = [name for name in shapes if name not in pair.shapes]
    if outputs:  # their shapes state ranges, and so belong to no class
        return
    together = [group for group in together if group[0][0] in shapes]  # not INDEX
    together.sort(key=lambda group: -shapes[group[0][0]][group[0][1]])
    for side in SIDES:  # all at once: what is large hides what is small
        if search.late:
            return
        bounded = {name: tuple(min(side, size) for size in s) for name, s in shapes.items()}
        found = search.difference(bounded) if bounded != shapes else None
        if found:
            shapes = bounded
            yield found
            break
    for group in together * 2:
        name, dimension = group[0]
        for side in SIDES:
            if search.late or side >= shapes[name][dimension]:
                break
            trial = _resized(shapes, group, side)
            found = search.difference(trial)
            if found:
                shapes = trial
                yield found
                break


def _resized(
    shapes: Mapping[str, tuple[int, ...]], group: Sequence[tuple[str, int]], side: int
) -> dict[str, tuple[int, ...]]:
    changed = {name: list(shape) for name, shape in shapes.items()}
    for name, dimension in group:
        changed[name][dimension] = side
    return {name: tuple(shape) for name, shape in changed.items()}


def _sparse(search: _Search, pair: Pair) -> Counterexample | None:
    """A counterexample with few entries other than 0, if a difference shows on small whole
    numbers."""
    tensors = {t.name: t for t in input_tensors(*pair.left, *pair.right)}
    entries = sum(t.size for t in tensors.values())
    if entries > MOST_ENTRIES or points_of(*pair.left, *pair.right) > MOST_POINTS:
        return None
    opaque = opaque_functions(*pair.left, *pair.right)
    if not opaque and not exactly(*pair.left, *pair.right):
        return None
    for data in _drawn(tensors, limited(pair)):
        for field in (RealField(ROUNDING), *(() if opaque else (ExactField(),))):
            if search.late:
                return None
            if first_difference(pair.left, pair.right, data, field):
                _clear(search, pair, data, field)
                exact = field if opaque else ExactField()
                found = first_difference(pair.left, pair.right, data, exact)
                return found and pair.example(found, data)  # None: a rounding error of float64
    return None


def _drawn(tensors: Mapping[str, Tensor], held: Mapping[str, Range]) -> Iterator[dict[str, Array]]:
    """Small whole entries: zeros, ones, random ones of several kinds, as far as the types hold
    them."""
    yield {name: np.zeros(t.shape, dtype=np.int64) for name, t in tensors.items()}
    yield {name: np.ones(t.shape, dtype=np.int64) for name, t in tensors.items()}
    generator = np.random.default_rng(0)
    for high in (2, 2, 4, 4, 10, 100, 100, 1000, 1000, 10**6, 10**6):
        low = 0 if high == 2 else -high
        bounds = {name: held.get(name, Range(low, high)) for name in tensors}
        yield {
            name: generator.integers(
                max(low, bounds[name].lo), min(high, bounds[name].hi), t.shape
            ).astype(np.int64)
            for name, t in tensors.items()
        }


def _clear(search: _Search, pair: Pair, data: dict[str, Array], field: Field) -> None:
    """Set entries to 0, in ever smaller groups, and what remains to 1, while a difference does."""
    trials = 0

    def keeps(name: str, places: Array, value: int) -> bool:
        nonlocal trials
        trials += 1
        flat = data[name].reshape(-1)
        before = flat[places].copy()
        flat[places] = value
        if first_difference(pair.left, pair.right, data, field):
            return True
        flat[places] = before
        return False

    for name in data:
        width = data[name].size
        while width and trials < MOST_TRIALS and not search.late:
            places = np.flatnonzero(data[name].reshape(-1))
            for start in range(0, len(places), width):
                keeps(name, places[start : start + width], 0)
            width = min(width, len(places)) // 2
    for name in data:
        for place in np.flatnonzero(data[name].reshape(-1)):
            if data[name].reshape(-1)[place] != 1 and trials < MOST_TRIALS and not search.late:
                keeps(name, np.array([place]), 1)


def _plain(pair: Pair, found: Found) -> Counterexample:
    """Random entries: numbers that a reader knows, if they show a difference, else residues."""
    if not isinstance(found.field, ModularField):
        return pair.example(found)
    sides = pair.left[found.output], pair.right[found.output]
    tensors = input_tensors(*sides)
    opaque = opaque_functions(*sides)
    affordable = visited(sides, 1) <= MOST_POINTS
    affordable = affordable and bool(opaque or exactly(*sides))
    field: Field = RealField(ROUNDING) if opaque else ExactField()
    for seed in range(1, 5 if affordable else 1):
        data = sampled_values(tensors, field, seed)
        other = difference_at(sides, [found.point], data, field)
        if other is not None:
            return pair.example(other._replace(output=found.output))
    values = found._replace(left=int(str(found.left)), right=int(str(found.right)))
    return pair.example(values, numbers=f" residues modulo {found.field.prime}")
