"""Kernels of several stages over the same rows: their meaning, passes over memory, machine code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from einderive.eops.triton_kernels.rows import row_plan
from tests.amount import first, sampled
from tests.eops import triton_rows_runner as runner
from tests.eops.ahead_of_time import TARGETS, compile_for, compile_kernel
from tests.eops.triton_rows_runner import LAYER_NORM, SOFTMAX, Case
from tests.prepared import interpreted

CASES = {case.name: case for case in runner.CASES}


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def records(kernels: Path) -> dict[str, dict[str, Any]]:
    """What the interpreter's process found, by case."""
    told = interpreted(runner.__file__, kernels)
    return {record["name"]: record for record in map(json.loads, told.splitlines())}


@sampled(4)
@pytest.mark.parametrize("name", CASES)
def test_meaning_in_the_interpreter(records: dict[str, dict[str, Any]], name: str) -> None:
    assert records[name]["error"] <= CASES[name].tolerance


def test_a_nan_spoils_its_row_alone(records: dict[str, dict[str, Any]]) -> None:
    assert records["NaN"]["error"] == 0


@pytest.mark.parametrize("name", [name for name, _, _ in runner.PROGRAMS])
def test_programs_get_one_kernel(records: dict[str, dict[str, Any]], name: str) -> None:
    assert records[name]["words"] == ["eOperator (Triton)"]
    assert records[name]["error"] < 1e-6


def test_a_group_writes_what_a_stage_in_no_group_reads(records: dict[str, dict[str, Any]]) -> None:
    """Two groups would compute T, of which that of the product is as slow as two kernels."""
    record = records[runner.BESIDE[0]]
    assert record["words"] == ["eOperator (Triton)"] * 2
    assert record["error"] < 1e-6


@pytest.mark.usefixtures("records")
@pytest.mark.parametrize("name", [n for n, text, _ in runner.PROGRAMS if text in runner.ALONE])
def test_exported_programs_run_without_einderive(kernels: Path, name: str) -> None:
    program = "import runpy, sys; sys.modules['einderive'] = None; "
    program += f"runpy.run_path({str(kernels / name / 'program.py')!r}, run_name='__main__')"
    assert interpreted("-I", "-c", program).splitlines()[-1] == "right"


@pytest.mark.parametrize("name", CASES)
def test_an_operand_is_read_once_where_a_row_fits(name: str, tmp_path: Path) -> None:
    """By the text: the first operand has one load, or one in each pass over a long row."""
    case = CASES[name]
    kernel = case.kernel(tmp_path)
    labels = [source.label for source in kernel.plan.sources]
    operand = labels.index(next(iter(case.shapes)))
    loads = re.findall(rf"tl\.load\(a{operand} ", kernel.source)
    chunks = kernel.source.count("for start in range")
    assert chunks == case.passes
    assert len(loads) == max(1, chunks) + ("border" in name or "fill" in name)  # two places


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i] = sum[j](X[i,j]); Z[j] = sum[i](X[i,j])", {"X": (6, 7)}),  # rows and columns
        ("Y[i] = prod[j](X[i,j])", {"X": (6, 7)}),
        ("M[i] = max[j](X[i,j]); Y[i,j] = X[i,j] - M[i] + i", {"X": (6, 7)}),
        ("Y[i,j] = 2*X[i,j]", {"X": (6, 7)}),
    ],
)
def test_other_groups_have_no_rows(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    group = Case("", text, shapes).group()
    assert row_plan(group, ("float32",) * len(group.operands)) is None


def test_integers_are_left_to_other_kernels() -> None:
    assert row_plan(Case("", SOFTMAX, {"X": (6, 7)}).group(), ("int32",)) is None


@pytest.fixture(autouse=True)
def compiler_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))


WIDE = {
    "softmax": Case("", SOFTMAX, {"X": (4096, 4096)}),
    "softmax, halved warps": Case("", SOFTMAX, {"X": (4096, runner.LONGEST // 2)}),
    "softmax, longest": Case("", SOFTMAX, {"X": (4096, runner.LONGEST)}),
    "softmax of halves": Case("", SOFTMAX, {"X": (4096, 4096)}, "float16"),
    "layer norm": Case("", LAYER_NORM, {"X": (4096, 1024), "G": (1024,), "B": (1024,)}),
    "softmax, long": Case("", SOFTMAX, {"X": (64, 1 << 16)}),
}


FEW = [*((name, "cuda:90") for name in WIDE), *(("softmax", target) for target in TARGETS)]
EVERY = [(name, target) for name in WIDE for target in TARGETS]


@sampled(4)
@pytest.mark.parametrize(
    ("name", "target"), first(len({*FEW}), list(dict.fromkeys([*FEW, *EVERY])))
)
def test_machine_code_has_wide_loads_and_no_spills(name: str, target: str, tmp_path: Path) -> None:
    kernel = WIDE[name].kernel(tmp_path)
    for config in {kernel.plan.configs[0], kernel.plan.configs[-1]}:
        made = compile_kernel(kernel, target, config)
        assert made.spilled() == 0
        if target.startswith("cuda"):
            assert made.loads == {"v4.b32"}
            assert made.stores == {"v4.b32"}
        else:
            assert "dwordx4" in made.assembly


ADDITION = "Z[i] = X[i] + Y[i]"


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("target", TARGETS)
def test_an_addition_is_one_pass_of_wide_loads(dtype: str, target: str, tmp_path: Path) -> None:
    (scope,) = Case("", ADDITION, {"X": (1 << 24,), "Y": (1 << 24,)}, dtype).group().stages
    made = compile_for(scope, target, tmp_path)
    assert made.program.count("tt.load") == 2
    assert made.program.count("tt.store") == 1
    assert made.spilled() == 0
    if target.startswith("cuda"):
        assert made.loads == {"v4.b32"}
        assert made.stores == {"v4.b32"}
    else:
        assert "dwordx4" in made.assembly
