"""Products that compute gathers where they read them: meaning, choice, machine code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.eops.back_ends.task import Task
from einderive.eops.back_ends.triton import TRITON
from einderive.eops.triton_kernels.cost import cost
from einderive.eops.triton_kernels.told import told_group
from einderive.frontend.trial.as_kernels import kernel_seconds
from tests.amount import sampled
from tests.eops.ahead_of_time import TARGETS, compile_kernel
from tests.eops.triton_kernels.gathers import products
from tests.eops.triton_kernels.gathers.products import PRODUCTS, PROGRAMS, Product
from tests.prepared import interpreted

RANDOM = [str(seed) for seed in range(240)]


@pytest.fixture(scope="module")
def records(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the interpreter's process found, by case, of the cases that are tested."""
    functions = [item for item in request.session.items if isinstance(item, pytest.Function)]
    here = [f for f in functions if f.function in (test_named_products, test_random_products)]
    names = [function.callspec.params["name"] for function in here]
    folder = tmp_path_factory.mktemp("kernels")
    told = interpreted(products.__file__, *names, EINDERIVE_CACHE=folder)
    return {record["name"]: record for record in map(json.loads, told.splitlines())}


def is_right(record: dict[str, Any]) -> None:
    """One kernel with one product of tiles ran, and its numbers are near enough."""
    assert "failure" not in record, record
    assert (record["dots"], record["stores"]) == (1, 1)
    assert record["off"] <= 1


@sampled(3)
@pytest.mark.parametrize("name", PRODUCTS)
def test_named_products(records: dict[str, dict[str, Any]], name: str) -> None:
    is_right(records[name])


@sampled(24)
@pytest.mark.parametrize("name", RANDOM)
def test_random_products(records: dict[str, dict[str, Any]], name: str) -> None:
    is_right(records[name])


def test_a_nan_that_no_index_picks_does_nothing(records: dict[str, dict[str, Any]]) -> None:
    assert records["NaN"]["rows"] == [3]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_get_one_kernel(records: dict[str, dict[str, Any]], name: str) -> None:
    record = records[f"program {name} False"]
    assert record["words"] == ["eOperator (Triton)"]
    assert record["error"] < 1e-4


@pytest.mark.parametrize("name", PROGRAMS)
def test_operands_of_other_types_are_gathered_first(
    records: dict[str, dict[str, Any]], name: str
) -> None:
    assert records[f"program {name} True"]["error"] < 1e-4


def fused(case: Product) -> list[set[object]]:
    """The groups of stages that become one kernel where kernels are asked for."""
    tasks = [Task(stage, "cuda", compiled=True) for stage in case.group.stages]
    assert TRITON.fuse is not None
    return [{*one.stages} for one in TRITON.fuse(tasks, case.roots)]


@pytest.mark.parametrize("name", PRODUCTS)
def test_one_kernel(name: str) -> None:
    assert fused(PRODUCTS[name]) == [{*PRODUCTS[name].group.stages}]


LARGE = {"I": (4096,), "W": (1024, 4096)}
APART = {
    "columns for many tiles": Product("Y[i,f] = E[k,I[i]]*W[k,f]", {"E": (1024, 999)} | LARGE),
    "an index an element": Product(
        "Y[i,f] = E[I[i,k]]*W[k,f]", {"E": (9000,), "I": (4096, 1024), "W": (1024, 4096)}
    ),
    "a result": Product(
        "out G[i,k] = E[I[i],k]; out Y[i,f] = G[i,k]*W[k,f]", PRODUCTS["rows"].shapes
    ),
    "a read beside": Product(
        "G[i,k] = E[I[i],k]; out Y[i,f] = G[i,k]*W[k,f]; out Z[i] = max[k](G[i,k])",
        PRODUCTS["rows"].shapes,
    ),
    "a scatter beside": Product(
        "G[i,k] = E[I[i],k]; out Y[i,f] = G[i,k]*W[k,f]; out Z[I[i],k] += G[i,k]",
        PRODUCTS["rows"].shapes | {"Z": (60, 37)},
    ),
    "an index that may be a fraction": Product(
        "P[i] = 2*X[i]; out Y[i,f] = E[P[i],k]*W[k,f]",
        {"E": (50, 37), "X": (41,), "W": (37, 19)},
    ),
    "a read that misses": Product(
        "G[i,k] = E[I[i],k]; Y[i,f] = G[i+1,k]*W[k,f] where i in 0:41", PRODUCTS["rows"].shapes
    ),
    "a small product": Product(
        "Y[i,f] = E[I[i],k]*W[k,f]", {"E": (50, 37), "I": (41,), "W": (37, 15)}
    ),
    "a long sum": Product(
        "Y[i,f] = E[I[i],k]*W[k,f]", {"E": (50, 90_000), "I": (41,), "W": (90_000, 19)}
    ),
}


