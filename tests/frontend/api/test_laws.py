"""Identities of functions take part in a search only where they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.derivations.search.extract import Plan
from einderive.frontend.api.compiled import CompiledFunction
from einderive.ta.errors import NameUnknownError
from tests.amount import sampled
from tests.frontend.races import candidates_win

FORMULA = "Y[i,e] = exp(Q[i]+K[j])*V[j,e]"
SHAPES = {"Q": (900,), "K": (600,), "V": (600, 8)}


def uses_law(plan: Plan) -> bool:
    return any(step.rule == "exponential" for step in plan.steps)


def rules(derivation: ed.Derivation) -> set[str]:
    return {step.rule for plan in derivation.candidates for step in plan.steps}


def test_the_exponential_is_opaque_by_default() -> None:
    assert "exponential" not in rules(ed.derive(FORMULA, **SHAPES))


@pytest.mark.parametrize("law", ["exp-sum", "exp(a+b) = exp(a)*exp(b)"])
def test_a_named_law_takes_part_and_checks(law: str) -> None:
    derivation = ed.derive(FORMULA, laws=[law], **SHAPES)
    best = derivation.candidates[0]
    assert best.steps[0].rule == "exponential"
    assert best.seconds < derivation.unchanged.seconds
    assert derivation.check(0), str(derivation.check(0))


def compiled_by_law(monkeypatch: pytest.MonkeyPatch, accuracy: Any) -> CompiledFunction:
    """The programs by the law are predicted to be the fastest, and are so here."""
    candidates_win(monkeypatch)
    return ed.compile(FORMULA, laws=["exp-sum"], accuracy=accuracy, seconds=0.01, **SHAPES)


def test_the_program_by_a_law_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    function = compiled_by_law(monkeypatch, "fast")
    generator = np.random.default_rng(3)
    values = {name: generator.standard_normal(shape).astype("f") for name, shape in SHAPES.items()}
    expected = np.exp(values["Q"][:, None].astype("d") + values["K"]) @ values["V"].astype("d")
    np.testing.assert_allclose(function(**values), expected, rtol=1e-4, atol=1e-2)
    by_law = [t for t in function.trials if t.plan and uses_law(t.plan)]
    assert [trial.verdict for trial in by_law] == ["accepted"] * len(by_law)
    assert function.chosen in by_law
    assert "(exponential)" in function.chosen.cancelling[0]


def test_by_default_a_program_that_overflows_where_the_formula_does_not_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """exp(1000 - 1000) is 1, exp(1000)*exp(-1000) is no number."""
    function = compiled_by_law(monkeypatch, "normwise")
    by_law = [t for t in function.trials if t.plan and uses_law(t.plan) and t.families]
    assert by_law
    assert all("digits lost on inputs with" in t.verdict for t in by_law)
    assert function.chosen not in by_law
    fills = {"Q": 1000.0, "K": -1000.0, "V": 1.0}
    far = {name: np.full(shape, fills[name], "f") for name, shape in SHAPES.items()}
    assert np.isfinite(function(**far)).all()


@pytest.mark.parametrize(
    ("law", "message"), [("exp", "there is no law 'exp'"), ("sigmoid", "no rule uses the law")]
)
def test_unknown_and_unused_laws_are_refused(law: str, message: str) -> None:
    with pytest.raises(NameUnknownError, match=message):
        ed.derive(FORMULA, laws=[law], **SHAPES)


SIZE = 1 << 16
EXPECTED = {
    "A[i]^6/A[i]^4": "A[i]^2",
    "max(A[i],-A[i])": "abs(A[i])",
    "A[i]*sign(A[i])": "abs(A[i])",
    "(A[i]+abs(A[i]))/2": "relu(A[i])",
    "relu(A[i])-relu(-A[i])": "A[i]",
    "-min(-A[i],-B[i])": "maximum(A[i], B[i])",
    "max(exp(A[i]),exp(B[i]))": "exp(maximum(A[i], B[i]))",
    "max(A[i]+C[i],B[i]+C[i])": "maximum(A[i], B[i]) + C[i]",
    "A[i]*B[i]+A[i]*C[i]+D[i]": "A[i]*(B[i] + C[i]) + D[i]",
    "A[i]/C[i]+B[i]/C[i]": "(A[i] + B[i])/C[i]",
    "3*A[i]^3+2*A[i]^2+5*A[i]+7": "A[i]*(A[i]*(3*A[i] + 2) + 5) + 7",
    "A[i]*(1-B[i])+C[i]*B[i]": "A[i] + B[i]*(-A[i] + C[i])",
    "(A[i]^2-B[i]^2)/(A[i]-B[i])": "A[i] + B[i]",
    "sin(A[i])^2+cos(A[i])^2": "1",
    "1/(1+exp(-A[i]))": "sigmoid(A[i])",
    "exp(A[i])-1": "expm1(A[i])",
    "sqrt(abs(A[i])^2)": "abs(A[i])",
    "assume A > 0; exp(2*log(A[i]))": "A[i]^2",
    "assume A > 0; A[i]^2.5*A[i]^1.5": "A[i]^4",
    "assume A >= 0; sqrt(A[i])*sqrt(A[i])": "A[i]",
    "assume A > 0; relu(A[i])+abs(A[i])": "2*A[i]",
    "assume -1 <= A <= 1; sin(asin(A[i]))": "A[i]",
}
UNCHANGED = (
    "sqrt(A[i])*sqrt(A[i])",
    "exp(2*log(A[i]))",
    "log(A[i]*B[i])",
    "exp(A[i])*exp(B[i])",
    "A[i]*sqrt(A[i])",
    "assume A > 0; A[i]*sqrt(A[i])",
    "A[i]/B[i]+C[i]/D[i]",
    "max(cos(A[i]),cos(B[i]))",
)


def derived(formula: str) -> str:
    said, _, body = formula.rpartition("; ")
    shapes = {name: (SIZE,) for name in "ABCD" if f"{name}[" in body}
    derivation = ed.derive(f"{said}; Y[i] = {body}" if said else f"Y[i] = {body}", **shapes)
    if derivation.steps:
        assert derivation.check(0), str(derivation.check(0))
    line = str(derivation.program).splitlines()[-1]
    return line.removeprefix("Y[i] = ").removesuffix(f" where i in 0:{SIZE}")


@sampled(2)
@pytest.mark.parametrize(("formula", "expected"), EXPECTED.items())
def test_what_everybody_expects_is_simplified(formula: str, expected: str) -> None:
    assert derived(formula) == expected


@pytest.mark.parametrize("formula", UNCHANGED)
def test_what_could_lose_digits_or_a_nan_stays(formula: str) -> None:
    body = formula.rpartition("; ")[2].replace("sqrt(A[i])*sqrt(A[i])", "sqrt(A[i])^2")
    written = ed.parse(f"Y[i] = {body}", **{n: (SIZE,) for n in "ABCD" if f"{n}[" in body})
    assert str(written) == f"Y[i] = {derived(formula)}"


BY_NAME = [
    ("exp-difference", "exp(A[i])/exp(B[i])", "exp(A[i] - B[i])"),
    ("log-product", "assume A > 0, B > 0; log(A[i])+log(B[i])", "log(A[i]*B[i])"),
    ("root-product", "assume A >= 0, B >= 0; sqrt(A[i])*sqrt(B[i])", "sqrt(A[i]*B[i])"),
    (
        "sin(a+b) = sin(a)*cos(b)+cos(a)*sin(b)",
        "sin(A[i])*cos(B[i])+cos(A[i])*sin(B[i])",
        "sin(A[i] + B[i])",
    ),
    ("name-hypot", "sqrt(A[i]^2+B[i]^2)", "hypot(A[i], B[i])"),
    ("power-sum", "assume A > 0; A[i]^B[i]*A[i]^C[i]", "pow(A[i], B[i] + C[i])"),
]


@pytest.mark.parametrize(("law", "formula", "expected"), BY_NAME)
def test_a_law_is_switched_on_by_its_name(law: str, formula: str, expected: str) -> None:
    said, _, body = formula.rpartition("; ")
    shapes = {name: (SIZE,) for name in "ABCD" if f"{name}[" in body}
    text = f"{said}; Y[i] = {body}" if said else f"Y[i] = {body}"
    assert expected not in str(ed.derive(text, **shapes).program)
    derivation = ed.derive(text, laws=[law], **shapes)
    assert expected in str(derivation.program)
    assert derivation.check(0)
    assert [step.rule for step in derivation.steps] == ["law"]
