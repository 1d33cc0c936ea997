"""Each fact that a function's or a reducer's file states, by itself, against an independent oracle:
mpmath's functions, Python's order of Fractions, and float64 at infinities and NaN."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any, Final

import mpmath
import numpy as np
import pytest

from einderive.ta import functions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.functions.data import Function, Pieces
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.ta.functions.test_functions import DEFINITIONS

INF: Final = math.inf
NUMBERS: Final = [Fraction(n, d) for n in (-9, -4, -1, 0, 1, 2, 7) for d in (1, 3)]
EXTENDED: Final = [*NUMBERS, INF, -INF]
POINTS: Final = np.concatenate(
    [np.linspace(-12, 12, 481), *(s * 10.0 ** np.arange(-12, 3) for s in (1, -1)), [0.0]]
)
UNARY: Final = [known for known in FUNCTIONS.values() if known.arity == 1]
EXACT: Final[dict[str, Callable[..., Any]]] = {
    "relu": lambda x: x if x > 0 else Fraction(0),
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "maximum": max,
    "minimum": min,
    "less": lambda x, y: int(x < y),
    "less_equal": lambda x, y: int(x <= y),
    "equal": lambda x, y: int(x == y),
    "not_equal": lambda x, y: int(x != y),
    "choose": lambda c, x, y: x if c != 0 else y,
    "isnan": lambda x: 0,
    "isinf": lambda x: int(abs(x) == INF),
    "isfinite": lambda x: int(abs(x) < INF),
    "floor": lambda x: x if abs(x) == INF else math.floor(x),
    "ceil": lambda x: x if abs(x) == INF else math.ceil(x),
    "trunc": lambda x: x if abs(x) == INF else math.trunc(x),
    "round": lambda x: x if abs(x) == INF else round(x),
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "conj": lambda x: x,
    "real": lambda x: x,
    "imag": lambda x: 0,
    "bitwise_invert": lambda x: -1 - x,
    "bitwise_and": lambda x, y: int(x) & int(y),
    "bitwise_or": lambda x, y: int(x) | int(y),
    "bitwise_xor": lambda x, y: int(x) ^ int(y),
    "bitwise_left_shift": lambda x, y: int(x) << int(y),
    "bitwise_right_shift": lambda x, y: int(x) >> int(y),
    "fmod": lambda x, y: abs(x) % abs(y) * (1 if x > 0 else -1),
}
"""What functions with pieces or an exact value are, by Python's order."""


def of(known: Function, *points: float) -> float:
    with np.errstate(all="ignore"):
        return float(known.real(*map(np.float64, points)))


def by_name(known: Any) -> str:
    return str(known.name)


def stating(fact: str) -> Any:
    """The functions of which a file states the fact."""
    found = [known for known in FUNCTIONS.values() if getattr(known, fact) not in (None, "", False)]
    assert found
    return pytest.mark.parametrize("known", found, ids=by_name)


def test_a_file_holds_what_it_is_named_after() -> None:
    folder = Path(str(functions.__file__)).parent
    files = {path.stem for path in folder.glob("*.toml")}
    shared = {"__init__", "data", "digits", "stated", "helper"}
    code = {path.stem for path in folder.glob("*.py")} - shared
    words = {"imaginary" if name == "1j" else name for name in FUNCTIONS}  # 1j is no name of a file
    assert files == words | REDUCERS.keys()
    assert code <= words
    assert not FUNCTIONS.keys() & REDUCERS.keys()
    for table in (FUNCTIONS, REDUCERS):
        names = [known.name for known in table.values() if known.name != "1j"]
        assert names == sorted(table.keys() - {"1j"})


def test_counterexamples_can_be_confirmed_with_every_function() -> None:
    """But for that which is no real number."""
    missing = [known.name for known in FUNCTIONS.values() if not (known.ball or known.pieces)]
    assert missing == ["1j"]


@pytest.mark.parametrize("known", UNARY, ids=by_name)
def test_at_zero(known: Function) -> None:
    """The value at 0 is stated where it is 0 or 1, and only there."""
    try:
        value = DEFINITIONS[known.name](mpmath.mpf(0))
    except (ValueError, ZeroDivisionError):
        value = mpmath.inf
    assert known.at_zero == (int(value) if value in (0, 1) else None)
    if known.at_zero is not None:
        assert of(known, 0.0) == of(known, -0.0) == known.at_zero


def test_a_domain_is_of_one_operand_and_says_all() -> None:
    """`derivations.steps.law` asks the domain alone."""
    for known in FUNCTIONS.values():
        if known.domain is not None:
            assert (known.arity, known.divides, known.partial) == (1, False, False), known.name


