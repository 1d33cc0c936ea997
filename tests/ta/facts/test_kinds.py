"""The kinds of values that terms have over a box, case by case; each seen at every point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isinf, isnan
from random import Random

import numpy as np
import pytest

from einderive.ta.exact.fields import random_values
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.facts import kinds
from einderive.ta.facts.kinds import (
    DATA,
    MINUS,
    NAN,
    NEGATIVE,
    PLUS,
    POSITIVE,
    ZERO,
    finite_everywhere,
    finite_over,
    kinds_over,
)
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Scope
from tests.amount import sampled
from tests.derivations.seeds import read
from tests.fuzz.floats import FloatField

LETTERS = {"!": NAN, "M": MINUS, "-": NEGATIVE, "0": ZERO, "+": POSITIVE, "P": PLUS, "d": DATA}
"""NaN, minus infinity, negative, zero, positive, plus infinity, a number of the data."""
SHAPES: dict[str, tuple[int, ...]] = {"A": (6,), "B": (12,), "C": (12, 4)}
BOX = Range(-3, 9)
"""B[i+3] reads inside all over it, A[i] and B[i-1] do not."""


def named(letters: str) -> int:
    """The kinds that the letters stand for."""
    return sum(LETTERS[letter] for letter in letters)


def letters_of(found: int) -> str:
    return "".join(letter for letter, kind in LETTERS.items() if kind & found)


def over_box(text: str) -> Scope:
    return read(f"{{L[i:{BOX.lo}:{BOX.hi}] {text}}}", **SHAPES)


def values_of(scope: Scope) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """On positive data; those of a tensor `U...` have both signs."""
    field = FloatField()
    data = random_values(input_tensors(scope), field, 0)
    for name, of_one in data.items():
        if name.startswith("U"):
            of_one[1::2] *= -1
    return np.asarray(evaluate(scope, data, field))


def unnamed(found: int, values: Sequence[float]) -> list[float]:
    """The values of which the kind is not named; a number of the data is one that is not 0."""
    return [value for value in values if not found & _may_be(value)]


def _may_be(value: float) -> int:
    if isnan(value):
        return NAN
    if isinf(value):
        return PLUS if value > 0 else MINUS
    return DATA | (POSITIVE if value > 0 else NEGATIVE) if value else ZERO


TERMS: list[tuple[str, str, bool]] = [
    ("exp(A[i])*exp(B[i])", "+", True),
    # numbers
    ("2", "+", True),
    ("1", "+", True),
    ("1/2", "+", True),
    ("0", "0", True),
    ("-1", "-", True),
    ("-1/2", "-", True),
    ("inf", "P", False),
    ("-inf", "M", False),
    # reads: inside all over the box, outside somewhere, one off at either end
    ("B[i+3]", "d", True),
    ("B[i+2]", "0d", True),
    ("B[i+4]", "0d", True),
    ("B[8-i]", "d", True),
    ("B[7-i]", "0d", True),
    ("B[9-i]", "0d", True),
    ("A[3]", "d", True),
    ("A[6]", "0", True),
    ("A[i%6]", "d", True),
    ("C[i+3, 3]", "d", True),
    ("C[i+3, 4]", "0", True),
    ("C[i+2, 3]", "0d", True),
    ("A{fill=1}[i]", "+d", True),
    ("A{fill=-2}[i]", "-d", True),
    ("A{fill=inf}[i]", "Pd", False),
    ("A{fill=-inf}[i]", "Md", False),
    ("B{fill=inf}[i+3]", "d", False),
    # choices by values, comparisons, and functions of two operands
    ("where(B[i+3] < 1, 2, -1)", "-+", True),
    ("where(B[i+3] < 1, exp(A[i]), A[i])", "0+d", True),
    ("B[i+3] < A[i]", "0+", True),
    ("remainder(B[i+3], 2)", "!M-0+Pd", False),
    ("remainder(exp(A[i]), exp(B[i+3]))", "!M-0+Pd", False),
    # iterators as values
    ("i", "-0+", True),
    ("i + 3", "0+", True),
    ("i + 4", "+", True),
    ("i - 8", "-0", True),
    ("i - 9", "-", True),
    ("1/i", "!-+", False),
    ("1/(i + 4)", "+", False),
    # nested scopes
    ("{L[j:-3:9] exp(A[j])}[i]", "+", True),
    ("{L[j:-3:8] exp(A[j])}[i]", "0+", True),
    ("{L[j:-2:9] exp(A[j])}{fill=-1}[i]", "-+", True),
    ("{L[j:-3:9] exp(A[j])}{fill=inf}[i]", "+", False),
    ("{L[j:-3:9] where(j >= 2, 1, -1)}[i]", "-+", True),
    ("{L[j:-3:9] -1}[i]", "-", True),
    ("{L[j:-3:9] 1/A[j]}[i]", "!d", False),
    ("{L[j:-3:9] log(B[j+3])}[i]", "d", False),
    ("{L[j:0:0] 1}[i]", "0", True),
    ("{L[j:0:0] 1/A[j]}{fill=2}[i]", "+", False),
    ("{L[j:0:0] S[k:0:0] 1}{fill=2}[i]", "+", True),
    # choices: what the conditions keep inside
    ("where(i >= 0 and i < 6, A[i], 1)", "+d", True),
    ("where(i >= -1 and i < 6, A[i], 1)", "0+d", True),
    ("where(i >= 0 and i < 7, A[i], 1)", "0+d", True),
    ("where(i >= 1 and i < 5, A[i], -1)", "-d", True),
    ("where(i >= 0, A[i], 1)", "0+d", True),
    ("where(i < 6, A[i], 1)", "0+d", True),
    ("where(i == 5, A[i], 1)", "+d", True),
    ("where(i == 6, A[i], 1)", "0+d", True),
    ("where(i == -1, A[i], 1)", "0+d", True),
    ("where(i == 0, A[-i], 1)", "+d", True),
    ("where(i >= 2, 1, A[i])", "0+d", True),
    ("where(i == 2, 1/A[i], log(A[i]))", "!d", False),
    ("where(i >= 2, 1, inf)", "+P", False),
    ("where(i >= 0, where(i < 6, 1/A[i], 2), 3)", "+d", False),
    ("where(i >= 0 and i < 6, 1/(2*exp(A[i])), 3)", "+", False),
    ("1/where(i >= 0 and i < 6, A[i], 1)", "+d", False),
    # products, sums and powers
    ("2*B[i+3]", "d", True),
    ("A[i]*B[i+3]", "-0+d", True),
    ("inf*B[i+3]", "MP", False),
    ("inf*A[i]", "!MP", False),
    ("inf*exp(A[i])", "P", False),
    ("-inf*exp(A[i])", "M", False),
    ("-2*exp(A[i])", "-", True),
    ("B[i+3] + 1", "d", True),
    ("B[i+2] - 1", "-d", True),
    ("A{fill=1}[i] - 1", "-0+d", True),
    ("A{fill=inf}[i] + 1", "Pd", False),
    ("B[i+3] + inf", "P", False),
    ("B[i+2] - inf", "M", False),
    ("A{fill=inf}[i] - inf", "!M", False),
    ("B[i+3]/B[3]", "-+d", False),
    ("B[i+3]/B[3] - 1", "-0+d", False),
    ("1/(B[i+3]/B[3] - 1)", "!-+d", False),
    ("log(B[i+3]/B[3])", "!-0+d", False),
    ("abs(B[i+3])/B[i+3] - 1", "-0+d", False),
    ("sign(B[i+3])", "-+", True),
    ("sign(B[i+3]) - 1", "-0+", True),
    ("B[i+3] - B[3]", "-0+d", True),
    ("exp(B[i+3]) + A[i]", "-0+d", True),
    ("exp(A[i]) + exp(B[i])", "+", True),
    ("exp(A[i]) - exp(B[i])", "-0+", True),
    ("exp(A[i]) + 1", "+", True),
    ("exp(A[i]) - 1", "-0+", True),
    ("A[i]^2", "0+", True),
    ("A[i]^3", "0d", True),
    ("A[i]^2 + 1", "+", True),
    ("1/B[i+3]", "d", False),
    ("1/A[i]", "!d", False),
    ("1/(A[i]^2 + 1)", "+", False),
    ("B[i+3]^-2", "+", False),
    ("A{fill=-inf}[i]^-1", "0d", False),
    ("A{fill=-inf}[i]^-2", "0+", False),
    ("A{fill=-inf}[i]^2", "+P", False),
    ("A{fill=-inf}[i]^3", "Md", False),
    ("(1/A[i])^2", "!+", False),
    # functions
    ("log(B[i+3])", "d", False),
    ("log(A[i])", "!d", False),
    ("log(exp(A[i]))", "-0+", False),
    ("log(A{fill=-1}[i])", "!d", False),
    ("log(A{fill=inf}[i])", "Pd", False),
    ("log1p(A[i])", "0d", False),
    ("log1p(A{fill=-1}[i])", "!-d", False),
    ("sqrt(B[i+3])", "+", False),
    ("sqrt(A[i])", "0+", False),
    ("sqrt(A{fill=-1}[i])", "!+", False),
    ("rsqrt(B[i+3])", "+", False),
    ("rsqrt(A[i])", "!+", False),
    ("rsqrt(A{fill=inf}[i])", "0+", False),
    ("exp(A{fill=inf}[i])", "+P", False),
    ("exp(A{fill=-inf}[i])", "0+", False),
    ("sin(A[i])", "0d", True),
    ("sin(exp(A[i]))", "-+", True),
    ("sin(A{fill=inf}[i])", "!d", False),
    ("cos(A[i])", "+d", True),
    ("tanh(A{fill=-inf}[i])", "-d", False),
    ("relu(B[i+3])", "0+", True),
    ("relu(A{fill=-inf}[i])", "0+", False),
    ("relu(A{fill=inf}[i])", "0+P", False),
    ("abs(A[i])", "0+", True),
    ("log(1/A[i])", "!d", False),
    ("maximum(A[i], B[i])", "0d", True),
    ("maximum(B[i+3], 1)", "+d", True),
    ("maximum(B[i+3], inf)", "P", False),
    ("maximum(-inf, B[i+3])", "d", False),
    ("minimum(B[i+3], inf)", "d", False),
    ("minimum(B[i+3], -inf)", "M", False),
    ("maximum(exp(A[i]), -1)", "+", True),
    ("minimum(exp(A[i]), -1)", "-", True),
    ("minimum(inf, exp(A[i]))", "+", False),
    ("maximum(1/A[i], 1)", "!+d", False),
]
"""A term, the kinds that it has over the box, and whether it is finite wherever it stands."""


@sampled(2)
@pytest.mark.parametrize(("text", "letters", "everywhere"), TERMS)
def test_kinds_of_a_term(text: str, letters: str, everywhere: bool) -> None:
    scope = over_box(text)
    found = kinds_over(scope.body, scope.loops)
    assert letters_of(found) == letters
    assert finite_everywhere(scope.body) is everywhere
    assert finite_over(scope.body, scope.loops) is (everywhere or not set(letters) & set("!MP"))
    assert unnamed(found, values_of(scope).tolist()) == []


REDUCED: list[tuple[str, str, bool]] = [
    ("S[k:0:3] A[k]", "d", True),
    ("S[k:0:3] A[j+k]", "0d", True),
    ("S[k:0:3] exp(A[j+k])", "+", True),
    ("S[k:0:3] where(k >= 2, 1, -1)", "-0+", True),
    ("S[k:0:3] A{fill=-1}[j+k]", "-d", True),
    ("S[k:0:3] A{fill=inf}[j+k]", "Pd", False),
    ("S[k:0:3] where(k >= 2, A{fill=inf}[j], -inf)", "!MPd", False),
    ("S[k:0:0] A[j+k]", "0", True),
    ("S[k:0:0] 1/A[j+k]", "0", False),
    ("prod[k:0:3] A[j+k]", "0d", True),
    ("prod[k:0:3] where(k >= 2, 1, -1)", "-+", True),
    ("prod[k:0:3] -exp(A[j+k])", "-+", True),
    ("prod[k:0:3] where(k >= 2, A{fill=inf}[j], -1)", "M-+Pd", False),
    ("prod[k:0:3] A{fill=inf}[j+k]*A[3-k]", "M-+Pd", False),
    ("prod[k:0:0] A[j+k]", "+", True),
    ("max[k:0:3] where(k >= 2, 1, -1)", "-+", True),
    ("max[k:0:3] A[j+k]", "0d", True),
    ("max[k:0:0] A[j+k]", "M", False),
    ("max[k:0:3,l:0:0] A[j+k]", "M", False),
    ("min[k:0:3] where(k >= 2, 1, -1)", "-+", True),
    ("min[k:0:3] A{fill=-inf}[j+k]", "Md", False),
    ("min[k:0:0] A[j+k]", "P", False),
]
"""A reduction, which stands in a nested scope that is read inside."""


@pytest.mark.parametrize(("text", "letters", "everywhere"), REDUCED)
def test_kinds_of_a_reduction(text: str, letters: str, everywhere: bool) -> None:
    test_kinds_of_a_term(f"{{L[j:{BOX.lo}:{BOX.hi}] {text}}}[i]", letters, everywhere)


LONE = affine.iterator(0)


def kept(relation: str, factor: int, plus: int) -> Condition:
    """`factor*i + plus >= 0`, or `== 0`."""
    row = affine.shift(affine.scale(LONE, factor), plus)
    return Condition("==" if relation == "==" else ">=", row)


HELD: list[tuple[str, tuple[Condition, ...], str]] = [
    ("A[i]", (), "0d"),
    ("A[i]", (kept(">=", 1, 0), kept(">=", -1, 5)), "d"),
    ("A[i]", (kept(">=", 1, 1), kept(">=", -1, 5)), "0d"),
    ("A[i]", (kept(">=", 1, 0), kept(">=", -1, 6)), "0d"),
    ("A[i]", (kept(">=", -1, 0), kept(">=", -1, 5)), "0d"),
    ("A[i]", (kept(">=", 1, -2), kept(">=", -1, 3)), "d"),
    ("A[i]", (kept("==", 1, -5),), "d"),
    ("A[i]", (kept("==", -1, 5),), "d"),
    ("A[i]", (kept("==", 1, 0),), "d"),
    ("A[i]", (kept("==", -1, 0),), "d"),
    ("A[i]", (kept("==", 1, -6),), "0d"),
    ("A[i]", (kept("==", 1, 1),), "0d"),
    ("1/A[i]", (kept("==", 1, -3),), "d"),
    ("where(i >= 0, 1/A[i], 2)", (kept(">=", -1, 5),), "+d"),
    ("where(i >= 0, 2, 1/A[i])", (kept(">=", -1, 5),), "!+d"),
]
"""A term, conditions that hold where it stands, and the kinds that it has there."""


@pytest.mark.parametrize(("text", "held", "letters"), HELD)
def test_kinds_where_conditions_hold(text: str, held: tuple[Condition, ...], letters: str) -> None:
    scope = over_box(text)
    assert letters_of(kinds_over(scope.body, scope.loops, held)) == letters
    finite = "!" not in letters
    assert finite_over(scope.body, scope.loops, held) is finite
    chosen = [
        value
        for i, value in enumerate(values_of(scope).tolist(), BOX.lo)
        if all(_holds(condition, i) for condition in held)
    ]
    assert chosen
    assert unnamed(named(letters), chosen) == []


def _holds(condition: Condition, i: int) -> bool:
    value = int(affine.evaluate(condition.row, {0: i}.__getitem__))
    return value >= 0 if condition.relation == ">=" else value == 0


ORDER = "M-0+Pd"
PAIRS: list[tuple[Callable[[int, int], int], tuple[str, ...]]] = [
    (
        kinds._plus,
        (
            "M M M M ! M",
            "M - - -0+ P -0d",
            "M - 0 + P d",
            "M -0+ + + P 0+d",
            "! P P P P P",
            "M -0d d 0+d P 0d",
        ),
    ),
    (
        kinds._product,
        (
            "P P ! M M MP",
            "P + 0 - M d",
            "! 0 0 0 ! 0",
            "M - 0 + P d",
            "M M ! P P MP",
            "MP d 0 d MP d",
        ),
    ),
    (
        lambda left, right: kinds._applied("maximum", left, right),
        (
            "M - 0 + P d",
            "- - 0 + P -d",
            "0 0 0 + P 0d",
            "+ + + + P +d",
            "P P P P P P",
            "d -d 0d +d P d",
        ),
    ),
    (
        lambda left, right: kinds._applied("minimum", left, right),
        (
            "M M M M M M",
            "M - - - - -d",
            "M - 0 0 0 0d",
            "M - 0 + + +d",
            "M - 0 + P d",
            "M -d 0d +d d d",
        ),
    ),
]
"""What comes of two kinds, a line for each left one, in that order; a NaN stays one."""


@pytest.mark.parametrize(("combine", "lines"), PAIRS)
def test_kinds_of_pairs(combine: Callable[[int, int], int], lines: tuple[str, ...]) -> None:
    table = {
        (left, right): letters
        for left, line in zip(ORDER, lines, strict=True)
        for right, letters in zip(ORDER, line.split(), strict=True)
    }
    found = {pair: letters_of(combine(*map(named, pair))) for pair in table}
    assert found == table
    for letter in ORDER + "!":
        assert combine(named(letter), NAN) == combine(NAN, named(letter)) == NAN
    random = Random(0)
    for _ in range(100):  # of several kinds, what comes of each
        left, right = ("".join(random.sample(ORDER, random.randint(0, 3))) for _ in range(2))
        every = "".join(table[a, b] for a in left for b in right)
        assert combine(named(left), named(right)) == named("".join(set(every)))


SINGLE: list[tuple[Callable[[int], int], str]] = [
    (lambda base: kinds._power(base, 2), "P + 0 + P +"),
    (lambda base: kinds._power(base, 3), "M - 0 + P d"),
    (lambda base: kinds._power(base, 4), "P + 0 + P +"),
    (lambda base: kinds._power(base, -1), "0 - ! + 0 d"),
    (lambda base: kinds._power(base, -2), "0 + ! + 0 +"),
    (lambda base: kinds._power(base, -3), "0 - ! + 0 d"),
]
"""What comes of each kind, in that order."""
FUNCTIONS_OF: dict[str, str] = {
    "exp": "0 + + + P +",
    "log": "! ! ! -0+ P d",
    "log1p": "! !- 0 + P d",
    "expm1": "- - 0 + P d",
    "sqrt": "! ! 0 + P +",
    "rsqrt": "! ! ! + 0 +",
    "sin": "! -+ 0 -+ ! d",
    "cos": "! -+ + -+ ! d",
    "tanh": "- - 0 + + d",
    "erf": "- - 0 + + d",
    "sigmoid": "0 + + + + +",
    "silu": "! - 0 + P d",
    "gelu": "! - 0 + P d",
    "softplus": "0 + + + P +",
    "relu": "0 0 0 + P 0+",
    "abs": "P + 0 + P +",
    "sign": "- - 0 + + -+",
    "finite": "0 - 0 + 0 d",
    "floor": "M - 0 0+ P -0+",
    "ceil": "M -0 0 + P -0+",
    "round": "M -0 0 0+ P -0+",
    "trunc": "M -0 0 0+ P -0+",
    "exp2": "0 + + + P +",
    "log2": "! ! ! -0+ P d",
    "log10": "! ! ! -0+ P d",
    "sinh": "M - 0 + P d",
    "cosh": "P + + + P +",
    "asinh": "M - 0 + P d",
    "acosh": "! ! ! !0+ P 0+",
    "atanh": "! !- 0 !+ ! d",
    "tan": "! -+ 0 -+ ! d",
    "asin": "! !- 0 !+ ! d",
    "acos": "! !+ + !0+ ! 0+",
    "atan": "- - 0 + + d",
    "erfc": "+ + + + 0 +",
    "erfinv": "! !- 0 !+ ! d",
    "lgamma": "! ! ! -0+ P d",
    "digamma": "! ! ! -+ P d",
    "trigamma": "! ! ! + 0 +",
}


def _of(function: str) -> Callable[[int], int]:
    return lambda argument: kinds._applied(function, argument)


@pytest.mark.parametrize(
    ("single", "line"), [*SINGLE, *((_of(name), line) for name, line in FUNCTIONS_OF.items())]
)
def test_kinds_of_one(single: Callable[[int], int], line: str) -> None:
    table = dict(zip(ORDER, line.split(), strict=True)) | {"!": "!"}
    assert {letter: letters_of(single(named(letter))) for letter in table} == table
    random = Random(0)
    for _ in range(50):
        chosen = random.sample(sorted(table), random.randint(0, 4))
        every = {letter for one in chosen for letter in table[one]}
        assert single(named("".join(chosen))) == named("".join(every))


def test_a_long_chain_is_no_deep_recursion() -> None:
    for text in ("exp", "log"):
        scope = read("{L[i:0:4] B[i]}", B=(4,))
        for _ in range(1200):
            body = expr.apply(text, expr.access(scope, (LONE,)))
            scope = make_scope([(0, 4)], (), body)
        assert finite_everywhere(scope.body) is (text == "exp")
        assert letters_of(kinds_over(scope.body, scope.loops)) == ("+" if text == "exp" else "d")
