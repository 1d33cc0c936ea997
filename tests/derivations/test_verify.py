"""The checker: it accepts what the search derives, and nothing that was tampered with."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from derivations import kernel, reindex, verify
from derivations.extract import Plan
from derivations.kernel import Step
from derivations.reindex import ReindexSums
from derivations.restructure import Distribute, Merge
from derivations.verify import Report, check, sample_points
from ta import affine, expr
from ta.affine import Range
from ta.canon import scope as make_scope
from ta.errors import RuleRefused
from ta.node import Scope
from ta.show import show
from tests.derivations.seeds import corrupt, read
from tests.derivations.small import FORMULAS, MACHINES, roots, searched

EVERY_FORMULA = pytest.mark.parametrize("name", FORMULAS)


def plans(name: str) -> list[Plan]:
    return [plan for machine in MACHINES for plan in searched(name, machine).plans]


def longest(name: str) -> Plan:
    return max(plans(name), key=lambda plan: len(plan.steps))


def doubled(scope: Scope) -> Scope:
    return make_scope(scope.loops, scope.sums, expr.mul(expr.const(2), scope.body), scope.reducer)


def failures(report: Report) -> list[str]:
    assert bool(report) is all(finding.ok for finding in report.findings)
    return [f"{finding.what}: {finding.detail}" for finding in report.findings if not finding.ok]


DERIVED = [name for name in FORMULAS if len(longest(name).steps) >= 2]


def test_enough_formulas_are_derived_in_several_steps() -> None:
    assert len(DERIVED) >= 8


@EVERY_FORMULA
def test_every_plan_checks(name: str) -> None:
    for plan in plans(name):
        report = check(roots(name), plan.steps, plan.roots)
        assert not failures(report), str(report)
        assert str(report).endswith("every step checks")


@EVERY_FORMULA
def test_another_result_of_a_step_is_found(name: str) -> None:
    plan = longest(name)
    for number, step in enumerate(plan.steps):
        forged = (*plan.steps[:number], replace(step, after=doubled(step.after)))
        report = check(roots(name), (*forged, *plan.steps[number + 1 :]), plan.roots)
        assert any(
            line.startswith(f"step {number + 1}, {step.rule}: the witness proves")
            for line in failures(report)
        )


@pytest.mark.parametrize("name", DERIVED)
def test_a_forged_step_is_found_even_where_the_result_agrees_with_it(name: str) -> None:
    """Only the comparison at points is left to see it when the steps are taken for granted."""
    start = roots(name)
    wrong = tuple(doubled(root) for root in start)
    steps = [
        Step("expand", root, other, Distribute()) for root, other in zip(start, wrong, strict=True)
    ]
    found = failures(check(start, steps, wrong))
    assert any(line.startswith("step 1") for line in found)
    assert any("agree at sampled points" in line for line in found)
    assert any("agree at sampled points" in line for line in failures(check(start, (), wrong)))


@pytest.mark.parametrize("name", DERIVED)
def test_steps_in_another_order_are_found(name: str) -> None:
    plan = longest(name)
    report = check(roots(name), plan.steps[::-1], plan.roots)
    assert any("does not occur" in line for line in failures(report))


@pytest.mark.parametrize("name", DERIVED)
def test_a_missing_or_repeated_step_is_found(name: str) -> None:
    plan = longest(name)
    for number in range(len(plan.steps)):
        missing = (*plan.steps[:number], *plan.steps[number + 1 :])
        assert failures(check(roots(name), missing, plan.roots))
    assert failures(check(roots(name), (*plan.steps, plan.steps[0]), plan.roots))


@EVERY_FORMULA
def test_a_changed_witness_is_found(name: str) -> None:
    random = Random(name)
    for plan in plans(name):
        for number, step in enumerate(plan.steps):
            witness = corrupt(step.witness, random)
            if witness is None or gives(step.before, witness) is step.after:
                continue
            steps = list(plan.steps)
            steps[number] = replace(step, witness=witness)
            assert failures(check(roots(name), steps, plan.roots))


def gives(before: Scope, witness: kernel.Witness) -> Scope | None:
    try:
        return kernel.apply(before, witness)
    except RuleRefused:
        return None


@EVERY_FORMULA
def test_another_final_program_is_found(name: str) -> None:
    plan = longest(name)
    wrong = (doubled(plan.roots[0]), *plan.roots[1:])
    found = failures(check(roots(name), plan.steps, wrong))
    assert found[0].startswith("the steps end in the stated program")
    assert "agree at sampled points" in found[1]


@EVERY_FORMULA
def test_a_final_program_of_another_build_is_found(name: str) -> None:
    plan = longest(name)
    (root,) = plan.roots
    longer = make_scope((*root.loops, Range(0, 2)), (), expr.const(1))
    shifted = make_scope([Range(r.lo, r.hi + 1) for r in root.loops], (), expr.const(1))
    for wrong in ((), (root, root), (longer,), (shifted,)):
        assert failures(check(roots(name), plan.steps, wrong))


def test_a_step_to_other_loops_is_found() -> None:
    start = read("{S[i:0:4] B[i]*{L[j:0:4] exp(A[j])}[i]}", A=(4,), B=(4,))
    nested = read("{L[j:0:4] exp(A[j])}", A=(4,))
    other = read("{L[i:0:4,j:0:4] exp(A[j])}", A=(4,))
    step = Step("merge-stage", nested, other, Merge(0))
    assert failures(check((start,), (step,), (start,)))


def test_maps_that_are_not_inverse_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kernel, by integer sets without the kernel, and by the values without either."""
    start = read("{S[i:0:4] A[i]}", A=(4,))
    double = affine.scale(affine.iterator(0), 2)
    half = affine.floordiv(affine.iterator(0), 2)
    after = read("{S[i:0:2] A[2*i]}", A=(4,))
    witness = ReindexSums((double,), (half,), (Range(0, 2),))
    step = Step("phase", start, after, witness)
    found = failures(check((start,), (step,), (after,)))
    assert found[0] == "step 1, phase: the two maps of the witness are not inverse to each other"
    monkeypatch.setattr(reindex, "_require_inverse", lambda *_: None)
    assert kernel.apply(start, witness) is after
    found = failures(check((start,), (step,), (after,)))
    assert found[0].startswith("step 1, phase: the two maps are not inverse: ")
    monkeypatch.setattr(verify, "_recheck", lambda _: None)
    (found_at_points,) = failures(check((start,), (step,), (after,)))
    assert "agree at sampled points" in found_at_points


