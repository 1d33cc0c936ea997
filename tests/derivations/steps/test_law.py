"""Steps by laws of functions: where they hold, what they keep, and that they are taken."""

import pytest

import einderive as ed
from einderive.derivations.checker import not_equal, not_shown
from einderive.derivations.rules.law import LAW, by_laws
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show
from tests.fuzz.cases import with_laws


def root(text: str) -> Scope:
    shapes = {"A": (6,), "B": (6,)}
    (scope,) = parse(text, {name: s for name, s in shapes.items() if f"{name}[" in text}).roots()
    return scope


@pytest.mark.parametrize(
    ("text", "after", "keeps"),
    [
        ("assume A > 0; Y[i] = exp(log(A[i]))", "{L[i:0:6] A[i]}", True),
        ("assume A >= 0; Y[i] = sqrt(A[i])^2", "{L[i:0:6] A[i]}", True),
        ("Y[i] = exp(log(exp(B[i])+3))", "{L[i:0:6] exp(B[i]) + 3}", True),
        ("Y[i] = log(exp(B[i]))", "{L[i:0:6] B[i]}", False),
        ("Y[i] = sqrt(B[i]^2)", "{L[i:0:6] abs(B[i])}", False),
    ],
)
def test_a_law_is_a_step_that_the_checker_shows(text: str, after: str, keeps: bool) -> None:
    (step,) = LAW.steps(root(text))
    assert show(step.after) == after
    assert step.keeps_nonfinite() is keeps
    assert step.exactness("reassociates") == "reassociates"
    assert not_shown(step.before, step.after, step.witness) is None


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Y[i] = where(0 < B[i]^6/B[i]^4, A[i], 1)", False),
        ("Y[i] = isnan(B[i]/B[i])*A[i]", False),
        ("assume B > 0; Y[i] = where(2 < B[i]^6/B[i]^4, A[i], 1)", True),
        ("Y[i] = where(A[i] < 1, B[i]^6/B[i]^4, 1)", True),
        ("Y[i] = where(0 < log(exp(B[i])), A[i], 1)", True),
    ],
)
def test_a_comparison_does_not_hide_that_a_side_has_no_value(text: str, taken: bool) -> None:
    """0 < x/x is 0 at x = 0, where 0 < 1 is 1."""
    assert bool(list(LAW.steps(root(text)))) is taken


@pytest.mark.parametrize(
    ("text", "after", "keeps"),
    [
        ("Y[i] = where(B[i] > A[i], B[i], A[i])", "{L[i:0:6] maximum(A[i], B[i])}", False),
        ("Y[i] = where(A[i] < 3, A[i], 3)", "{L[i:0:6] minimum(A[i], 3)}", False),
        ("Y[i] = where(2*A[i] > 0, 2*A[i], -2*A[i])", "{L[i:0:6] abs(2*A[i])}", True),
        ("Y[i] = where(A[i] < 0, 0, A[i])", "{L[i:0:6] relu(A[i])}", True),
        ("Y[i] = where(A[i] > 0, A[i], 0)", "{L[i:0:6] relu(A[i])}", False),
        (
            "Y[i] = where(A[i] > B[i], A[i] - B[i], B[i] - A[i])",
            "{L[i:0:6] abs(-A[i] + B[i])}",
            True,
        ),
    ],
)
def test_a_choice_by_the_order_of_its_operands(text: str, after: str, keeps: bool) -> None:
    step, *_ = LAW.steps(root(text))
    assert show(step.after) in (after, after.replace("A[i], B[i]", "B[i], A[i]"))
    assert step.keeps_nonfinite() is keeps
    assert not_shown(step.before, step.after, step.witness) is None


@pytest.mark.parametrize(
    "text",
    [
        "Y[i] = where(log(A[i]) > 0, log(A[i]), 0)",
        "T[i] = 1/A[i]; Y[i] = where(T[i] > B[i], T[i], B[i])",
        "Y[i] = where(A[i] > 0, A[i], 1)",
        "Y[i] = where(A[i] > 0, B[i], 0)",
    ],
)
def test_a_choice_that_hides_what_has_no_value_stays(text: str) -> None:
    """At A = -1, the first is 0, where relu(log(A)) is NaN."""
    *_, scope = parse(text, {x: (6,) for x in "AB" if f"{x}[" in text}).roots()
    assert not list(LAW.steps(scope))
    whole = text.replace("log(", "log(1+A[i]^2+0*").replace("1/A[i]", "1/(1+A[i]^2)")
    *_, scope = parse(whole, {x: (6,) for x in "AB" if f"{x}[" in whole}).roots()
    assert bool(list(LAW.steps(scope))) is ("log" in text or "T[" in text)


