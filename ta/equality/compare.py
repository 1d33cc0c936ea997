"""Whether two programs over the same tensors have equal outputs, at the extents they have.

    for each of N draws:  evaluate both on random entries modulo a prime, compare every position

An output is a rational function of the entries; functions such as `exp` have a random value for
each argument.  By the lemma of Schwartz and Zippel, two unequal polynomials of degree d agree at
random residues modulo p with a chance of at most d/p, unless p divides their difference.  p is near
2^31, is drawn for the programs (`primes`), and is another prime in each of four draws.  With the
law of exp, every draw has a base of its own, too (`equality.exp_law`).  Functions that compare
(relu, maximum, ..) are opaque at first.  If that shows no equality, they have the signs of `signs`,
in so many draws that all of them miss a difference with a chance below 10^-9
(`ta.equality.sign_bounds`).

If the constants of either side have b bits, their difference has at most 2*b bits.  If it is not 0,
all four primes divide it with a chance of at most (2*b/30 / number of primes)^4.  Beyond
`MOST_BITS`, where that chance exceeds 10^-9, nothing is evaluated.

Nothing is shown at a position without a value: where the divisor is 0 in every draw, where a
function has no value, or where in some draw the sign of an infinity becomes unknown
(`partial_values`).

If all this shows no equality, rationals or confirmed floating point may show a difference
(`ta.equality.counterexample`).  Agreement there proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from einderive.ta.equality.counterexample import (
    Found,
    Roots,
    difference,
    exact_fields,
    first_difference,
    position,
    real_fields,
    spiked,
)
from einderive.ta.equality.degrees import greatest_bits, greatest_degree
from einderive.ta.equality.exp_law import ExponentialField
from einderive.ta.equality.extremes import flatten_extremes
from einderive.ta.equality.partial_values import (
    ValuedField,
    divides,
    has_infinity,
    missing,
    partial,
)
from einderive.ta.equality.positions import positions
from einderive.ta.equality.primes import digest, primes, safe_primes, sign_primes, square
from einderive.ta.equality.sign_bounds import Asked, asked, opaque_functions
from einderive.ta.equality.signs import SignField
from einderive.ta.exact.fields import Array, Field, ModularField, random_values
from einderive.ta.exact.interp import evaluate, evaluate_at, input_tensors, uses_order, visited
from einderive.ta.exact.sampled import sampled_values
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.subst import points_of, stages

SEEDS = (0, 1)
DRAWS = 4
MOST_SIGNS = 6
"""If a program asks for more signs than this, too many draws would be needed."""
MOST_SIGNS_IN_PAIRS = 4
"""The same limit for pairs of residues, whose primes are rarer."""
MOST_DEGREE = 1 << 23
"""For a degree d above this, four draws would miss a difference with a chance (d/2^31)^4 above
10^-9."""
MOST_BITS = 1 << 19
MOST_ORDERED_BITS = 1 << 12
MOST_EXP_BITS = 400
"""The same limits for the bits of constants.  There are fewer primes with signs, and still fewer
safe ones."""
MOST_EXACT_DEGREE = 1 << 12
MOST_EXACT_BITS = 1 << 14
"""The rationals are not used beyond this degree, or for greater constants: they would have too many
digits."""
MOST_DRAWN = 30_000_000
"""Points visited in all draws together."""
MISSED = 1e-9
"""The chance that the draws of signs miss a difference."""
MOST_BESIDE = 1_000_000
"""Points visited in one draw, where domains of functions are looked at for some positions."""
MOST_EXACT = 200_000
"""Programs of more points than this are not evaluated over the rationals."""

NO_SIGNS = Asked(0, 0)

Draw: TypeAlias = tuple[Field, int]
"""A field and the seed of its entries."""
Place: TypeAlias = tuple[int, tuple[int, ...]]
"""An output and a point of it."""


class Outcome(NamedTuple):
    """The outcome of a comparison, one of three.

    - `equal`: equality was shown, by draws that all miss a difference in signs with the chance
      `missed`.
    - `found`: a difference, in rationals or in confirmed floating point.
    - `reason`: why neither was shown, with the functions whose laws could make both equal.  For the
      reason `value` it has the output and the point where a side has no known value, and says
      whether only an infinity is to blame.
    """

    equal: bool
    draws: int = 0
    signs: int = 0
    missed: float = 0.0
    found: Found | None = None
    reason: Literal["", "laws", "order", "size", "degree", "value"] = ""
    functions: tuple[str, ...] = ()
    valueless: Place = (0, ())
    infinite: bool = False


class Agreement(NamedTuple):
    """The first difference.  Without one, the first output and point where nothing could be
    compared, and whether only an infinity is to blame."""

    found: Found | None = None
    valueless: Place | None = None
    infinite: bool = False


def compare(left: Roots, right: Roots, *, exp_sum: bool = False) -> Outcome:
    """Compares both programs at every position.  With `exp_sum`, exp(a+b) = exp(a)*exp(b) holds."""
    outcome = _compared(left, right, exp_sum)
    if not outcome.equal or not has_infinity(*left, *right):  # the agreement has looked
        return outcome
    place = outside(left, right) if partial(*left, *right) else None
    return outcome if place is None else Outcome(False, reason="value", valueless=place)


def _compared(left: Roots, right: Roots, exp_sum: bool) -> Outcome:
    """The comparison of both programs.  Beside infinities, operands count as inside of the domains
    of functions."""
    most = greatest_degree(*left, *right)
    ordered = any(map(uses_order, stages(*left, *right)))
    bits = MOST_EXP_BITS if exp_sum else MOST_ORDERED_BITS if ordered else MOST_BITS
    if most > MOST_DEGREE or greatest_bits(*left, *right) > bits:
        return Outcome(False, reason="degree")
    seed = digest((*left, *right))
    signs = asked(left, right, exp_sum=exp_sum)
    if signs.signs:
        unsigned = _draws(seed, ordered, exp_sum, NO_SIGNS)
        shown = _shown(_agreement(left, right, unsigned), Outcome(True, _number(NO_SIGNS)))
        if shown is not None:
            return shown
    sides = (flatten_extremes(left), flatten_extremes(right)) if ordered else (left, right)
    signs = asked(*sides, exp_sum=exp_sum)
    few = signs.signs <= (MOST_SIGNS_IN_PAIRS if exp_sum else MOST_SIGNS) and signs.independent
    count = _number(signs) if few else 0
    few = few and points_of(*sides[0], *sides[1]) * count <= MOST_DRAWN
    agreement = Agreement()
    if few:
        agreement = _agreement(*sides, _draws(seed, ordered, exp_sum, signs))
        missed = (1 - signs.share) ** count if signs.signs else 0.0
        shown = _shown(agreement, Outcome(True, count, signs.signs, missed))
        if shown is not None:
            return shown
    functions = opaque_functions(*left, *right)
    if few and not ordered and not functions:
        return Outcome(False, found=agreement.found)
    if functions:
        small = points_of(*left, *right) <= MOST_BESIDE // 100  # then signs may be alike by chance
        seeds = range(4 * len(SEEDS)) if small else SEEDS
        real = ((field, seed) for field in real_fields() for seed in seeds)
        found = _agreement(left, right, real).found
        return Outcome(False, found=found, reason="laws", functions=functions)
    if points_of(*left, *right) > MOST_EXACT or not exactly(*left, *right):
        return Outcome(False, reason="size")
    seeds = range(len(SEEDS) + 2 ** min(signs.signs, MOST_SIGNS))
    fields = enumerate(exact_fields(*left, *right))  # equal seeds would give equal signs
    exact = ((field, seed + 1000 * number) for number, field in fields for seed in seeds)
    found = _agreement(left, right, exact).found or spiked(left, right)
    return Outcome(False, found=found, reason="order")


def unsigned_fields(left: Scope, right: Scope) -> tuple[Field, ...]:
    """Residues in which signs are opaque and the law of exp holds: four primes, four bases."""
    return tuple(field for field, _ in _draws(digest((left, right)), True, True, NO_SIGNS))


def signed_fields(left: Scope, right: Scope) -> tuple[Field, ...]:
    """Residues with signs, one field for each draw that is needed.  None if there are no signs, or
    too many."""
    signs = asked([left], [right], exp_sum=True)
    if not 0 < signs.signs <= MOST_SIGNS_IN_PAIRS or not signs.independent:
        return ()
    return tuple(field for field, _ in _draws(digest((left, right)), True, True, signs))


def exactly(*roots: Scope) -> bool:
    """Whether the programs may be evaluated over the rationals: their numbers have few enough
    digits."""
    if greatest_degree(*roots) > MOST_EXACT_DEGREE:
        return False
    return greatest_bits(*roots) <= MOST_EXACT_BITS


def _shown(agreement: Agreement, equal: Outcome) -> Outcome | None:
    """The outcome where no draw shows a difference."""
    if agreement.found is not None:
        return None
    if agreement.valueless is not None:
        at, infinite = agreement.valueless, agreement.infinite
        return Outcome(False, reason="value", valueless=at, infinite=infinite)
    return equal


def _number(signs: Asked) -> int:
    """The number of draws."""
    if not signs.signs:
        return DRAWS
    return math.ceil(math.log(MISSED) / math.log1p(-signs.share))


def _draws(seed: str, ordered: bool, exp_sum: bool, signs: Asked) -> Iterator[Draw]:
    """The fields of the draws, and the seeds of their entries; without signs, functions that
    compare are opaque.  Each draw has a prime of its own: on one prime, constants would have the
    same signs, and the same residues, in all draws.  Each has a base of its own, likewise."""
    signed = signs.signs > 0
    fields: Iterator[Field]
    if exp_sum:
        drawn = enumerate(safe_primes(seed))
        fields = (ExponentialField(p, signed, square(seed, number, p)) for number, p in drawn)
    elif ordered:
        fields = (SignField(p, signed) for p in sign_primes(seed))
    else:
        fields = map(ModularField, primes(seed))
    for number, field in enumerate(islice(fields, _number(signs))):
        yield field, number


def _agreement(left: Roots, right: Roots, draws: Iterable[Draw]) -> Agreement:
    """On every draw; outputs that are one expression are not looked at.

    The sign beside an infinity may seem known by chance, so it is unknown where it is so in *some*
    draw.  A random number may seem to be outside of a function's domain, so it is outside where it
    is so in *every* draw, and is not looked at beside infinities (`outside`).
    """
    tensors: dict[str, Tensor] = {t.name: t for t in input_tensors(*left, *right)}
    infinite = has_infinity(*left, *right)
    marked = infinite or divides(*left, *right) or partial(*left, *right)
    join = np.logical_or if infinite else np.logical_and
    without: dict[int, Array] = {}
    for drawn, seed in draws:
        field = drawn
        if marked and isinstance(drawn, ModularField | ExponentialField):
            field = ValuedField(drawn, domains=not infinite)
        data = random_values(tensors.values(), field, seed)
        if not isinstance(field, ValuedField):
            found = first_difference(left, right, data, field)
            if found is not None:
                return Agreement(found)
            continue
        for output, sides in enumerate(zip(left, right, strict=True)):
            if sides[0] is sides[1]:
                continue
            values = tuple(evaluate(side, data, field).reshape(-1) for side in sides)
            found = difference(sides, values, data, field)
            if found is not None:
                return Agreement(found._replace(output=output))
            none = missing(values[0] | values[1])
            without[output] = join(without.get(output, none), none)
    for output, none in without.items():
        if none.any():
            place = int(np.flatnonzero(none)[0])
            return Agreement(None, (output, position(left[output], place)), infinite)
    return Agreement()


def outside(left: Roots, right: Roots, most: int | None = None) -> Place | None:
    """The first output and point where a side has no value because, in every draw, a divisor is 0
    or a function is applied outside of its domain.  It looks at all points, or at `most` of them.
    """
    if not partial(*left, *right) and not divides(*left, *right):
        return None
    tensors: dict[str, Tensor] = {t.name: t for t in input_tensors(*left, *right)}
    unsigned = _draws(digest((*left, *right)), True, False, NO_SIGNS)
    draws = [(field, seed) for field, seed in unsigned if isinstance(field, SignField)]
    for output, sides in enumerate(zip(left, right, strict=True)):
        if sides[0] is sides[1]:
            continue
        while most and visited(sides, most) > MOST_BESIDE:
            most //= 2
        chosen = None if most is None else positions(sides[0], most)
        if chosen is not None and not len(chosen):
            continue
        none = np.asarray(True)
        for drawn, seed in draws:
            field = ValuedField(drawn, unknown=False)
            if chosen is None:
                data = random_values(tensors.values(), field, seed)
                values = [evaluate(side, data, field).reshape(-1) for side in sides]
            else:
                entries = sampled_values(tensors.values(), drawn, seed)
                values = [evaluate_at(side, chosen, entries, field) for side in sides]
            none = none & missing(values[0] | values[1])
            if not none.any():
                break
        for place in np.flatnonzero(none)[:1]:
            if chosen is None:
                return output, position(sides[0], int(place))
            return output, tuple(int(i) for i in chosen[place])
    return None