@pytest.mark.parametrize("name", APART)
def test_gathers_by_themselves(name: str) -> None:
    gathers = {stage for stage in APART[name].group.stages if products.is_gather(stage)}
    assert gathers
    assert not any(gathers & group for group in fused(APART[name]))


def test_a_gather_reads_no_stage_of_its_kernel() -> None:
    text = "D[v,k] = 2*E[v,k]; out Y[i,f] = D[I[i],k]*D[k,f]"
    case = Product(text, {"E": (37, 37), "I": (41,)})
    assert case.plan is None
    assert [len(group) for group in fused(case)] == [2]  # D is written


def test_two_products_each_compute_the_gather() -> None:
    text = "G[i,k] = E[I[i],k]; out Y[i,f] = G[i,k]*W[k,f]; out Z[i,f] = G[i,k]*V[k,f]"
    case = Product(text, PRODUCTS["rows"].shapes | {"V": (37, 19)})
    assert [len(group) for group in fused(case)] == [2, 2]


def test_an_index_of_rows_is_read_before_the_loop() -> None:
    outside, inside = PRODUCTS["rows"].kernel.source.split("for start")
    assert "a1 + (i0[:, None])" in outside
    assert "a1" not in inside
    outside, inside = PRODUCTS["rows of the sum"].kernel.source.split("for start")
    assert "tl.load" not in outside
    assert "a1 + (s2[:, None])" in inside


def test_the_plan_says_what_is_picked() -> None:
    case = PRODUCTS["two indices"]
    found = told_group(case.group, {s: case.types[s.name] for s in case.group.operands})
    assert found is not None
    assert "i3 = floor_divide(I[i0], 2), in 0:20 or no read" in found.plan
    assert "i4 = remainder(J[i2], 4) - 1, in 0:3 or no read" in found.plan


def test_rows_that_are_picked_count_once_each() -> None:
    """And the table at most once."""
    for rows, count in ((5000, 1000), (500, 1000)):
        shapes = {"E": (rows, 256), "I": (count,), "W": (256, 512)}
        made = Product("Y[i,f] = E[I[i],k]*W[k,f]", shapes, "float16").kernel.plan
        found = cost(made, made.configs[0])
        assert found.read == 2 * min(rows, count) * 256 + 8 * count + 2 * 256 * 512
        assert found.written == 2 * count * 512
        assert found.moved >= found.read + found.written


def test_the_prediction_leaves_out_what_is_not_written() -> None:
    """Where kernels are asked for, a gather of rows is a part of the product."""
    seconds = []
    for text in ("Y[i,f] = E[I[i],k]*W[k,f]", "Y[i,f] = E[k,I[i]]*W[k,f]"):
        table = (1024, 1024)
        given = ed.derive(
            text, dtypes={"I": "int64"}, target="cuda:90", budget=0.01, E=table, **LARGE
        ).unchanged
        seconds.append((kernel_seconds(given, "cuda:90"), given.seconds))
    (rows, apart), (columns, _) = seconds
    assert rows < apart == pytest.approx(columns)


@sampled(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PRODUCTS)
def test_compiles_for(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interpreter takes what the compiler may refuse."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = PRODUCTS[name].kernel
    made = compile_kernel(kernel, target, kernel.plan.configs[0])
    assert made.spilled() == 0
    assert made.program.count("tt.dot") == 1


WIDE = {
    "rows": Product(
        "Y[i,f] = E[I[i],k]*W[k,f]",
        {"E": (32_000, 1024), "I": (8192,), "W": (1024, 1024)},
        "float16",
    ),
    "rows of the sum": Product(
        "Y[n,f] = A[n,k]*W[I[k],f]", {"A": (2048, 512), "I": (512,), "W": (6400, 1024)}, "bfloat16"
    ),
    "experts": Product(
        "Y[e,i,f] = X[I[e,i],k]*W[e,k,f]",
        {"X": (4096, 1024), "I": (8, 1000), "W": (8, 1024, 4096)},
        "float16",
    ),
}


@pytest.mark.parametrize("name", WIDE)
@pytest.mark.parametrize("target", TARGETS)
def test_matrix_instructions_and_copies_of_16_bytes(
    target: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    kernel = WIDE[name].kernel
    made = compile_kernel(kernel, target, kernel.plan.configs[0])
    assert made.spilled() == 0
    if target.startswith("hip"):
        assert "v_mfma" in made.assembly
        assert "load_dwordx4" in made.assembly
        return
    short = "bf16" if WIDE[name].dtype == "bfloat16" else "f16"
    assert f".f32.{short}.{short}" in made.assembly
    assert ("wgmma" if target == "cuda:90" else "mma.sync") in made.assembly
    copied = {*re.findall(r"cp\.async\.\w+\.shared\.global [^,]*, [^,]*, (\w+)", made.assembly)}
    assert "0x10" in copied
    assert copied <= {"0x10", "0x8"}  # 8 for an index
