"""eOperators of derived programs run as Triton kernels and compile for the three targets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from tests.amount import CAMPAIGN
from tests.eops.ahead_of_time import TARGETS, compile_for
from tests.frontend import derived_kernels


@pytest.fixture(scope="module", params=["few", pytest.param("every", marks=CAMPAIGN)])
def records(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> list[dict[str, Any]]:
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    folder = str(tmp_path_factory.mktemp("kernels"))
    done = subprocess.run(
        [sys.executable, derived_kernels.__file__, folder, request.param],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("formula", "operators", "step"),
    [
        ("conv", {"matmul"}, "skew"),
        ("band", {"matmul"}, "phase"),
        ("conv transpose", {"matmul"}, "skew"),
        ("softmax-free scores with a mask", set(), None),
    ],
)
def test_derived_program_runs_with_its_kernels(
    records: list[dict[str, Any]], formula: str, operators: set[str], step: str | None
) -> None:
    found = [
        record
        for record in records
        if record["formula"] == formula
        and operators == set(record["operators"]) - {"eOperator"}
        and (step is None or step in record["steps"])
    ]
    assert found
    for record in found:
        assert record["kernels"] >= 1
        assert record["error"] < 1e-5, record


def test_every_program_with_a_kernel_is_right(records: list[dict[str, Any]]) -> None:
    assert len(records) >= 10
    assert [record for record in records if record["error"] > 1e-5 or not record["kernels"]] == []


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("formula", ["conv", "band", "conv transpose"])
def test_derived_kernels_compile_ahead_of_time(formula: str, target: str, tmp_path: Path) -> None:
    text, shapes = derived_kernels.FORMULAS[formula]
    derivation = ed.derive(text, target="cuda:90", most=60, **shapes)
    plan = next(
        plan
        for plan in derivation.candidates
        if sorted(s.operator or "eOperator" for s in plan.stages) == ["eOperator", "matmul"]
    )
    (stage,) = (stage for stage in plan.stages if stage.operator is None)
    compiled = compile_for(stage.scope, target, tmp_path)
    assert len(compiled.binary) > 0
    assert len(compiled.assembly) > 0
