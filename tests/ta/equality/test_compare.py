"""Comparison by residues with signs and with the law of exp: true equations, and false ones."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from einderive.ta.equality.compare import (
    MOST_BITS,
    MOST_EXP_BITS,
    MOST_ORDERED_BITS,
    Outcome,
    compare,
    signed_fields,
    unsigned_fields,
)
from einderive.ta.equality.exp_law import BASE, SAFE_PRIMES, ExponentialField
from einderive.ta.equality.laws import LAWS, apply_definitions, law_names
from einderive.ta.equality.positions import positions, sample
from einderive.ta.equality.primes import is_prime, primes, safe_primes, sign_primes, square
from einderive.ta.equality.signs import PRIME, SignField
from einderive.ta.errors import NameUnknownError
from einderive.ta.exact.interp import visited
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import sampled

SHAPES = {"a": (), "b": (), "c": (), "x": (5,), "y": (5,), "A": (4, 5)}


def roots(text: str) -> tuple[Scope, ...]:
    words = set("".join(c if c.isalnum() else " " for c in text).split())
    return parse(text, {name: shape for name, shape in SHAPES.items() if name in words}).roots()


def outcome(left: str, right: str, *, exp_sum: bool = False) -> Outcome:
    return compare(roots(f"Y = {left}"), roots(f"Y = {right}"), exp_sum=exp_sum)


TRUE = [
    ("relu(2*a)", "2*relu(a)"),
    ("relu(a/3)", "relu(a)/3"),
    ("relu(a) - relu(-a)", "a"),
    ("relu(relu(a))", "relu(a)"),
    ("relu(a*a)", "a*a"),
    ("abs(a*b)", "abs(a)*abs(b)"),
    ("abs(a)^2", "a^2"),
    ("maximum(a,b)", "maximum(b,a)"),
    ("maximum(a+c,b+c)", "maximum(a,b)+c"),
    ("maximum(a,b) + minimum(a,b)", "a+b"),
    ("maximum(a,b)*minimum(a,b)", "a*b"),
    ("minimum(a,b)", "-maximum(-a,-b)"),
    ("sign(a)*b", "b*sign(a)"),
    ("max[i](x[i]+a)", "max[i](x[i])+a"),
    ("min[i](x[i])", "-max[i](-x[i])"),
    ("sum[i](where(i > 2, exp(x[i]), 0))", "sum[i](exp(where(i > 2, x[i], -inf)))"),
    ("max[j](max[i](x[i]*A[j,i]))", "max[i](max[j](x[i]*A[j,i]))"),
    ("max[i](where(i > 2, x[i], -inf))", "max[i](x[i+3]) where i in 0:2"),
    ("max[i](x{fill=-inf}[i]) where i in -3:9", "max[i](x[i])"),
]
FALSE = [
    ("relu(-2*a)", "-2*relu(a)"),
    ("relu(a+b)", "relu(a)+relu(b)"),
    ("relu(a-20)", "0*a"),
    ("relu(a-1000000)*b", "0*a*b"),
    ("relu(a)*relu(b)*relu(c)", "relu(a)*relu(b)*c"),
    ("abs(a+b)", "abs(a)+abs(b)"),
    ("maximum(a,b)", "a"),
    ("sign(a)", "1"),
    ("sign(a)^2", "1"),
    ("abs(sign(a))", "sign(abs(b))"),
    ("max[i](x[i])", "max[i](x[i]) where i in 0:4"),
    ("max[i](x[i])", "max[i](x[i]) where i in 0:6"),
    ("max[i](2*x[i])", "max[i](x[i])"),
    ("max[i](-x[i])", "-max[i](x[i])"),
    ("max[i](x{fill=-inf}[i-1]) where i in 0:5", "max[i](x[i])"),
    ("271*relu(271 + a - a*b/b)", "0*a"),
]


@sampled(2)
@pytest.mark.parametrize(("left", "right"), TRUE)
def test_what_follows_from_signs_is_shown(left: str, right: str) -> None:
    assert outcome(left, right).equal


@pytest.mark.parametrize(("left", "right"), FALSE)
def test_what_is_false_is_shown_by_a_difference(left: str, right: str) -> None:
    found = outcome(left, right)
    assert not found.equal
    assert found.found is not None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("max[i](2*x[i])", "2*max[i](x[i])"),
        ("a*sign(a)", "abs(a)"),
        ("maximum(maximum(a,b),c)", "maximum(a,maximum(b,c))"),
        ("abs(abs(a)+abs(b))", "abs(a)+abs(b)"),
    ],
)
def test_other_properties_of_order_leave_it_undecided(left: str, right: str) -> None:
    found = outcome(left, right)
    assert (found.equal, found.found, found.reason) == (False, None, "order")


def test_more_signs_take_more_draws() -> None:
    counts = [
        outcome(
            "*".join(["relu(2*a)", "relu(2*b)", "relu(2*c)"][:k]),
            f"{2**k}*" + "*".join(["relu(a)", "relu(b)", "relu(c)"][:k]),
        )
        for k in (1, 2, 3)
    ]
    assert all(found.equal for found in counts)
    for found in counts:
        assert (1 - 2.0**-found.signs) ** found.draws <= 1e-9
    assert [found.signs for found in counts] == [1, 2, 3]


def divides_nothing(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


DRAWN = (*islice(sign_primes("x"), 6), *islice(safe_primes("x"), 3))


@pytest.mark.parametrize("prime", [PRIME, *SAFE_PRIMES, *DRAWN])
def test_primes_have_the_signs_of_small_constants(prime: int) -> None:
    assert divides_nothing(prime)
    field = SignField(prime)
    for value in (1, 2, 3, 5, 7, 11, 13, Fraction(26, 45), field.infinity):
        positive = field.constant(Fraction(value))
        assert field.sign(positive) == 1
        assert field.sign(field.constant(-Fraction(value))) == prime - 1


@pytest.mark.parametrize("draw", [primes, sign_primes, safe_primes])
def test_primes_are_different_ones_for_each_seed(
    draw: Callable[[str], Iterator[int]],
) -> None:
    found = tuple(islice(draw("a"), 20))
    assert len(set(found)) == 20
    assert found == tuple(islice(draw("a"), 20))
    assert len({*found, *islice(draw("b"), 20)}) > 30
    assert all(2**30 < prime < 2**31 for prime in found)
    assert all(map(divides_nothing, found[:4]))
    if draw is safe_primes:
        assert all(divides_nothing(prime // 2) for prime in found[:4])


def test_the_test_for_primes() -> None:
    strong = [2047, 1373653, 25326001, 3215031751 // 3, 121, 49, 341, 561]
    assert [n for n in range(2000) if is_prime(n)] == [n for n in range(2000) if divides_nothing(n)]
    assert not any(is_prime(n) for n in strong if not divides_nothing(n))


KNOWN = (2147483647, 2147483629, 2147483399, 2147481311, *SAFE_PRIMES)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (f"{math.prod(KNOWN)}*a + b", "b"),
        (f"relu({math.prod(KNOWN)}*a) + b", "b"),
        (f"a/{math.prod(KNOWN)}", "a"),
        ("x{fill=inf}[i+5] where i in 0:1", f"x{{fill={1_234_567_891**2}}}[i+5] where i in 0:1"),
        (f"maximum(a, {10**15})", f"0*a + {10**15}"),
    ],
)
def test_constants_cannot_be_made_to_fit_the_primes(left: str, right: str) -> None:
    found = outcome(left, right)
    assert not found.equal
    assert found.found is not None


def test_powers_that_no_draw_decides() -> None:
    power = "a^65536"
    text = f"T = {power}; U = T^65536; Y = U*a"
    left, right = roots(text), roots("Y = a")
    assert compare(left, right) == Outcome(False, reason="degree")


@pytest.mark.parametrize(
    ("of", "exp_sum", "most"),
    [
        ("a", False, MOST_BITS),
        ("relu(a)", False, MOST_ORDERED_BITS),
        ("exp(a)", True, MOST_EXP_BITS),
    ],
)
def test_constants_that_no_draw_decides(of: str, *, exp_sum: bool, most: int) -> None:
    for exponent, reason in ((most, ""), (most + 1, "degree")):
        text = f"T = 2 + 0*{of}; U = T^{exponent}; Y = U*{of} + {of}^2"
        left, right = roots(text), roots(f"Y = {of}")
        found = compare(left, right, exp_sum=exp_sum)
        assert not found.equal
        assert (found.reason == "degree") == bool(reason), found


def test_so_many_bits_are_missed_with_a_small_chance() -> None:
    """The numbers of primes are those that `ta.equality.primes` states."""
    for most, count in ((MOST_BITS, 6.2e6), (MOST_ORDERED_BITS, 4.9e4), (MOST_EXP_BITS, 5.0e3)):
        assert (2 * most / 30 / count) ** 4 <= 1.1e-9


@pytest.mark.parametrize("prime", [*SAFE_PRIMES, *islice(safe_primes("x"), 3)])
def test_bases_of_exp_have_the_order_of_the_exponents(prime: int) -> None:
    assert divides_nothing(prime // 2)
    bases = [BASE, *(square("x", number, prime) for number in range(50))]
    assert len(set(bases)) == len(bases)
    for base in bases:
        assert pow(base, prime // 2, prime) == 1 != base
    small = {square(str(seed), 0, 23) for seed in range(500)}
    assert small == {x * x % 23 for x in range(2, 22)} - {1}


def test_every_draw_has_a_prime_and_a_base_of_its_own() -> None:
    (left,), (right,) = roots("Y = exp(1)*a"), roots("Y = 4*a")
    (other,) = roots("Y = 5*a")
    signed = signed_fields(*roots("Y = relu(exp(a))"), *roots("Y = 2*a"))
    assert signed
    for fields in (unsigned_fields(left, right), signed):
        drawn = [field for field in fields if isinstance(field, ExponentialField)]
        assert len(drawn) == len(fields) >= 4
        assert len({field.base for field in drawn}) == len({f.prime for f in drawn}) == len(drawn)
        assert BASE not in {field.base for field in drawn}
    assert not {*unsigned_fields(left, right)} & {*unsigned_fields(left, other)}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("exp(1)*a", "4*a"),
        ("exp(a+1/2)", "2*exp(a)"),
        ("exp(2)+a", "16+a"),
        ("exp(1)*relu(a)", "4*relu(a)"),
        ("abs(exp(1)-3)*a", "exp(1)*a-3*a"),
    ],
)
def test_constants_in_exponents_are_no_known_numbers(left: str, right: str) -> None:
    found = outcome(left, right, exp_sum=True)
    assert not found.equal
    assert found.found is not None


def test_exp_of_a_sum_in_its_field() -> None:
    field = ExponentialField()
    a, b = (field.random((50,), np.random.default_rng(seed)) for seed in (0, 1))
    together = field.apply("exp", field.add(a, b))
    product = field.multiply(field.apply("exp", a), field.apply("exp", b))
    assert not field.differs(together, product).any()
    assert field.differs(together, field.add(field.apply("exp", a), field.apply("exp", b))).all()
    zero = field.apply("exp", field.constant(Fraction(0)))
    assert not field.differs(zero, field.constant(Fraction(1))).any()


EXPONENTIAL = [
    ("exp(a-b)*exp(b-c)", "exp(a)/exp(c)"),
    ("exp(2*a)", "exp(a)^2"),
    ("exp(a+1/2)^2", "exp(1)*exp(2*a)"),
    ("exp(a)*exp(-1/3)", "exp(a-1/3)"),
    ("exp(a/2)^2", "exp(a)"),
    ("abs(exp(a))", "exp(a)"),
    ("tanh(exp(a+b))", "tanh(exp(a)*exp(b))"),
    ("prod[i](exp(x[i]))", "exp(sum[i](x[i]))"),
    ("sum[i](exp(x[i]-max[j](x[j])))*exp(max[k](x[k]))", "sum[i](exp(x[i]))"),
]


@pytest.mark.parametrize(("left", "right"), EXPONENTIAL)
def test_the_law_of_exp_is_used_only_where_it_is_allowed(left: str, right: str) -> None:
    assert outcome(left, right, exp_sum=True).equal
    without = outcome(left, right)
    assert (without.equal, without.found) == (False, None)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("exp(a+b)", "exp(a)+exp(b)"),
        ("exp(a*b)", "exp(a)*exp(b)"),
        ("tanh(a+b)", "tanh(a)*tanh(b)"),
        ("exp(a)", "exp(a+1)"),
    ],
)
def test_the_law_of_exp_makes_nothing_else_equal(left: str, right: str) -> None:
    found = outcome(left, right, exp_sum=True)
    assert not found.equal
    assert found.found is not None


@pytest.mark.parametrize("name", [name for name, law in LAWS.items() if law.definition])
def test_definitions_are_what_their_equations_say(name: str) -> None:
    left, right = re.sub(r"\b([xy])\b", r"\1[i]", LAWS[name].equation).split(" = ")
    a, b = (roots(f"Y[i] = {side}") for side in (left, right))
    assert apply_definitions(a, [name]) == apply_definitions(b, [name])
    assert a != b


def test_laws_by_name_and_by_equation() -> None:
    assert law_names(["exp-sum"]) == law_names(["exp(a+b)=exp(a) * exp(b)"]) == {"exp-sum"}
    assert law_names("silu") == {"silu"}
    with pytest.raises(NameUnknownError, match="there is no law 'exp-product'") as error:
        law_names(["exp-product"])
    assert "exp-sum: exp(a+b) = exp(a)*exp(b)" in str(error.value)


def test_samples_of_huge_programs_hold_corners_and_borders() -> None:
    (scope,) = parse("Y[i,j] = A[i,j]", {"A": (10**6, 10**5)}).roots()
    chosen = {tuple(point) for point in positions(scope, 128).tolist()}
    assert {(0, 0), (10**6 - 1, 10**5 - 1), (0, 10**5 - 1), (10**6 - 1, 0)} <= chosen
    assert any(i in (1, 10**6 - 2) for i, _ in chosen)
    assert visited([scope], 7) == 7
    (other,) = parse("Y[i,j] = where(i+j == 0, 0, A[i,j])", {"A": (10**6, 10**5)}).roots()
    found, _ = sample([scope], [other])
    assert found is not None
    assert found.point == (0, 0)
