"""The checker: it accepts what the search derives, and nothing that was tampered with."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from einderive.derivations.checker.witness import fault
from einderive.derivations.record import verify
from einderive.derivations.record.trace_stages import claim_of
from einderive.derivations.record.verify import Report, check
from einderive.derivations.search.extract import Plan
from einderive.derivations.steps import kernel, reindex_sums
from einderive.derivations.steps.distribute import Distribute
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.merge import Merge
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.eops.library import OPERATORS
from einderive.ta.equality.positions import positions
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show
from tests.amount import CAMPAIGN, PART, one_in, sampled
from tests.derivations.seeds import corrupt, read
from tests.derivations.small import FORMULAS, MACHINES, roots, searched

EVERY_FORMULA = pytest.mark.parametrize("name", one_in(2, FORMULAS))


def plans(name: str) -> list[Plan]:
    return [plan for machine in MACHINES for plan in searched(name, machine).plans]


def longest(name: str) -> Plan:
    return max(plans(name), key=lambda plan: len(plan.steps))


def doubled(scope: Scope) -> Scope:
    return make_scope(scope.loops, scope.sums, expr.mul(expr.const(2), scope.body), scope.reducer)


def failures(report: Report) -> list[str]:
    assert bool(report) is all(finding.ok for finding in report.findings)
    return [f"{finding.what}: {finding.detail}" for finding in report.findings if not finding.ok]


DERIVED = [name for name in FORMULAS if name not in ("product of three", "maximum pool")]


def test_these_formulas_are_derived_in_several_steps() -> None:
    assert [name for name in FORMULAS if len(longest(name).steps) >= 2] == DERIVED


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
            line.startswith(f"step {number + 1}, {step.rule}: ") for line in failures(report)
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


@sampled(2)
@pytest.mark.parametrize("name", DERIVED)
def test_a_missing_or_repeated_step_is_found(name: str) -> None:
    plan = longest(name)
    for number in range(len(plan.steps)):
        missing = (*plan.steps[:number], *plan.steps[number + 1 :])
        assert failures(check(roots(name), missing, plan.roots))
    assert failures(check(roots(name), (*plan.steps, plan.steps[0]), plan.roots))


@EVERY_FORMULA
def test_a_changed_change_of_iterators_is_found(name: str) -> None:
    """Unless it leads to an equal scope all the same."""
    random = Random(name)
    for plan in plans(name):
        for number, step in enumerate(plan.steps):
            witness = corrupt(step.witness, random)
            maps = isinstance(witness, ReindexSums | ReindexLoops)
            if witness is None or not maps or gives(step.before, witness) is not None:
                continue
            steps = list(plan.steps)
            steps[number] = replace(step, witness=witness)
            report = check(roots(name), steps, plan.roots)
            assert failures(report) or fault(step.before, step.after, witness) is None


def gives(before: Scope, witness: kernel.Witness) -> Scope | None:
    try:
        return kernel.apply(before, witness)
    except RuleRefused:
        return None


@EVERY_FORMULA
def test_a_step_of_another_name_or_place_is_judged_by_its_sides(name: str) -> None:
    """The rule's name and a witness that names a place prove nothing and are not needed."""
    plan = longest(name)
    renamed = [replace(step, rule="conjure") for step in plan.steps]
    assert check(roots(name), renamed, plan.roots)
    for number, step in enumerate(plan.steps):
        if not isinstance(step.witness, ReindexSums | ReindexLoops):
            steps = list(plan.steps)
            steps[number] = replace(step, witness=Merge(99), after=doubled(step.after))
            assert failures(check(roots(name), steps, plan.roots))


@pytest.mark.parametrize("name", DERIVED)
def test_swapped_sides_are_found(name: str) -> None:
    plan = longest(name)
    steps = [replace(step, before=step.after, after=step.before) for step in plan.steps]
    assert failures(check(roots(name), steps, plan.roots))
    assert any("does not occur" in line for line in failures(check(plan.roots, plan.steps, ())))


def test_tensors_of_one_name_and_two_shapes_are_two_tensors() -> None:
    start = read("{L[i:0:3] A[i]}", A=(3,))
    other = read("{L[i:0:3] A[i]}", A=(4,))
    assert failures(check((start,), (Step("conjure", start, other, Merge(0)),), (other,)))


@pytest.mark.parametrize("part", [PART, pytest.param(1, marks=CAMPAIGN)])
@EVERY_FORMULA
def test_claims_about_stages_are_checked(name: str, part: int) -> None:
    for plan in plans(name)[::part]:
        claims = [claim_of(stage, OPERATORS) for stage in plan.stages]
        report = check(roots(name), plan.steps, plan.roots, claims)
        assert not failures(report), str(report)
        bound = [claim for claim in claims if claim.binding is not None]
        if bound:
            missing = [claim for claim in claims if claim is not bound[-1]]
            report = check(plan.roots, (), plan.roots, missing)
            assert not missing or any("is computed" in line for line in failures(report))
        for number, claim in enumerate(claims):
            if claim.binding is not None:
                binding = replace(claim.binding, coefficient=claim.binding.coefficient + 1)
                wrong = [*claims[:number], claim._replace(binding=binding), *claims[number + 1 :]]
                report = check(plan.roots, (), plan.roots, wrong)
                assert [line.split()[:2] for line in failures(report)] == [
                    ["stage", str(number + 1)]
                ]


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


