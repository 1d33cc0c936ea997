"""eOperators of derived programs run as Triton kernels and compile for the three targets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import einderive as ed
from einderive.ta.ir.node import Scope
from tests.amount import CAMPAIGN, sampled
from tests.eops.ahead_of_time import TARGETS, compile_for
from tests.frontend import derived_kernels
from tests.prepared import interpreted


@cache
def records(amount: str) -> list[dict[str, Any]]:
    """Of all formulas, from one process."""
    with TemporaryDirectory() as folder:
        told = interpreted(derived_kernels.__file__, folder, amount, *derived_kernels.FORMULAS)
    return [json.loads(line) for line in told.splitlines()]


@sampled(4)
@pytest.mark.parametrize("amount", ["few", pytest.param("every", marks=CAMPAIGN)])
@pytest.mark.parametrize(
    ("formula", "operators", "step", "least"),
    [
        ("conv", {"matmul"}, "skew", 3),
        ("band", {"matmul"}, "phase", 3),
        ("conv transpose", {"matmul"}, "skew", 3),
        ("softmax-free scores with a mask", set(), None, 1),
    ],
)
def test_derived_programs_run_with_their_kernels(
    formula: str, operators: set[str], step: str | None, least: int, amount: str
) -> None:
    found = [record for record in records(amount) if record["formula"] == formula]
    assert len(found) >= least
    assert [record for record in found if record["error"] > 1e-5 or not record["kernels"]] == []
    assert any(
        operators == set(record["operators"]) - {"eOperator"}
        and (step is None or step in record["steps"])
        for record in found
    )


@cache
def beside_a_product(formula: str) -> Scope:
    """The eOperator of the best program of a matrix product and one eOperator."""
    text, shapes = derived_kernels.FORMULAS[formula]
    few = ed.Budget(states=600)
    derivation = ed.derive(text, target="cuda:90", most=60, budget=few, **shapes)
    plan = next(
        plan
        for plan in derivation.candidates
        if sorted(s.operator or "eOperator" for s in plan.stages) == ["eOperator", "matmul"]
    )
    (stage,) = (stage for stage in plan.stages if stage.operator is None)
    return stage.scope


@sampled(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", ["conv", "band", "conv transpose"])
def test_derived_kernels_compile_ahead_of_time(formula: str, target: str, tmp_path: Path) -> None:
    compiled = compile_for(beside_a_product(formula), target, tmp_path)
    assert len(compiled.binary) > 0
    assert len(compiled.assembly) > 0
