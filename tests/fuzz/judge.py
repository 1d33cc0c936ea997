"""Whether two scopes are equal, point by point, on random data: fast, many times over.

    sums and products only        modulo a prime near 2^31, one set of data
    max, min, order, infinities   integers in float64, or fractions where those do not suffice;
                                  three sets of data: both signs, negative, positive
    exp(a + b) = exp(a)*exp(b)    where a step rests on it: pairs of residues; what differs there
                                  (exp inside of exp may, see `equality.exp_law`) has to differ in
                                  float64 as well, beyond rounding
    laws of functions             in float64, on two sets of data; of the second, multiples of 1/2,
                                  many are equal.  What differs beyond rounding has to differ in
                                  balls of many digits as well (`tests.fuzz.balls`)
    what becomes NaN or infinite  in float64, on positive data: a point that is finite before is
                                  finite after, as 0*(1/0) is not

A maximum that is wrong where it is negative shows on the second set, and so on.  The data of a
tensor depend on its name and shape only, so a scope has one value whatever it is compared with, and
it is evaluated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np

from einderive.ta.equality.exp_law import SAFE_PRIMES, ExponentialField
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.exact.fields import (
    Array,
    Field,
    ModularField,
    random_values,
)
from einderive.ta.exact.interp import evaluate, input_tensors, uses_order
from einderive.ta.exact.rationals import ExactField
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.node import Access, Apply, Const, Number, Power, Scope, Tensor
from einderive.ta.ir.subst import stages, walk
from einderive.ta.laws import REAL_LAWS
from tests.fuzz.balls import really_differs
from tests.fuzz.floats import (
    POLES,
    ComplexWithoutValue,
    FiniteFunctions,
    FloatField,
    RealsWithoutValue,
)
from tests.fuzz.generator import INDICES
from tests.fuzz.integers import Inexact, IntegerField

MODULAR = ModularField()
INTEGERS = IntegerField()
EXACT = ExactField()
EXPONENTIAL = ExponentialField(SAFE_PRIMES[0])
REAL = RealsWithoutValue(tolerance=1e-6)
COMPLEX = ComplexWithoutValue(tolerance=1e-6)
FLOATS, FINITE_FUNCTIONS = FloatField(), FiniteFunctions()
MOST_REAL = 0.7
MOST_INDEX = 4
HALVES = 2
"""In the place of a sign: the data are multiples of 1/2."""
FLOAT_SHARE = 16
"""One in so many pairs of scopes that have no reason to lose a number is judged in float64."""


class Difference(NamedTuple):
    """The first point at which two scopes differ, and their values there."""

    point: tuple[int, ...]
    left: Number | int
    right: Number | int

    def __str__(self) -> str:
        return f"at {self.point}: {self.left} and {self.right}"


@lru_cache(maxsize=4096)
def _data(tensor: Tensor, field: Field, sign: int) -> Array:
    """Random values; `sign` 1 or -1 is that of all of them, 0 leaves both, and HALVES makes them
    multiples of 1/2.  An index is a whole number of at least -1."""
    if tensor.name[0] in INDICES:
        random = np.random.default_rng(crc32(tensor.name.encode()))
        return field.convert(random.integers(-1, MOST_INDEX + 1, tensor.shape))
    values = random_values((tensor,), field)[tensor.name]
    if field is REAL and sign == HALVES:
        return np.asarray(np.round(2 * values) / 2)
    if field is REAL:
        return np.asarray(MOST_REAL * np.tanh(values))  # so that sums under exp stay moderate
    if field is COMPLEX:
        turned = np.exp(1j * values) if tensor.dtype == "complex64" else 1
        return np.asarray(MOST_REAL * np.tanh(values) * turned)
    return np.asarray(sign * np.abs(values)) if sign else values


class Judge:
    """The values of the scopes of one program."""

    def __init__(self) -> None:
        self.values: dict[tuple[Scope, Field, int], Array | None] = {}
        self.orders: dict[Scope, bool] = {}
        self.perils: dict[Scope, bool] = {}
        self.in_floats = 0
        """Pairs of scopes that were compared in float64."""
        self.rounded = 0
        """Pairs that differ in float64, and at no point surely in balls."""

    def difference(
        self, before: Scope, after: Scope, laws: Sequence[str] = ()
    ) -> Difference | None:
        """Where the two scopes, which have the same loops, differ first, if the named laws of
        functions (see `ta.equality.laws`) hold.  ValueError for a law that no field here has."""
        if laws:
            return self._difference_by_law(before, after, laws)
        found = (_first(before, *values) for values in self.pairs(before, after))
        return next((difference for difference in found if difference is not None), None)

    def _difference_by_law(
        self, before: Scope, after: Scope, laws: Sequence[str]
    ) -> Difference | None:
        if not set(laws) <= {EXP_SUM, *REAL_LAWS}:
            raise ValueError(f"no field in which {', '.join(laws)} hold")
        if _complex(before, after):
            return self._first(before, after, COMPLEX, 0)
        if set(laws) == {EXP_SUM} and self._first(before, after, EXPONENTIAL, 0) is None:
            return None
        return next(
            filter(None, (self._by_balls(before, after, sign) for sign in (0, HALVES))), None
        )

    def _first(self, before: Scope, after: Scope, field: Field, sign: int) -> Difference | None:
        left, right = self.value(before, field, sign), self.value(after, field, sign)
        assert left is not None
        assert right is not None
        return _first(before, field, left, right)

    def _by_balls(self, before: Scope, after: Scope, sign: int) -> Difference | None:
        """The first point that differs in float64 and, if they have values there, in balls."""
        left, right = self.value(before, REAL, sign), self.value(after, REAL, sign)
        assert left is not None
        assert right is not None
        differs = REAL.differs(left, right)
        if not differs.any():
            return None
        data = {t.name: _data(t, REAL, sign) for t in input_tensors(before, after)}
        for surely in really_differs(before, after, data):
            if found := _at(before, differs & surely, left, right):
                return found
        self.rounded += 1
        return None

    def loses(self, before: Scope, after: Scope) -> bool:
        """Whether `after` has no value (inf - inf, 1/0) at a point where `before` has one."""
        if before.loops != after.loops or not self.ordered(before):  # residues are values always
            return False
        if _complex(before, after):  # what overflows depends on the order of operations
            return False
        return any(
            bool(np.any((left == left) & (right != right)))
            for _, left, right in self.pairs(before, after)
        )

    def spoils(self, before: Scope, after: Scope) -> Difference | None:
        """The first point that is finite in float64 before and is not after, where one may be."""
        chosen = (before.digest ^ after.digest) % FLOAT_SHARE == 0
        chosen = chosen or self.perilous(before) or self.perilous(after)
        if before.loops != after.loops or not chosen or _complex(before, after):
            return None
        left = self.value(before, FINITE_FUNCTIONS, 0)
        right = self.value(after, FLOATS, 0)
        if left is None or right is None:
            return None
        self.in_floats += 1
        return _at(before, np.isfinite(left) & ~np.isfinite(right), left, right)

    def pairs(self, before: Scope, after: Scope) -> Iterator[tuple[Field, Array, Array]]:
        """The values of both on each set of data, in the first field that holds them."""
        if _complex(before, after):
            values = (self.value(scope, COMPLEX, 0) for scope in (before, after))
            left, right = values
            if left is not None and right is not None:
                yield COMPLEX, left, right
            return
        ordered = self.ordered(before) or self.ordered(after)
        for sign in (0, -1, 1) if ordered else (0,):
            for field in (INTEGERS, EXACT) if ordered else (MODULAR,):
                left, right = self.value(before, field, sign), self.value(after, field, sign)
                if left is not None and right is not None:
                    yield field, left, right
                    break

    def value(self, scope: Scope, field: Field, sign: int) -> Array | None:
        """The scope's value; None where the field does not hold it."""
        key = (scope, field, sign)
        if key not in self.values:
            data = {tensor.name: _data(tensor, field, sign) for tensor in input_tensors(scope)}
            try:
                self.values[key] = evaluate(scope, data, field)
            except Inexact:
                self.values[key] = None
        return self.values[key]

    def ordered(self, scope: Scope) -> bool:
        return any(map(self._ordered, stages(scope)))

    def _ordered(self, stage: Scope) -> bool:
        found = self.orders.get(stage)
        if found is None:
            found = self.orders[stage] = uses_order(stage) or _compares(stage)
        return found

    def perilous(self, scope: Scope) -> bool:
        """Whether the scope divides, or an infinite number or a function with a pole is in it."""
        for stage in stages(scope):
            if stage not in self.perils:
                self.perils[stage] = _perilous(stage)
        return any(self.perils[stage] for stage in stages(scope))


