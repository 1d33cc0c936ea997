"""Programs of any size compared as formal sums: what is equal is shown, what differs is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random

import pytest

import einderive as ed
from einderive.derivations.checker import not_equal
from einderive.frontend.equality.equation import Equation, Pair
from einderive.frontend.equality.verdict import SHOWN
from einderive.ta.equality.compare import compare
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, PART, first, one_in, sampled
from tests.derivations.checker.changes import changed
from tests.showcases.cases import REFERENCE, Case
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS

CASES = {**REFERENCE, **ALGEBRA, **LAYERS}
LARGE = (
    "4 conv 5x5 as conv 3x3 and shifted addition",
    "5 conv 6x6 as conv 3x3 and shifted addition",
    "5 conv 9x9",
    "7 dilated band matmul, wide",
    "7 dilated band matmul, narrow",
    "8 dilated band times matrix",
    "8 band, dilation 4, sizes that do not divide",
    "10 im2col: conv 6x6 as one matmul",
    "26 window",
    "26 window, batched, both sides, other names",
)
"""More than 4 million points are left of these by the theorem of `small_extents`."""
MUTANTS = 24
"""Of each show-case's program by hand."""
HUGE = 10_000_000


@sampled(8)
@pytest.mark.parametrize("name", one_in(2, CASES))
def test_every_show_case_is_decided_at_its_sizes_of_use(name: str) -> None:
    case = CASES[name]
    text, shapes = case.problem(case.formula, case.sizes)
    hand, _ = case.problem(case.hand, case.sizes)
    verdict = ed.equivalent(text, hand, **shapes)
    assert verdict.kind in ({"proved"} if name in LARGE else SHOWN), verdict


def small(case: Case) -> Pair:
    text, shapes = case.problem(case.formula, case.small)
    hand, _ = case.problem(case.hand, case.small)
    return Equation(text, hand, shapes).pair()


def mutants(name: str, pair: Pair, count: int) -> Iterator[tuple[Scope, Scope]]:
    """An output of the formula, and that of the hand-written program changed in a place or two."""
    for seed in range(count):
        random = Random(f"{name} {seed}")
        place = random.randrange(len(pair.right))
        other = pair.right[place]
        for _ in range(random.choice((1, 1, 2))):
            new = None
            while new is None:
                new = changed(other, random)
            other = new
        yield pair.left[place], other


@cache
def judged(name: str, count: int) -> tuple[Counter[bool], Counter[bool]]:
    """Are mutants shown to be equal; and, of the first ones that are not, are they different?"""
    seen, different = Counter[bool](), Counter[bool]()
    for number, (formula, mutant) in enumerate(mutants(name, small(CASES[name]), count)):
        shown = not_equal(formula, mutant, exp_sum=False) is None
        seen[shown] += 1
        if number < 2 and not shown:
            different[compare([formula], [mutant]).found is not None] += 1
        assert not shown or compare([formula], [mutant]).equal, mutant
    return seen, different


