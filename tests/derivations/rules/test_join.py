"""Scopes that become parts of one, and weights that are folded."""

from __future__ import annotations

import numpy as np
import pytest

import einderive as ed
from einderive.derivations.record.verify import check
from einderive.derivations.rules import JOINT_RULES
from einderive.derivations.steps.kernel import apply
from einderive.derivations.steps.read_part import ReadPart
from einderive.ta.errors import NameUnknownError, RuleRefused
from einderive.ta.ir.affine import Row, iterator
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse_expression
from tests.oracle import equal

PROGRAMS = {
    "two products": (
        "Y[t,o] = X[t,i]*W[o,i]; Z[t,o] = X[t,i]*V[o,i]",
        {"X": (3, 4), "W": (2, 4), "V": (5, 4)},
    ),
    "three products, joined in the first loop": (
        "Y[o,t] = W[o,i]*X[t,i]; Z[o,t] = V[o,i]*X[t,i]; U[o,t] = X[t,i]*T[o,i]",
        {"X": (3, 4), "W": (2, 4), "V": (5, 4), "T": (1, 4)},
    ),
    "two convolutions, 3 x 3 and 1 x 1": (
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:4, w in 0:5\n"
        "Z[n,f,h,w] = A[n,c,h,w]*L[f,c]",
        {"A": (1, 2, 4, 5), "K": (3, 2, 3, 3), "L": (2, 2)},
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_join_gives_parts_of_one_producer(name: str) -> None:
    text, shapes = PROGRAMS[name]
    roots = ed.parse(text, **shapes).roots()
    groups = [group for rule in JOINT_RULES for group in rule.groups(roots)]
    assert groups
    for group in groups:
        assert {step.before for step in group} == set(roots)
        producers = {stages(step.after)[-2] for step in group}
        assert len(producers) == 1
        for step in group:
            assert equal(step.before, step.after) is None
            assert apply(step.before, step.witness, exact=True) is step.after
        result = tuple(step.after for root in roots for step in group if step.before is root)
        assert check(roots, group, result)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[t,o] = X[t,i]*W[o,i]; Z[t,o] = U[t,i]*W[o,i]", {"X": (3, 4), "W": (2, 4), "U": (5, 4)}),
        ("Y[t] = X[t,i]*W[i]; Z[t] = X[t,i]*V[i]", {"X": (3, 4), "W": (4,), "V": (4,)}),
        (
            "Y[t,o] = X[t,i]*W[o,i]; Z[t,o] = X[t,i+1]*V[o,i]",
            {"X": (3, 4), "W": (2, 4), "V": (2, 4)},
        ),
    ],
    ids=["other loop lengths", "no loop of their own", "shifted read"],
)
def test_no_join_of_what_differs_otherwise(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    roots = ed.parse(text, **shapes).roots()
    groups = [g for rule in JOINT_RULES for g in rule.groups(roots)]
    for group in groups:  # the first pair shares W and joins along t
        assert all(equal(step.before, step.after) is None for step in group)
    assert bool(groups) == (text.count("W[o,i]") == 2)


def test_read_part_refuses_another_part_and_reads_outside() -> None:
    text, shapes = PROGRAMS["two products"]
    y, z = ed.parse(text, **shapes).roots()
    (group,) = JOINT_RULES[0].groups((y, z))
    witness = next(step.witness for step in group if step.before is y)
    assert isinstance(witness, ReadPart)
    for rows, reason in (
        ((iterator(0), Row(1, ((1, 1),))), "read back, is not the scope"),
        ((iterator(0), Row(9, ((1, 1),))), "outside its loops"),
        ((iterator(0),), "another number of rows"),
        ((iterator(0), Row(0, ((7, 1),))), "not there"),
    ):
        with pytest.raises(RuleRefused, match=reason):
            apply(y, ReadPart(witness.producer, rows))


def test_projections_become_one_matmul_with_folded_weights() -> None:
    text = "Q[t,o] = X[t,i]*A[o,i]; K[t,o] = X[t,i]*B[o,i]; V[t,o] = X[t,i]*C[o,i]"
    shapes = {"X": (16, 64), "A": (64, 64), "B": (32, 64), "C": (64, 64)}
    d = ed.derive(text, target="cuda:90", weights=["A", "B", "C"], **shapes)
    operators = [stage.operator for stage in d.candidates[0].stages]
    assert operators.count("matmul") == 1
    assert "folded" in operators
    assert d.check()


def test_folded_weights_are_computed_again_for_others() -> None:
    text = "T[t,o] = X[t,i]*W[o,i]; Y[t,o] = T[t,o]*g[o] + b[o]"
    shapes = {"X": (5, 6), "W": (4, 6), "g": (4,), "b": (4,)}
    d = ed.derive(text, weights=["W", "g", "b"], **shapes)
    plans = [p for p in d.candidates if any(s.operator == "folded" for s in p.stages)]
    assert plans
    from einderive.frontend.running.execute import executable

    run = executable(plans[0], "cpu")
    generator = np.random.default_rng(0)
    for _ in range(3):
        arrays = {n: generator.standard_normal(s).astype("float32") for n, s in shapes.items()}
        inputs = {t: ed_torch(arrays[t.name]) for t in d.source.inputs}
        expected = (arrays["X"] @ arrays["W"].T) * arrays["g"] + arrays["b"]
        (first,), (second,) = run(inputs), run(inputs)
        np.testing.assert_allclose(first.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(first.numpy(), second.numpy())
        for tensor in d.source.inputs:  # written to in place: seen as well
            if tensor.name == "W":
                inputs[tensor].mul_(2)
        expected = 2 * (arrays["X"] @ (arrays["W"] / 2).T) * arrays["g"] + arrays["b"]
        np.testing.assert_allclose(run(inputs)[0].numpy(), expected, rtol=1e-4, atol=1e-5)


def ed_torch(array):
    import torch

    return torch.from_numpy(array)


def test_weights_are_named_and_kept_in_the_record(tmp_path) -> None:
    with pytest.raises(NameUnknownError, match="not a tensor of the formula"):
        ed.derive("Y[i] = A[i,k]*x[k]", weights=["W"], A=(3, 4), x=(4,))
    d = ed.derive(PROGRAMS["two products"][0], weights=["W", "V"], **PROGRAMS["two products"][1])
    d.save(tmp_path / "d.json")
    again = ed.load(tmp_path / "d.json")
    assert again.weights == ("W", "V")
    assert [p.roots for p in again.candidates] == [p.roots for p in d.candidates]
    assert [[s.operator for s in p.stages] for p in again.candidates] == [
        [s.operator for s in p.stages] for p in d.candidates
    ]
    assert again.check()


@pytest.mark.parametrize("rule", JOINT_RULES, ids=lambda rule: rule.name)
def test_examples_of_joint_rules(rule) -> None:
    assert rule.examples
    for example in rule.examples:
        program = ed.parse(example.before, **example.shapes)
        (group,) = rule.groups(program.roots())
        tensors = {tensor.name: tensor for tensor in program.inputs}
        first = next(step for step in group if step.before is program.roots()[0])
        assert first.after is parse_expression(example.after, tensors)