def _complex(*scopes: Scope) -> bool:
    return any(map(may_be_complex, scopes))


def _compares(stage: Scope) -> bool:
    """Whether values are compared, which residues are not."""
    applied = (node.function for node in walk(stage.body) if isinstance(node, Apply))
    return any(FUNCTIONS[function].exact is not None for function in applied)


def _perilous(stage: Scope) -> bool:
    if stage.reducer in ("max", "min") and any(side.extent == 0 for side in stage.sums):
        return True
    return any(
        (isinstance(node, Power) and node.exponent < 0)
        or (isinstance(node, Apply) and node.function in POLES)
        or (isinstance(node, Apply) and FUNCTIONS[node.function].divides)
        or (isinstance(node, Const) and isinstance(node.value, float))
        or (isinstance(node, Access) and isinstance(node.fill, float))
        for node in walk(stage.body)
    )


def _first(scope: Scope, field: Field, left: Array, right: Array) -> Difference | None:
    return _at(scope, field.differs(left, right), left, right)


def _at(scope: Scope, differs: Array, left: Array, right: Array) -> Difference | None:
    places = np.flatnonzero(differs)
    if not len(places):
        return None
    corner = np.unravel_index(int(places[0]), scope.shape) if scope.loops else ()
    point = tuple(int(k) + loop.lo for k, loop in zip(corner, scope.loops, strict=True))
    return Difference(point, left.flat[places[0]], right.flat[places[0]])
