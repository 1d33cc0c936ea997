"""Whether two programs over the same tensors have equal outputs, at the extents they have.

    for each of N draws:  evaluate both on random entries modulo a prime, compare every position

An output is a rational function of the entries, and functions such as `exp` are random values for
each argument.  By the lemma of Schwartz and Zippel two unequal polynomials of degree d agree at
random residues modulo p with a chance of at most d/p, unless p divides their difference; p is near
2^31 and drawn for the programs (`ta.primes`), and there are two draws modulo each of two primes.
Functions that compare (relu, maximum, ..) are opaque at first, and then have the signs of
`ta.signs`, with N such that (1 - 2^-k)^N < 10^-9.

Where that shows no equality, the rationals may show a difference.  Agreement there proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ta.exponential import ExponentialField
from ta.extremes import flatten_extremes
from ta.fields import Array, Field, ModularField, RealField, random_values
from ta.functions import FUNCTIONS
from ta.interp import evaluate, evaluate_at, input_tensors, uses_order
from ta.node import Access, Apply, Const, Mul, Node, Power, Scope, Tensor
from ta.primes import digest, primes, safe_primes, sign_primes
from ta.rationals import ExactField
from ta.sampled import sampled_values
from ta.signs import SignField
from ta.subst import children, nested_scopes, stages, walk

Roots: TypeAlias = Sequence[Scope]

SEEDS = (0, 1)
MOST_SIGNS = 6
"""Where more signs than this are multiplied in one term, the draws would be too many."""
MOST_DEGREE = 1 << 23
"""Beyond this degree d, four draws would miss a difference with a chance (d/2^31)^4 above 10^-9."""
MOST_EXACT_DEGREE = 1 << 12
"""Rationals of a greater degree have too many digits."""
MOST_DRAWN = 30_000_000
"""Points visited in all draws together."""
MISSED = 1e-9
"""The chance that the draws of signs miss a difference."""
MOST_PRIMES = 32
"""More draws than this share their primes."""
MOST_SPIKES = 256
"""So many entries are made the greatest and the least in turn."""
MOST_EXACT = 200_000
"""Programs of more points than this are not evaluated over the rationals."""
MOST_SAMPLED = 4_000_000
"""Points visited for a sample of positions."""
MOST_POSITIONS = 256
MOST_WHOLE = 1 << 62
"""Whole entries are drawn as 64-bit integers."""
ROUNDING = 1e-6
"""Programs with functions count as different only where float64 shows a larger relative error."""


Draw: TypeAlias = tuple[Field, int]
"""A field and the seed of its entries."""


class Found(NamedTuple):
    """Output number `output` differs at `point`."""

    output: int
    point: tuple[int, ...]
    left: object
    right: object
    field: Field


class Outcome(NamedTuple):
    """`equal`: shown, by so many draws, with up to `signs` signs in a term.  Else `found`, if the
    difference is one in numbers that a reader knows; or `reason`, why neither was shown, with the
    functions whose laws could make both equal."""

    equal: bool
    draws: int = 0
    signs: int = 0
    found: Found | None = None
    reason: Literal["", "laws", "order", "size", "degree"] = ""
    functions: tuple[str, ...] = ()


def compare(left: Roots, right: Roots, *, exp_sum: bool = False) -> Outcome:
    """Both programs at every position; with `exp_sum`, exp(a+b) = exp(a)*exp(b) holds."""
    most = greatest_degree(*left, *right)
    if most > MOST_DEGREE:
        return Outcome(False, reason="degree")
    ordered = any(map(uses_order, stages(*left, *right)))
    signs = greatest_sign_degree(*left, *right)
    seed = digest((*left, *right))
    draws = _draws(seed, ordered, exp_sum, signs)
    unsigned = _unsigned(seed, exp_sum)
    if signs and _first(left, right, unsigned) is None:
        return Outcome(True, len(unsigned))
    sides = (flatten_extremes(left), flatten_extremes(right)) if ordered else (left, right)
    if points(*sides[0], *sides[1]) * len(draws) > MOST_DRAWN:
        sides = (left, right)
    too_many = signs > MOST_SIGNS or len(draws) * points(*sides[0], *sides[1]) > MOST_DRAWN
    found = _first(*sides, draws[: len(SEEDS)] if too_many else draws)
    if found is None and not too_many:
        return Outcome(True, len(draws), signs)
    functions = opaque_functions(*left, *right)
    if found is not None and not ordered and not functions:
        return Outcome(False, found=found)
    if functions:
        real = ((field, seed) for field in real_fields() for seed in SEEDS)
        found = _first(left, right, real)
        return Outcome(False, found=found, reason="laws", functions=functions)
    if points(*left, *right) > MOST_EXACT or most > MOST_EXACT_DEGREE:
        return Outcome(False, reason="size")
    seeds = range(len(SEEDS) + 2 ** min(signs, MOST_SIGNS))
    fields = enumerate(exact_fields(*left, *right))  # equal seeds would give equal signs
    exact = ((field, seed + 1000 * number) for number, field in fields for seed in seeds)
    found = _first(left, right, exact) or _spiked(left, right)
    return Outcome(False, found=found, reason="order")


def sample(left: Roots, right: Roots) -> tuple[Found | None, int]:
    """A difference at corners, beside borders or inside, of programs of any size, in numbers that a
    reader knows; and how many positions of each output were looked at."""
    tensors = input_tensors(*left, *right)
    ordered = any(map(uses_order, stages(*left, *right)))
    field: Field = ExactField()
    if not ordered:
        field = ModularField(primes(digest((*left, *right)), 1)[0])
    budget = MOST_SAMPLED // 100 if ordered else MOST_SAMPLED
    if opaque_functions(*left, *right):
        field = RealField(ROUNDING)
    fewest = MOST_POSITIONS
    for number, (x, y) in enumerate(zip(left, right, strict=True)):
        count = MOST_POSITIONS
        while count and visited(x, count) + visited(y, count) > budget:
            count //= 2
        chosen = positions(x, count)
        fewest = min(fewest, len(chosen))
        if not len(chosen):
            continue
        for seed in (1, 2, 3):
            data = sampled_values(tensors, field, seed)
            values = [evaluate_at(side, chosen, data, field) for side in (x, y)]
            places = np.flatnonzero(field.differs(*values))
            if len(places):
                first = places[0]
                point = tuple(int(i) for i in chosen[first])
                return Found(number, point, values[0][first], values[1][first], field), fewest
    return None, fewest


class PositiveField(RealField):
    """float64 with positive entries, where sqrt and log have values."""

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return np.abs(generator.standard_normal(shape)) + 0.125


@dataclass(frozen=True)
class WholeField(ExactField):
    """The rationals, with whole entries from `low` to `high`."""

    low: int = -1
    high: int = 1

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        return self.convert(generator.integers(self.low, self.high + 1, shape))


def exact_fields(*roots: Scope) -> tuple[Field, ...]:
    """The rationals with entries of several magnitudes and signs: ties, halves and thirds, around
    and far beyond the constants of the programs."""
    reach = 2 + sum(map(math.ceil, _constants(*roots)))
    near, far = min(4 * reach, MOST_WHOLE), min(64 * reach * reach, MOST_WHOLE)
    bounds = ((-1, 1), (-near, near), (-far, far), (1, far), (-far, -1))
    return (ExactField(), *(WholeField(low, high) for low, high in bounds))


def first_difference(
    left: Roots, right: Roots, data: Mapping[str, Array], field: Field
) -> Found | None:
    """The first output and position at which both differ on these data."""
    for number, (x, y) in enumerate(zip(left, right, strict=True)):
        if x is y:
            continue
        a, b = (evaluate(side, data, field).reshape(-1) for side in (x, y))
        places = np.flatnonzero(field.differs(a, b))
        if len(places):
            first = int(places[0])
            index = np.unravel_index(first, x.shape) if x.loops else ()
            point = tuple(int(i) + r.lo for i, r in zip(index, x.loops, strict=True))
            return Found(number, point, a[first], b[first], field)
    return None


def points(*roots: Scope) -> int:
    """The iteration points of all stages together."""
    return sum(math.prod(stage.extents) for stage in stages(*roots))


def visited(scope: Scope, count: int) -> int:
    """At most so many iteration points are visited for so many positions of the scope."""
    inner = count * math.prod(r.extent for r in scope.sums)
    return inner + sum(visited(nested, min(nested.size, inner)) for nested in nested_scopes(scope))


def positions(scope: Scope, count: int) -> Array:
    """At most `count` positions: corners, beside borders, random ones; shape (count, loops)."""
    generator = np.random.default_rng(0)
    low = np.array([r.lo for r in scope.loops], dtype=np.int64)
    high = np.array([r.hi for r in scope.loops], dtype=np.int64)
    if not scope.size:
        count = 0
    rank = len(low)
    inside = generator.integers(low, high, (count, rank)) if count else np.zeros((0, rank), int)
    corners = [low if bit == 0 else high - 1 for bit in (0, 1)][: 2 * min(count, 1)]
    for kind in range(count - len(corners)):
        at_border = generator.integers(0, 2, rank).astype(bool)
        side = generator.integers(0, 2, rank).astype(bool)
        beside = generator.integers(0, 2, rank) * (kind % 3 == 1)
        border = np.where(side, high - 1 - beside, low + beside)
        mixed = border if kind % 3 == 0 else np.where(at_border, border, inside[kind])
        corners.append(np.clip(mixed, low, high - 1) if kind % 3 < 2 else inside[kind])
    chosen = np.array(corners, dtype=np.int64).reshape(-1, rank)
    return np.unique(chosen, axis=0) if rank else chosen[:1]


def opaque_functions(*roots: Scope) -> tuple[str, ...]:
    """The functions that the rationals do not have, sorted by name."""
    found = {
        node.function
        for stage in stages(*roots)
        for node in walk(stage.body)
        if isinstance(node, Apply) and FUNCTIONS[node.function].exact is None
    }
    return tuple(sorted(found))


def greatest_sign_degree(*roots: Scope) -> int:
    """The greatest `sign_degree` of the roots."""
    known: dict[Scope, int] = {}
    for stage in stages(*roots):  # producers first, so that a long chain is no deep recursion
        sign_degree(stage, known)
    return max([0, *(known[root] for root in roots)])


def greatest_degree(*roots: Scope) -> int:
    """The greatest `degree` of the roots."""
    known: dict[Scope, int] = {}
    for stage in stages(*roots):
        degree(stage, known)
    return max([0, *(known[root] for root in roots)])


def sign_degree(scope: Scope, known: dict[Scope, int]) -> int:
    """The most signs of functions that compare in one product of the scope, or inside of one
    another."""

    def degree(node: Node) -> int:
        match node:
            case Access(source=Scope() as source):
                return sign_degree(source, known)
            case Mul():
                return sum(map(degree, node.factors))
            case Power():
                return abs(node.exponent) * degree(node.base)
            case Apply():
                compares = FUNCTIONS[node.function].exact is not None
                return sum(map(degree, node.args)) + compares
        return max(map(degree, children(node)), default=0)

    if scope not in known:
        times = math.prod(r.extent for r in scope.sums) if scope.reducer == "prod" else 1
        known[scope] = times * degree(scope.body)
    return known[scope]


def degree(scope: Scope, known: dict[Scope, int]) -> int:
    """The degree in the entries of the tensors, with functions as their operands; sums of quotients
    count as the greatest of their terms."""

    def of(node: Node) -> int:
        match node:
            case Access(source=Scope() as source):
                return degree(source, known)
            case Access():
                return 1
            case Mul():
                return sum(map(of, node.factors))
            case Power():
                return abs(node.exponent) * of(node.base)
        return max(map(of, children(node)), default=0)

    if scope not in known:
        times = math.prod(r.extent for r in scope.sums) if scope.reducer == "prod" else 1
        known[scope] = times * of(scope.body)
    return known[scope]


def _unsigned(seed: str, exp_sum: bool) -> tuple[Draw, ...]:
    """Draws in which functions that compare are opaque."""
    fields: tuple[Field, ...] = tuple(SignField(prime, False) for prime in sign_primes(seed, 2))
    if exp_sum:
        fields = tuple(ExponentialField(prime, False) for prime in safe_primes(seed, 2))
    return tuple((field, draw) for field in fields for draw in SEEDS)


def _draws(seed: str, ordered: bool, exp_sum: bool, signs: int) -> tuple[Draw, ...]:
    """The fields of the draws, and the seeds of their entries."""
    count = 2 * len(SEEDS)
    if signs:
        count = math.ceil(math.log(MISSED) / math.log1p(-(2.0 ** -min(signs, MOST_SIGNS))))
    fields: tuple[Field, ...]
    if exp_sum:
        fields = tuple(map(ExponentialField, safe_primes(seed, 4)))
    elif ordered:
        fields = tuple(map(SignField, sign_primes(seed, min(count, MOST_PRIMES))))
    else:
        fields = tuple(map(ModularField, primes(seed, 2)))
    return tuple((fields[i % len(fields)], i // len(fields)) for i in range(count))


def real_fields() -> tuple[Field, ...]:
    """float64, with entries of both signs and with positive ones."""
    return (RealField(ROUNDING), PositiveField(ROUNDING))


def _first(left: Roots, right: Roots, draws: Iterable[Draw]) -> Found | None:
    tensors: dict[str, Tensor] = {t.name: t for t in input_tensors(*left, *right)}
    for field, seed in draws:
        data = random_values(tensors.values(), field, seed)
        found = first_difference(left, right, data, field)
        if found is not None:
            return found
    return None


def _spiked(left: Roots, right: Roots) -> Found | None:
    """Each entry in turn far above and far below all others, as max and min see one at a time."""
    field = ExactField()
    tensors: dict[str, Tensor] = {t.name: t for t in input_tensors(*left, *right)}
    if sum(t.size for t in tensors.values()) > MOST_SPIKES:
        return None
    data = {n: v.astype(object) for n, v in random_values(tensors.values(), field, 0).items()}
    for values in data.values():
        flat = values.reshape(-1)
        for place in range(flat.size):
            before = flat[place]
            for spike in (1_000_000, -1_000_000):
                flat[place] = Fraction(spike)
                found = first_difference(left, right, data, field)
                if found is not None:
                    return found
            flat[place] = before
    return None


def _constants(*roots: Scope) -> set[Fraction]:
    values = set()
    for stage in stages(*roots):
        for node in walk(stage.body):
            value = node.value if isinstance(node, Const) else None
            value = node.fill if isinstance(node, Access) else value
            if isinstance(value, Fraction):
                values.add(abs(value))
    return values