@sampled(2)
@pytest.mark.parametrize("known", UNARY, ids=by_name)
def test_domain(known: Function) -> None:
    """Inside of it the function is finite, outside it is not."""
    points = [*POINTS, *(np.nextafter(e, s * INF) for e in (-1.0, 0.0, 1.0) for s in (1, -1))]
    for point in points:
        inside = known.domain is None or known.domain.holds(point)
        if inside and math.isinf(of(known, point)):  # finite, but beyond the numbers of float64
            assert abs(DEFINITIONS[known.name](mpmath.mpf(point))) > sys.float_info.max
        else:
            assert math.isfinite(of(known, point)) == inside, point


@stating("range")
def test_range(known: Function) -> None:
    assert known.range is not None
    least, greatest = known.range
    for points in product((*NUMBERS, INF, -INF, math.nan), repeat=known.arity):
        value = of(known, *map(float, points))
        assert math.isnan(value) or least <= value <= greatest, points
    for point in (*POINTS, INF, -INF) if known.arity == 1 else ():
        if not math.isinf(point):
            assert least <= DEFINITIONS[known.name](mpmath.mpf(point)) <= greatest, point
        value = of(known, point)
        assert math.isnan(value) or least <= value <= greatest, point


@pytest.mark.parametrize("known", FUNCTIONS.values(), ids=by_name)
def test_always_finite(known: Function) -> None:
    """Of others a NaN comes out where one goes in."""
    for points in product((math.nan, INF, -INF, 1.5), repeat=known.arity):
        value = of(known, *points)
        if known.always_finite:
            assert math.isfinite(value)
        elif known.picks:
            assert np.array_equal(value, points[1 if points[0] else 2], equal_nan=True)
        elif any(map(math.isnan, points)) and not known.beside_nan:
            assert math.isnan(value)


@pytest.mark.parametrize("known", UNARY, ids=by_name)
def test_turns(known: Function) -> None:
    """Between 0, the end of the domain, and the turns the sign does not change, and it changes or
    is 0 at each turn."""
    ends = sorted({0.0, *known.turns, *(known.domain.ends if known.domain else ())})
    outer = 4.0  # beyond it sin and cos turn again
    for low, high in pairwise((-outer, *ends, outer)):
        inside = np.linspace(low, high, 52)[1:-1]
        signs = {math.copysign(1, v) if v else 0 for v in (of(known, x) for x in inside) if v == v}
        assert len(signs) <= 1, (low, high)
    for turn in known.turns:
        below, above = (np.sign(of(known, turn + step)) for step in (-1e-3, 1e-3))
        assert below != above
        assert {below, above} == {-1.0, 1.0} or known.steps


@stating("steps")
def test_steps(known: Function) -> None:
    """Whole values, and one jump in any unit interval."""
    points = np.linspace(-5, 5, 1001)
    assert len({of(known, point) for point in points}) <= 12
    assert all(of(known, point).is_integer() for point in points)


@sampled(2)
@stating("definition")
def test_definition(known: Function) -> None:
    if known.arity == 2:
        return  # in test_functions_of_two
    points = POINTS[np.abs(POINTS) < 6]
    if known.domain is not None:
        points = np.array([point for point in points if known.domain.holds(point)])
    (scope,) = parse(f"Y = {known.definition}", {"x": ()}, "float64", {}).roots()
    with np.errstate(all="ignore"):
        for point in points:
            value = float(evaluate(scope, {"x": np.float64(point)}, RealField()))
            exact = DEFINITIONS[known.name](mpmath.mpf(point))
            assert abs(value - exact) <= 1e-11 * max(1, abs(exact)), point


@stating("pieces")
def test_pieces_at_rational_numbers_and_infinities(known: Function) -> None:
    assert known.pieces is not None
    for operands in product(EXTENDED, repeat=known.arity):
        assert known.pieces(*operands) == EXACT[known.name](*operands), operands
        assert of(known, *map(float, operands)) == pytest.approx(float(known.pieces(*operands)))
    for operands in product(range(-3, 4), repeat=known.arity):
        whole = known.real(*map(np.int64, operands))
        assert whole == EXACT[known.name](*operands)
        assert np.asarray(whole).dtype == np.int64


@stating("exact")
def test_exact_values_at_rational_numbers_and_infinities(known: Function) -> None:
    assert known.exact is not None
    for operands in product(EXTENDED[::2], repeat=known.arity):
        found = known.exact(*operands)
        if found != found and known.digits:
            whole = all(x in (INF, -INF) or x.denominator == 1 for x in operands)
            assert not whole or INF in map(abs, operands) or operands[1] < 0
            assert math.isnan(of(known, *map(float, operands)))
            continue
        if found != found:
            assert known.divides
            assert operands[1] == 0 or INF in map(abs, operands)
            continue
        value = EXACT[known.name](*operands)
        assert found == value, operands
        assert of(known, *map(float, operands)) == pytest.approx(float(value))


@stating("truth")
def test_truths_are_one_or_zero(known: Function) -> None:
    for points in product((math.nan, INF, -INF, 0.0, 1.5), repeat=known.arity):
        assert of(known, *points) in (0, 1)


