"""What a derivation and a measurement say to a reader, on small formulas."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from einderive.derivations.rules import RULES
from einderive.derivations.search.extract import Plan
from einderive.derivations.steps.kernel import Step
from einderive.frontend.api.compiled import CompiledFunction, Derivation
from einderive.frontend.api.formula import parse
from einderive.frontend.api.optimize import derive
from einderive.frontend.report.derivation import derivation_text, digits, left_out, searched
from einderive.frontend.report.measured import compiled_text, underived
from einderive.frontend.report.story import tell
from einderive.frontend.text import duration, figure, hanging, operators, shape
from einderive.frontend.timed.trial import AS_GIVEN, IN_FLOAT64, Trial
from tests.frontend.derived import FEW

SHAPES = {"A": (128, 32), "B": (128, 32)}


def candidate_with(derivation: Derivation, *rules: str) -> int:
    """The first candidate that takes all of these rules."""
    for number, plan in enumerate(derivation.candidates):
        if set(rules) <= {step.rule for step in plan.steps}:
            return number
    raise AssertionError(f"no candidate uses {rules}")


@pytest.fixture(scope="module")
def distances() -> Derivation:
    return derive("Y[i,j] = (A[i,k]-B[j,k])*(A[i,k]-B[j,k])", budget=FEW, **SHAPES)


@pytest.fixture(scope="module")
def compiled(distances: Derivation) -> CompiledFunction:
    return Derivation.compile(distances, seconds=0.02)


def test_a_step_is_told_in_statements() -> None:
    found = derive(
        "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]", Q=(2, 64, 4), K=(2, 64, 4), V=(2, 64, 4)
    )
    number = candidate_with(found, "split-sum")
    (told,) = tell(found, found.candidates[number]).steps
    assert told.before == ("Y[b,i,e] = K[b,j,d]*Q[b,i,d]*V[b,j,e]",)
    assert told.after[0].startswith("Y[b,i,e] = ")
    assert told.after[1].startswith("T1[")
    assert " -> Y[b,i,e] = " in derivation_text(found, candidate=number)


def test_names_last_from_the_first_step_to_the_program(distances: Derivation) -> None:
    for plan in distances.candidates:
        story = tell(distances, plan)
        program: dict[str, str] = {"Y": "Y[i,j] = (A[i,k] - B[j,k])^2"}
        for told in story.steps:
            for statement in told.before:
                assert program.pop(statement.split("[")[0]) == statement
            program |= {statement.split("[")[0]: statement for statement in told.after}
        shown = derivation_text(distances, candidate=distances.candidates.index(plan), width=200)
        assert all(f"\n  {statement} " in shown for statement in program.values())


def test_given_statements_keep_their_names() -> None:
    text = "P[i,j] = A[i,k]*B[k,j]; Y[i] = P[i,j]*x[j]"
    found = derive(text, A=(64, 64), B=(64, 64), x=(64,))
    plan = found.candidates[candidate_with(found, "merge-stage")]
    told = next(t for t in tell(found, plan).steps if t.step.rule == "merge-stage")
    assert any(statement.startswith("P[i,j] = ") for statement in told.before)


def test_the_text_names_rule_identity_and_lost_digits(distances: Derivation) -> None:
    text = derivation_text(distances, candidate=candidate_with(distances, "expand", "distribute"))
    assert "(a - b)^2 = a^2 - 2*a*b + b^2" in text
    assert "-> Y[i,j] = sum[k](" in text
    assert "(expand)" in text
    assert "can lose digits" in text
    assert "as given" in text


def test_digits_speaks_of_each_kind() -> None:
    """By what each step does, not by its rule alone."""

    def step(text: str, rule: str, shape: tuple[int, ...] = (4,)) -> Step:
        shapes = {name: shape for name in "ABC" if f"{name}[" in text}
        (scope,) = parse(text, **shapes).roots()
        return next(next(r for r in RULES if r.name == rule).steps(scope))

    same = step("T[i] = A[i]-B[i]; Y[i] = exp(T[i])", "merge-stage")
    mixed = step("T[i] = A[i]-B[i]; Y[i] = T[i] + C[i]", "merge-stage")
    reordered = step("Y[i] = A[i,k]*B[k,l]*C[l,i]", "split-sum", (4, 4))
    assert digits(()) == ""
    assert digits((same, same)).startswith("Every step moves the same")
    assert digits((same, reordered)).startswith("Step 2 (split-sum) adds in another")
    by_law = step("Y[i] = sqrt(A[i]^2)", "law")
    assert digits((same, by_law)).startswith("Step 2 (law) takes other operations")
    found = digits((mixed, same, mixed))
    assert found.startswith("Steps 1 (merge-stage) and 3 (merge-stage) can lose digits")


def test_no_line_is_longer_than_the_width(distances: Derivation) -> None:
    text = "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-16),k] where w in 0:33"
    band = derive(text, budget=FEW, A=(2, 256, 8), B=(2, 256, 8))
    for found in (distances, band):
        for number in range(len(found.candidates)):
            for width in (72, 100):
                text = derivation_text(found, width=width, candidate=number)
                assert max(map(len, text.splitlines())) <= width, text


def test_colour_changes_nothing_but_colour(distances: Derivation) -> None:
    import re

    coloured = derivation_text(distances, colour=True)
    assert re.sub(r"\x1b\[\d+m", "", coloured) == derivation_text(distances)
    assert str(distances) == derivation_text(distances)


def test_without_candidates_and_without_pruning(distances: Derivation) -> None:
    assert derivation_text(replace(distances, candidates=())).endswith("no candidates")
    stats = replace(distances.stats, states=1, pruned={}, stopped="space exhausted", bound=0.0)
    assert searched(stats).startswith("searched 1 expression (")
    assert searched(stats).endswith(": space exhausted")
    assert left_out(stats) == ""
    assert left_out(replace(stats, pruned={"far": 3, "none": 0})) == "; left out: 3 x far"
    assert "no program can take less than 30.0 us" in searched(replace(stats, bound=3e-5))


def test_steps_that_do_not_fit_are_told_all_the_same(distances: Derivation) -> None:
    plan = distances.candidates[candidate_with(distances, "expand")]
    strange = replace(plan, steps=(*plan.steps, replace(plan.steps[0], rule="magic")))
    text = derivation_text(replace(distances, candidates=(strange,)))
    assert "magic" in text
    assert "(a rule that this version does not have)" in text


def test_compiled_text_lists_trials_and_marks_the_chosen(compiled: CompiledFunction) -> None:
    text = compiled_text(compiled)
    lines = text.splitlines()
    for trial in compiled.trials:
        assert sum(line[2:].startswith(f"{trial.label}  ") for line in lines) == 1
    (marked,) = [line for line in lines if line.startswith("* ")]
    assert marked[2:].startswith(f"{compiled.chosen.label}  ")
    assert f"chosen: {compiled.chosen.label}, " in text
    assert str(compiled) == text


def test_compiled_text_says_why_a_trial_was_refused(compiled: CompiledFunction) -> None:
    infinite = float("inf")
    refused = Trial("candidate 9", None, (), infinite, infinite, "not built: no such kernel")
    text = compiled_text(
        replace(compiled, trials=(compiled.baseline, refused), chosen=compiled.baseline)
    )
    (line,) = [line for line in text.splitlines() if "candidate 9" in line]
    assert line.split() == [
        "candidate",
        "9",
        "-",
        "-",
        "-",
        "-",
        "not",
        "built:",
        "no",
        "such",
        "kernel",
    ]
    assert "no candidate was accepted" in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0"),
        (2.5e-7, "0.250 us"),
        (1e-3, "1.00 ms"),
        (0.0996, "99.6 ms"),
        (0.09999, "100 ms"),
        (137.44, "137 s"),
        (float("inf"), "-"),
        (float("nan"), "-"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_figures_and_lists() -> None:
    assert figure(0.512) == "0.512"
    assert figure(0.0) == "0"
    assert figure(45678.0) == "45678"
    assert shape(()) == "scalar"
    assert operators(["a", "a", "b", "a"]) == "2 a, b, a"


def test_hanging_breaks_between_ranges_and_before_factors() -> None:
    text = "T[i,j] = A[i+j,k]*B[k,j] where i in 0:16, j in 0:99"
    assert hanging(text, "", 60) == [text]
    assert hanging(text, "> ", 40) == [
        "> T[i,j] = A[i+j,k]*B[k,j] where",
        "      i in 0:16, j in 0:99",
    ]
    assert hanging(text, "", 20)[:2] == ["T[i,j] = A[i+j,k]", "    *B[k,j] where"]
    assert len("".join(hanging("x + " * 1000, "", 80))) < 900


def test_what_runs_is_said_where_no_derived_step_does(distances: Derivation) -> None:
    plan = next(each for each in distances.candidates if each.steps)

    def raced(*timed: tuple[str, Plan | None, float, str], device: str = "cpu") -> Any:
        """A race of which the first one of those was chosen."""
        trials = [Trial(label, of, (), time, 0.0, verdict) for label, of, time, verdict in timed]
        return SimpleNamespace(trials=trials, chosen=trials[0], device=device)

    given = (AS_GIVEN, replace(plan, steps=()), 2e-3, "accepted")
    slower, refused = ("candidate 1", plan, 3e-3, "accepted"), ("candidate 2", plan, 1e-3, "wrong")
    loops = "what runs is the formula as given, as compiled loops, without any derived step"
    assert underived(raced(slower, given)) == ""
    assert underived(raced(given)) == f"{loops}; no derived program was tried"
    assert "as given, as generated kernels," in underived(raced(given, device="cuda"))
    wide = (f"{AS_GIVEN}{IN_FLOAT64}", *given[1:])
    assert "as given, as compiled loops in float64," in underived(raced(wide))
    assert underived(raced(given, refused, slower)) == (
        f"{loops}. The best derived program, candidate 1, was not chosen, because it takes "
        "3.00 ms, and what runs 2.00 ms"
    )
    assert underived(raced(given, refused)).endswith("was not chosen: wrong")
    plain = ("torch.cdist", None, 4e-3, "baseline")
    assert underived(raced(plain, slower)).startswith(
        "what runs is the plain program of torch, torch.cdist, without any derived step"
    )
    assert underived(raced(plain, slower)).endswith(
        "it takes 3.00 ms, not clearly less than 4.00 ms"
    )
