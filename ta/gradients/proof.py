"""Whether a program of derivatives is that of a formula, by dual numbers and random residues.

    gradient:  <dY, J v> = <dA, v>        tangent:  dY = J dA

J v comes from the exact interpreter, which evaluates the formula itself on dual numbers
(`ta.gradients.duals`); no rule of differentiation for sums, products, reads or scopes takes part.
Both sides of the first line are bilinear in dY and v: two gradients that differ as rational
functions agree in a draw with a chance of at most (degree + 2)/p.  A function and its derivative
are opaque, but keyed by the same argument.  Comparisons are drawn, and go both ways.

Complex numbers are pairs of conjugates (`conjugate_pairs`), and <g, w> = real(conj(g)*w).  Whole
numbers, such as those of a gather, are drawn from the ranges of the program's iterators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from einderive.ta.equality.partial_values import has_infinity
from einderive.ta.equality.primes import digest, primes, root_of_minus_one
from einderive.ta.exact.fields import Array, halves, pair, random_values
from einderive.ta.exact.interp import evaluate, uses_order
from einderive.ta.gradients.conjugate_pairs import I, is_complex, with_pairs, without_partner
from einderive.ta.gradients.duals import DrawnField, DualField
from einderive.ta.gradients.program import Derived, is_continuous
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import points_of, stages

DRAWS: Final = 4
ORDERED_DRAWS: Final = 16
"""Draws where values are compared: each one lands on other branches."""
MOST_POINTS: Final = 4_000_000
"""Formulas and derivatives that visit more points than this together are not evaluated."""


class Difference(NamedTuple):
    """`output[point]` is `found` in the program of derivatives, and `true` by dual numbers."""

    output: str
    point: tuple[int, ...]
    true: int
    found: int
    prime: int


class Decision(NamedTuple):
    """The outcome: a difference, or agreement in this many draws.  `points` are those that were to
    be visited; if they are too many, there are no draws.  `empty` says that all values were 0.
    `infinite` says that an infinite number takes part, which is no residue: 2*inf = inf."""

    draws: int
    points: int
    empty: bool = False
    difference: Difference | None = None
    infinite: bool = False


def decide(formula: Program, derived: Derived, wrt: Sequence[Tensor], *, forward: bool) -> Decision:
    """Compares a gradient, or with `forward` a tangent, with dual numbers."""
    if is_complex(formula, derived.program):
        formula, derived, wrt = with_pairs(formula, derived, wrt, forward=forward)
    roots = (*formula.roots(), *derived.program.roots())
    points = points_of(*formula.roots()) + points_of(*derived.program.roots())
    if points > MOST_POINTS:
        return Decision(0, points)
    ordered = any(map(uses_order, stages(*roots)))
    draws = ORDERED_DRAWS if ordered else DRAWS
    empty = True
    drawn = primes(digest(roots))
    if any(I in program.inputs for program in (formula, derived.program)):
        drawn = filter(lambda prime: prime % 4 == 1, drawn)
    for seed, prime in enumerate(islice(drawn, draws)):
        draw = _Draw(formula, derived, wrt, prime, seed)
        difference, nothing = draw.of_tangent() if forward else draw.of_gradient()
        if difference is not None:
            infinite = has_infinity(*roots)
            return Decision(seed + 1, points, False, None if infinite else difference, infinite)
        empty = empty and nothing
    return Decision(draws, points, empty)


class _Draw:
    """One prime, random entries of the formula's inputs, and a random direction."""

    def __init__(
        self, formula: Program, derived: Derived, wrt: Sequence[Tensor], prime: int, seed: int
    ) -> None:
        self.formula, self.derived, self.wrt = formula, derived, wrt
        self.duals, self.field = DualField(prime), DrawnField(prime)
        self.entries = _entries(formula, self.field, seed)
        if prime % 4 == 1:
            self.entries[I.name] = self.field.convert(np.array(root_of_minus_one(prime)))
        self.directions = random_values(wrt, self.field, seed + 1000)
        inputs = [t for t in derived.program.inputs if t.name not in self.entries]
        self.given = random_values(inputs, self.field, seed + 2000)

    def of_tangent(self) -> tuple[Difference | None, bool]:
        """The first difference of a tangent, and whether all values are 0."""
        of_inputs = self.derived.of_inputs
        given = {of_inputs[name]: v for name, v in self.directions.items()}
        found = self.values({**self.given, **given})
        empty = True
        for output, true in self.along(self.directions).items():
            name = self.derived.of_outputs[output]
            empty = empty and not true.any()
            for place in np.argwhere(true != found[name])[:1]:
                return self.difference(name, place, true[tuple(place)], found[name]), False
        return None, empty

    def of_gradient(self) -> tuple[Difference | None, bool]:
        """The first difference of a gradient, and whether both sides are 0."""
        found = self.values(self.given)
        sides = self.sides(self.directions, found)
        if sides[0] == sides[1]:
            return None, not any(sides)
        for tensor in self.wrt:
            direction = self.directions[tensor.name]
            left, right = self.sides({tensor.name: direction}, found)
            if left == right:
                continue
            places = np.arange(direction.size)
            while len(places) > 1:  # the half that still shows the difference
                half = places[: len(places) // 2]
                one, other = self.sides({tensor.name: _kept(direction, half)}, found)
                places = half if one != other else places[len(half) :]
            unit = _kept(np.ones_like(direction), places)
            name = self.derived.of_inputs.get(tensor.name, f"d{tensor.name}")
            true, _ = self.sides({tensor.name: unit}, found)
            values = found.get(name, np.zeros_like(direction))
            place = np.array(np.unravel_index(int(places[0]), direction.shape), dtype=np.int64)
            return self.difference(name, place, true, values), False
        return None, False

    def sides(self, directions: Mapping[str, Array], found: Mapping[str, Array]) -> tuple[int, int]:
        """<dY, J v> by dual numbers, and <dA, v> by the gradient."""
        left = right = 0
        for output, slope in self.along(directions).items():
            name = self.derived.of_outputs.get(output, "")
            left += self.inner(self.given.get(name), slope)
        for tensor, direction in directions.items():
            if tensor in self.derived.of_inputs:
                right += self.inner(found[self.derived.of_inputs[tensor]], direction)
        return left % self.field.prime, right % self.field.prime

    def inner(self, left: Array | None, right: Array) -> int:
        """The inner product; without a left side, the sum."""
        product = right if left is None else self.field.multiply(left, right)
        return int(np.sum(product % np.uint64(self.field.prime), dtype=np.uint64))

    def along(self, directions: Mapping[str, Array]) -> dict[str, Array]:
        """The tangent of each output of the formula in the direction."""
        values = {
            name: pair(self.field.convert(entry), directions.get(name, np.uint64(0)))
            for name, entry in self.entries.items()
        }
        roots = zip(self.formula.outputs, self.formula.roots(), strict=True)
        return {o.name: halves(evaluate(root, values, self.duals))[1] for o, root in roots}

    def values(self, given: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of the program of derivatives."""
        program = self.derived.program
        entries = {**self.entries, **given}
        roots = zip(program.outputs, program.roots(), strict=True)
        return {o.name: evaluate(root, entries, self.field) for o, root in roots}

    def difference(self, name: str, place: Array, true: int, found: Array) -> Difference:
        point = tuple(int(i) for i in place)
        return Difference(
            without_partner(name), point, int(true), int(found[point]), self.field.prime
        )


def _entries(program: Program, field: DrawnField, seed: int) -> dict[str, Array]:
    """Entries of the program's inputs: residues, and whole numbers where the type has no others."""
    entries = random_values(program.inputs, field, seed)
    extents = [r.hi for stage in stages(*program.roots()) for r in stage.domain]
    for tensor in program.inputs:
        if not is_continuous(tensor):
            generator = np.random.default_rng((seed, crc32(tensor.name.encode())))
            low, high = (0, 2) if tensor.dtype == "bool" else (-1, max(extents, default=1) + 1)
            drawn = generator.integers(low, high, tensor.shape, dtype=np.int64)
            entries[tensor.name] = field.convert(drawn)
    return entries


def _kept(values: Array, places: Array) -> Array:
    """The values at these flat positions, 0 elsewhere."""
    kept = np.zeros_like(values)
    kept.reshape(-1)[places] = values.reshape(-1)[places]
    return kept