def test_infinities_are_compared_as_such() -> None:
    """2*(-inf) is -inf, which residues do not know."""
    start = read("{L[i:0:3] {L[i:0:9] 2*A{fill=-inf}[i]}[i+6]}", A=(6,))
    after = kernel.apply(start, Merge(0))
    assert show(after) == "{L[i:0:3] -inf}"
    report = check((start,), (Step("merge-stage", start, after, Merge(0)),), (after,))
    assert not failures(report), str(report)


def test_an_empty_output_checks() -> None:
    start = read("{L[i:0:0] S[j:0:3] (A[j] + 1)^2}", A=(3,))
    assert check((start,), (), (start,))
    other = read("{L[i:0:0] S[j:0:3] A[j]}", A=(3,))
    assert failures(check((start,), (), (other,))) == ["the steps end in the stated program: "]


def test_points_are_distinct_and_inside() -> None:
    scope = read("{L[i:-2:3,j:1:2,k:0:9] A[i+2,j,k]}", A=(5, 2, 9))
    points = sample_points(scope, 24, seed=1)
    assert len({tuple(point) for point in points.tolist()}) == len(points) > 12
    assert tuple(points[0]) == (-2, 1, 0)
    for bound, column in zip(scope.loops, points.T, strict=True):
        assert bound.lo <= column.min() <= column.max() < bound.hi
    scalar = read("{S[i:0:3] A[i]}", A=(3,))
    assert sample_points(scalar, 24, seed=1).shape == (1, 0)