@pytest.mark.parametrize("text", ["exp(A[i]) < exp(B[i])", "2*A[i] == 2*B[i]", "A[i]+1 > B[i]+1"])
def test_a_comparison_of_what_increases_is_a_step_by_name_alone(text: str) -> None:
    """exp(1000) == exp(1001) where both overflow."""
    scope = root(f"Y[i] = where({text}, 1, 2)")
    assert not list(LAW.steps(scope))
    laws = by_laws(frozenset({"compared-exp", "compared-scaled", "compared-shifted"}))
    bare = {
        f"{{L[i:0:6] where({x}, 1, 2)}}" for x in ("A[i] < B[i]", "A[i] == B[i]", "B[i] < A[i]")
    }
    (step,) = [each for each in laws.steps(scope) if show(each.after) in bare]
    assert not_shown(step.before, step.after, step.witness) is None
    assert len(list(laws.steps(step.after))) == 0


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Y[i] = where(A[i]+log(C[i]) < B[i]+log(C[i]), 1, 2)", False),
        ("Y[i] = where(A[i]+1/C[i] == B[i]+1/C[i], 1, 2)", False),
        ("assume C > 0; Y[i] = where(A[i]+log(C[i]) < B[i]+log(C[i]), 1, 2)", True),
        ("Y[i] = where(A[i]+C[i] < B[i]+C[i], 1, 2)", True),
    ],
)
def test_a_comparison_does_not_drop_what_may_have_no_value(text: str, taken: bool) -> None:
    """At C = -1, NaN < NaN is 0, where A < B may be 1."""
    (scope,) = parse(text, dict.fromkeys("ABC", (6,))).roots()
    laws = by_laws(frozenset({"compared-shifted"}))
    found = [show(step.after) for step in laws.steps(scope)]
    dropped = [text for text in found if "C[" not in text]
    assert bool(dropped) is taken


@pytest.mark.parametrize(
    ("text", "taken"),
    [("Y[i] = 2*log(1+A[i])", True), ("Y[i] = isnan(log(1+A[i]))", False)],
)
def test_a_function_that_has_no_value_itself_hides_nothing(text: str, taken: bool) -> None:
    """log(1 + a) and log1p(a) are two terms that may be NaN, and so is twice each of them."""
    steps = by_laws(frozenset({"name-log1p"})).steps(root(text))
    assert any("log1p" in show(step.after) for step in steps) is taken


def test_a_power_of_what_is_read_outside_divides_by_nothing() -> None:
    (step,) = LAW.steps(root("Y[i] = sqrt(A[i-1]^2) where i in 0:7"))
    assert show(step.after) == "{L[i:0:7] abs(A[i-1])}"


def test_whole_numbers_leave_a_floor_without_what_is_added_to_them() -> None:
    """The number comes first in a sum, and what is added to it is none."""
    (rule,) = with_laws([LAW], ("floor-whole",))
    before = root("Y[i] = floor(A[i]) + 1/B[i] + 2")
    assert [show(step.after) for step in rule.steps(before)] == [
        "{L[i:0:6] floor(A[i] + 2) + B[i]^-1}"
    ]


def test_a_derivation_names_the_law_of_a_step() -> None:
    told = str(ed.derive("Y[i] = B[i]^6/B[i]^4", B=(6,)))
    assert "power-quotient: x^m/x^n = x^(m-n)" in told


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Y[i] = exp(log(A[i]))", "Y[i] = A[i]"),
        ("assume A >= 0; Y[i] = exp(log(A[i]))", "assume A >= 0; Y[i] = A[i]"),
        (
            "assume A > 0; Y[i] = exp(log(A[i-1])) where i in 0:7",
            "assume A > 0; Y[i] = A[i-1] where i in 0:7",
        ),
        ("Y[i] = sqrt(A[i])^2", "Y[i] = A[i]"),
        ("Y[i] = sqrt(A[i]^2)", "Y[i] = A[i]"),
        ("Y[i] = log(exp(A[i]))", "Y[i] = 2*A[i]"),
    ],
)
def test_what_a_law_requires_has_to_be_known(text: str, wrong: str) -> None:
    before, after = root(text), root(wrong)
    assert after not in [step.after for step in LAW.steps(before)]
    assert not_equal(before, after) is not None


def test_the_search_takes_it_and_the_record_checks() -> None:
    text = "assume A > 0; Y[i] = exp(log(A[i]))*B[i] + sqrt(A[i])*sqrt(A[i])"
    derivation = ed.derive(text, A=(64,), B=(64,))
    report = derivation.check(1)
    assert report, str(report)
    assert [step.rule for step in derivation.steps][:2] == ["law", "law"]
    assert "exp" not in str(derivation.program)


def test_the_maximum_of_a_softmax_stays() -> None:
    text = "M[i] = max[j](A[i,j]); Y[i,k] = exp(A[i,k]-M[i])/sum[l](exp(A[i,l]-M[i]))"
    derivation = ed.derive(text, A=(8, 16))
    assert derivation.check(1)
    assert "max[" in str(derivation.program)