@stating("symmetric")
def test_symmetric(known: Function) -> None:
    for points in product((math.nan, INF, -INF, 0.0, 1.5), repeat=known.arity):
        assert np.array_equal(of(known, *points), of(known, *reversed(points)), equal_nan=True)


@pytest.mark.parametrize(("name", "value"), [("pi", math.pi), ("nan", math.nan), ("1j", 1j)])
def test_constants(name: str, value: complex) -> None:
    assert np.array_equal(FUNCTIONS[name].constant, value, equal_nan=True)
    assert FUNCTIONS[name].finite_at_numbers == bool(np.isfinite(value))
    assert {f.name for f in FUNCTIONS.values() if not f.arity} == {"pi", "nan", "1j"}
    assert [f.name for f in FUNCTIONS.values() if f.imaginary] == ["1j"]


@stating("compares")
def test_what_compares_is_continuous_and_homogeneous(known: Function) -> None:
    """f(c*a) = c*f(a) for c > 0, also at infinities; where the gap is 0, both pieces agree."""
    pieces = known.pieces
    assert pieces is not None
    assert pieces.chooses
    for operands in product(EXTENDED, repeat=known.arity):
        value = EXACT[known.name](*operands)
        for factor in (Fraction(1, 3), Fraction(5)):
            assert EXACT[known.name](*(factor * x for x in operands)) == factor * value
        assert any(value in (0, x, -x) for x in operands)
        if pieces.selects:
            assert value == 0 or value in operands
        if known.arity == 1:
            assert (EXACT[known.name](-operands[0]) == value) or not pieces.even


def test_which_pieces_are_even_flat_or_continuous() -> None:
    assert {f.name for f in UNARY if f.pieces and f.pieces.even} == {"abs"}
    assert {f.name for f in UNARY if f.pieces and f.pieces.flat} == {"sign"}
    pieces = {f.name for f in FUNCTIONS.values() if f.pieces}
    assert {f.name for f in FUNCTIONS.values() if f.compares} == pieces - {"sign"}
    selecting = {f.name for f in FUNCTIONS.values() if f.pieces and f.pieces.selects}
    assert selecting == {"relu", "maximum", "minimum"}
    jumping = Pieces((1, -1), above=(1, 0), below=(1, 0), step=1)
    apart = Pieces((1, -1), above=(1, 0), below=(0, 2))
    assert not jumping.continuous
    assert not apart.continuous
    assert not apart.chooses
    assert Pieces((1, 1), above=(2, 2), below=(1, 1)).continuous


@stating("bounded")
def test_bounded(known: Function) -> None:
    """No value exceeds all operands, 1, and the ends of the range."""
    largest = np.finfo(np.float64).max
    most = max(1.0, *map(abs, known.range or (0, 0)))
    for points in product((largest, -largest, 1e300, -3.0, 0.0), repeat=known.arity):
        assert abs(of(known, *points)) <= max(most, *map(abs, points))


@stating("reducer")
def test_the_function_is_its_reducer_of_a_set_of_two(known: Function) -> None:
    best = {1: max, -1: min}[REDUCERS[known.reducer].order]
    for a, b in product(EXTENDED, repeat=2):
        assert known.pieces is not None
        assert known.pieces(a, b) == known.pieces(b, a) == best({a, b})


def sets() -> Iterator[tuple[Any, ...]]:
    yield from product((Fraction(-3, 2), Fraction(0), Fraction(1), Fraction(4, 3)), repeat=3)


@pytest.mark.parametrize("name", REDUCERS)
def test_reducers(name: str) -> None:
    """Neutral, associative, commutative; of the order: idempotent, and the stated end of it."""
    known = REDUCERS[name]

    def combine(a: Any, b: Any) -> Any:
        return known.ufunc(np.array(a, object), np.array(b, object))

    for values in sets():
        found = reduce(combine, values)
        assert all(reduce(combine, order) == found for order in permutations(values))
        assert combine(values[0], combine(*values[1:])) == found
        assert combine(values[0], known.identity) == values[0]
        if known.order:
            assert found == (max if known.order > 0 else min)(values)
            assert reduce(combine, (*values, *values)) == found
            opposite = REDUCERS[known.opposite]
            assert -opposite.ufunc.reduce(np.array([-v for v in values], object)) == found
    assert (known.order == 0) is (name in ("sum", "prod"))
    assert known.order == 0 or known.identity == -known.order * INF


def test_which_operands_hide_nan() -> None:
    """Those at which NaN gives a number, and another operand another number."""
    found = {name: function.hides for name, function in FUNCTIONS.items() if any(function.hides)}
    truths = {name: (True,) * each.arity for name, each in FUNCTIONS.items() if each.truth}
    assert found == {**truths, "finite": (True,), "choose": (True, False, False)}