def test_a_mistake_in_the_kernel_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the checker, which does not know the kernel, and by the values without either."""
    start = read("{S[i:0:4] A[i]}", A=(4,))
    double = affine.scale(affine.iterator(0), 2)
    half = affine.floordiv(affine.iterator(0), 2)
    after = read("{S[i:0:2] A[2*i]}", A=(4,))
    witness = ReindexSums((double,), (half,), (Range(0, 2),))
    with pytest.raises(RuleRefused):
        kernel.apply(start, witness)
    monkeypatch.setattr(reindex_sums, "_require_inverse", lambda *_: None)
    assert kernel.apply(start, witness) is after
    step = Step("phase", start, after, witness)
    found = failures(check((start,), (step,), (after,)))
    assert found[0] == "step 1, phase: the two maps of the witness are not inverse to each other"
    found = failures(check((start,), (replace(step, witness=Merge(0)),), (after,)))
    assert found[0] == "step 1, phase: the two sides are different sums of products"
    monkeypatch.setattr(verify, "not_shown", lambda *_: None)
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
    points = positions(scope, 24)
    assert len({tuple(point) for point in points.tolist()}) == len(points) > 12
    assert tuple(points[0]) == (-2, 1, 0)
    for bound, column in zip(scope.loops, points.T, strict=True):
        assert bound.lo <= column.min() <= column.max() < bound.hi
    scalar = read("{S[i:0:3] A[i]}", A=(3,))
    assert positions(scalar, 24).shape == (1, 0)


def test_points_that_cost_too_much_are_left_out_and_said_to_be() -> None:
    shapes = dict.fromkeys("ABC", (5000, 5000))
    text = "{{L[i:0:5000,l:0:5000] S[k:0:5000] {}[i,k]*C[k,l]}}"
    start = read(text.format("{L[i:0:5000,k:0:5000] S[j:0:5000] A[i,j]*B[j,k]}"), **shapes)
    other = read(text.format("{L[i:0:5000,k:0:5000] S[j:0:4999] A[i,j]*B[j,k]}"), **shapes)
    report = check((start,), (Step("tighten", start, other, Merge(0)),), (other,))
    assert "left  not evaluated at sampled points: each needs over" in str(report)
    assert failures(report)[0] == "step 1, tighten: the two sides are different sums of products"
    right = check((start,), (Step("name", start, start, Merge(0)),), (start,))
    assert "left" not in str(right)


def test_what_was_not_looked_at_is_said_at_the_end() -> None:
    shapes = dict.fromkeys("ABC", (5000, 5000))
    text = "{{L[i:0:5000,l:0:5000] S[k:0:5000] {}[i,k]*C[k,l]}}"
    start = read(text.format("{L[i:0:5000,k:0:5000] S[j:0:5000] A[i,j]*B[j,k]}"), **shapes)
    shifted = read(text.format("{L[i:0:5000,k:0:5000] S[j:1:5001] A[i,j-1]*B[j-1,k]}"), **shapes)
    report = check((start,), (Step("shift", start, shifted, Merge(0)),), (shifted,))
    assert report
    assert [finding.looked for finding in report.findings].count(False) == 1
    assert str(report).endswith("was not looked at")


def test_stages_of_more_than_2_to_63_elements_are_evaluated_at_points() -> None:
    far = 1 << 40
    shapes = {"A": (far,), "B": (far,), "C": (far, 1 << 30)}
    inner = f"{{{{L[i:0:{far},j:0:{far}] {{}}}}}}"
    text = f"{{{{L[i:0:{far},j:-3:{far}] {{}}[i,j+2]*{{}}[i,j-1] + C[i,j]}}}}"
    product, other = inner.format("A[i]*B[j]"), inner.format("A[i]*B[j] + where(j > 5, A[i], 0)")
    start = read(text.format(product, product), **shapes)
    guarded = "where(j >= 1, B[j-1]*A[i], 0)"
    merged = read(text.format(product, guarded).replace(f"{guarded}[i,j-1]", guarded), **shapes)
    wrong = read(text.format(product, other), **shapes)
    report = check((start,), (Step("merge", start, merged, Merge(0)),), (merged,))
    assert report, str(report)
    assert "exactly: 24 points" in str(report)
    found = failures(check((start,), (), (wrong,)))
    assert any("agree at sampled points" in line and ": at (" in line for line in found), found


def test_rationals_with_too_many_digits_are_not_evaluated() -> None:
    scope = read("{L[i:0:3] relu(A[i])}", A=(3,))
    for _ in range(40):
        scope = read_over(scope, "relu({p}[i] + {p}[i]^2)")
    copied = read_over(scope, "{p}[i]")
    report = check((scope,), (Step("copy", scope, copied, Merge(0)),), (copied,))
    assert report, str(report)
    assert "left  not evaluated at sampled points: rationals" in str(report)


def read_over(scope: Scope, text: str) -> Scope:
    """The text as a body over the scope `p`."""
    found = parse_expression(f"{{L[i:0:3] {text.format(p='p')}}}", {"p": scope})
    assert isinstance(found, Scope)
    return found