@sampled(4)
@pytest.mark.parametrize(
    ("name", "count"),
    first(
        -(-len(CASES) // PART),
        [
            *((name, MUTANTS // PART) for name in list(CASES)[::PART]),
            *((name, MUTANTS) for name in CASES),
        ],
    ),
)
def test_no_mutant_is_shown_to_be_equal_unless_it_is(name: str, count: int) -> None:
    judged(name, count)


@pytest.mark.parametrize(
    ("names", "count", "wrong", "right"),
    [
        pytest.param(list(CASES)[::PART], MUTANTS // PART, 40, 1, id="some"),
        pytest.param(list(CASES), MUTANTS, 1500, 50, id="all", marks=CAMPAIGN),
    ],
)
def test_most_of_the_mutants_are_wrong(
    names: list[str], count: int, wrong: int, right: int
) -> None:
    seen, different = Counter[bool](), Counter[bool]()
    for name in names:
        seen += judged(name, count)[0]
        different += judged(name, count)[1]
    assert seen[False] > wrong
    assert seen[True] > right  # some changes change nothing
    assert different[True] > 4 * different[False]


def one_number_off(text: str) -> Iterator[str]:
    """The text with one of its numbers one more or one less, sizes `$N` aside."""
    for found in re.finditer(r"(?<![\w$])\d+", text):
        for by in (-1, 1):
            number = int(found[0]) + by
            if number >= 0:
                yield text[: found.start()] + str(number) + text[found.end() :]


@pytest.mark.parametrize("name", one_in(PART, LARGE))
def test_large_programs_with_a_number_off_are_not_equal(name: str) -> None:
    """What differs at small sizes, by evaluation, is not shown to be equal at large ones."""
    case, wrong = CASES[name], 0
    for hand in one_number_off(case.hand):
        pairs = []
        for sizes in (case.small, case.sizes):
            text, shapes = case.problem(case.formula, sizes)
            other, _ = case.problem(hand, sizes)
            try:
                pairs.append(Equation(text, other, shapes).pair())
            except ed.EinderiveError:  # the number was a range, or divided
                break
        else:
            few, many = pairs
            if not few.mismatch and compare(few.left, few.right).found is not None:
                wrong += 1
                assert not_equal(many.left[0], many.right[0]) is not None, hand
    assert wrong >= 2


def window(weights: dict[int, int]) -> str:
    terms = " + ".join(f"{weight}*A[i+{at}]" for at, weight in sorted(weights.items()))
    return f"Y[i] = {terms or '0*A[i]'} where i in 0:{HUGE}"


@sampled(2)
@pytest.mark.parametrize("seed", range(30))
def test_entries_that_a_sum_takes_several_times_are_counted(seed: int) -> None:
    """S[r,s] A[i+a*r+b*s] is a window whose weights say how often a*r+b*s takes each value."""
    random = Random(seed)
    extents = [random.randint(1, 4) for _ in range(random.randint(2, 3))]
    factors = [random.randint(1, 3) for _ in extents]
    names = "rst"[: len(extents)]
    offset = "+".join(f"{a}*{name}" for a, name in zip(factors, names, strict=True))
    ranges = ", ".join(f"{name} in 0:{n}" for name, n in zip(names, extents, strict=True))
    left = f"Y[i] = A[i+{offset}] where i in 0:{HUGE}, {ranges}"
    weights = Counter(
        sum(a * x for a, x in zip(factors, point, strict=True))
        for point in product(*map(range, extents))
    )
    (one,) = parse(left, {"A": (HUGE,)}).roots()
    (other,) = parse(window(weights), {"A": (HUGE,)}).roots()
    assert not_equal(one, other) is None
    weights[random.choice(sorted(weights))] += random.choice((-1, 1))
    (wrong,) = parse(window(weights), {"A": (HUGE,)}).roots()
    assert not_equal(one, wrong) is not None


LONG = f" where i in 0:{HUGE}"


@pytest.mark.parametrize(
    ("left", "right", "laws", "kind"),
    [
        ("exp(A[i+1]+B[i+1])", "exp(A[i+1])*exp(B[i+1])", (), "undecided"),
        ("exp(A[i+1]+B[i+1])", "exp(A[i+1])*exp(B[i+1])", ("exp-sum",), "proved"),
        ("exp(A[i+1])^2", "exp(2*A[i+1])+0*B[i]", (), "undecided"),
        ("exp(A[i+1]*2)*B[i]", "B[i]*exp(A[i+1]+A[i+1]*1)", (), "identical"),
        ("exp(A[i+1]*(B[i]+1))", "exp(A[i+1]*B[i]+A[i+1])", (), "proved"),
        ("relu(2*A[i+1])*B[i]", "2*relu(A[i+1])*B[i]", (), "proved"),
        ("sigmoid(A[i+1]*B[i])", "1/(1+exp(-A[i+1]*B[i]))", (), "undecided"),
        ("sigmoid(A[i+1]*(B[i]+1))", "1/(1+exp(-A[i+1]-A[i+1]*B[i]))", ("sigmoid",), "proved"),
        ("maximum(maximum(A[i+1],B[i]),2)", "maximum(A[i+1],maximum(B[i],2))", (), "proved"),
    ],
)
def test_laws_are_used_only_by_name(
    left: str, right: str, laws: tuple[str, ...], kind: str
) -> None:
    shapes = {"A": (HUGE,), "B": (HUGE,)}
    verdict = ed.equivalent(f"Y[i] = {left}{LONG}", f"Y[i] = {right}{LONG}", laws=laws, **shapes)
    assert verdict.kind == kind, verdict


def test_properties_of_order_are_proved_at_any_size() -> None:
    a, b = "Y[i] = maximum(maximum(a,b[i]),c[i])", "Y[i] = maximum(a,maximum(b[i],c[i]))"
    assert ed.equivalent(a, b, a=(), b=(4,), c=(4,)).kind == "proved"
    twice = "Y[i] = max[k,l](maximum(A[i,k],A[i,l])) where k in 0:3, l in 0:3"
    assert ed.equivalent(twice, "Y[i] = max[k](A[i,k])", A=(4, 3)).kind == "proved"
    wrong = ed.equivalent(twice, "Y[i] = max[k](A[i,k]) where k in 0:2", A=(4, 3))
    assert wrong.kind == "different"


def test_what_stays_undecided_says_why() -> None:
    verdict = ed.equivalent(
        "Y[i] = A[i+r+s] where i in 0:9000, r in 0:3000, s in 0:3000",
        "T[j] = A[j+3*r+q] where j in 0:9000, r in 0:1000, q in 0:3;"
        "Y[i] = T[i+s]*1 where i in 0:9000, s in 0:3000",
        A=(15000,),
    )
    assert verdict.kind == "undecided"
    assert "occurs several times in one sum" in str(verdict)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_euler(dtype: str) -> None:
    shown = ed.equivalent("Y = exp(1j*x)", "Y = cos(x)+1j*sin(x)", x=(), dtypes=dtype)
    assert shown.kind == "proved"
    assert "exp(1j*x) = cos(x)+1j*sin(x)" in shown.detail
    wrong = ed.equivalent("Y = exp(1j*x)", "Y = cos(x)-1j*sin(x)", x=(), dtypes=dtype)
    assert wrong.kind == "different"
    assert "where x=" in wrong.detail
    real = dtype == "float32"  # of complex numbers, x = 7j shows a difference
    assert bool(ed.equivalent("Y = log(exp(x))", "Y = x", x=(), dtypes=dtype)) == real


def test_a_long_sum_in_closed_form() -> None:
    sides = ("Y = sum[k](x^k) where k in 0:100000", "Y = (1-x^100000)/(1-x)")
    shown = ed.equivalent(*sides, x=())
    assert shown.kind == "proved"
    assert "sum[k](a*x^k)" in shown.detail
    differences = ("Y = sum[k](T[k+1]-T[k])", "Y = T[99999]-T[0]")
    assert ed.equivalent(*differences, T=(100000,), ranges={"k": (0, 99999)})


def test_a_proof_is_given_up_when_its_time_is_over() -> None:
    sides = ("Y = sqrt(x^2)", "Y = abs(x)")
    assert ed.equivalent(*sides, x=()).kind == "proved"
    given_up = ed.equivalent(*sides, x=(), seconds=0)
    assert given_up.kind == "undecided"
    assert "no proof was found within 0 s; more `seconds` may help" in given_up.detail
    assert ed.equivalent("Y = sqrt(x^2)", "Y = x", x=(), seconds=0).kind == "different"
    for seconds in (-1, "2", True, float("nan")):
        with pytest.raises(ed.EinderiveError, match="seconds is a time"):
            ed.equivalent(*sides, x=(), seconds=seconds)  # type: ignore[arg-type]
