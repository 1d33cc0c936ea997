"""Predicted costs of Triton kernels: bytes and operations as counted in the interpreter, times as
measured on a GPU."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.eops.triton_kernels.build import build
from einderive.eops.triton_kernels.cost import CLEARLY, by_prediction, cost
from einderive.eops.triton_kernels.plan import Plan, plan
from einderive.eops.triton_kernels.rows import RowPlan
from einderive.eops.triton_kernels.tuning.blocks import loop_configs
from einderive.eops.triton_kernels.tuning.device import H100, H200
from einderive.frontend.kernels.texts import kernel_texts
from einderive.ta.ir.subst import stages
from tests.eops import triton_costs_runner as runner
from tests.eops.triton_costs_runner import Case
from tests.prepared import ROOT, interpreted
from tools.gpu.kernels import KERNELS

CASES = {case.name: case for case in runner.CASES}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the interpreter's process found, by case."""
    told = interpreted(runner.__file__, tmp_path_factory.mktemp("kernels"))
    found = map(json.loads, told.splitlines())
    return {record["name"]: record["found"] for record in found}


@pytest.mark.parametrize("name", CASES)
def test_the_interpreter_counts_the_same(records: dict[str, list[Any]], name: str) -> None:
    case = CASES[name]
    made = case.plan()
    assert ("rows" if isinstance(made, RowPlan) else made.form) == case.form
    for found in records[name]:
        assert found["loaded"] >= found["elements"] > 0
        assert found["read"] == found["elements"]
        assert found["written"] == found["results"]
        assert found["programs"] <= found["asked"]
        assert found["asked"] == pytest.approx(case.asked * found["programs"], rel=0.03)
        assert case.asked > 1 or found["asked"] == found["programs"]
        if case.whole:
            assert found["operations"] == found["arithmetic"]
            assert found["products"] == found["dots"]
        else:
            assert found["operations"] <= found["arithmetic"]
            assert found["products"] < found["dots"] or case.form != "dot"


def test_bytes_are_never_below_those_that_are_read(records: dict[str, list[Any]]) -> None:
    found = records["bytes"]
    assert all(predicted >= counted for _, predicted, counted in found)
    assert sum(predicted == counted > 0 for _, predicted, counted in found) > 0.8 * len(found)


def test_a_factor_within_is_computed_for_each_tile(
    records: dict[str, list[Any]],
) -> None:
    config = CASES["factors within"].plan().configs[0]
    tiles = 64 // config.block("BLOCK_N")
    assert records["factors within"][0]["arithmetic"] == 64 * 64 * (tiles + 1)
    assert records["a product"][0]["dots"] == 2 * 64 * 64 * 128


def stage_plan(text: str, dtype: str = "float32", **shapes: tuple[int, ...]) -> Plan:
    (stage,) = stages(*ed.parse(text, dtypes=dtype, **shapes).roots())
    return plan(stage)


PRODUCT = "Y[i,j] = A[i,k]*B[k,j]"


@pytest.mark.parametrize(("m", "n", "k"), [(4096, 4096, 4096), (512, 1024, 64), (64, 4096, 256)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_tiles_ask_for_a_side_once_for_each_tile_of_the_other(
    m: int, n: int, k: int, dtype: str
) -> None:
    made = stage_plan(PRODUCT, dtype, A=(m, k), B=(k, n))
    item = 4 if dtype == "float32" else 2
    for config in made.configs:
        found = cost(made, config)
        rows, columns = (-(-m // config.block("BLOCK_M")), -(-n // config.block("BLOCK_N")))
        assert found.programs == rows * columns
        assert found.asked == item * (m * k * columns + k * n * rows + m * n)
        assert found.read == item * (m * k + k * n)
        assert found.products == 2 * m * n * k
        assert found.read + found.written <= found.moved <= found.asked


def test_what_fits_the_cache_comes_from_memory_once() -> None:
    small = stage_plan(PRODUCT, A=(2048, 2048), B=(2048, 2048))
    large = stage_plan(PRODUCT, A=(8192, 8192), B=(8192, 8192))
    for made, again in ((small, False), (large, True)):
        found = cost(made, made.configs[0])
        assert (found.moved > found.read + found.written) is again
        held = replace(H100, cache=1 << 40)
        assert cost(made, made.configs[0], held).moved == found.read + found.written


def test_strided_reads_move_whole_sectors() -> None:
    for step, factor in ((1, 1), (2, 2), (4, 4), (8, 8), (64, 8)):
        text = f"Y[i] = A[{step}*i] where i in 0:65536"
        made = stage_plan(text, A=(65536 * step,))
        found = cost(made, made.configs[0])
        assert found.read == found.written == 65536 * 4
        assert found.moved - found.written == factor * found.read


GROWING: dict[str, Any] = {
    "Y[i,j] = 2*A[i,j]": lambda n: {"A": (n, n)},
    "Y[i,j] = 2*A[j,i]": lambda n: {"A": (n, n)},
    "Y[i] = sum[k](A[i,k])": lambda n: {"A": (n, n)},
    "Y[k] = sum[i](A[i,k])": lambda n: {"A": (n, n)},
    "Y[i,j] = max[k](A[i,k]+B[k,j])": lambda n: {"A": (n, n), "B": (n, n)},
    PRODUCT: lambda n: {"A": (n, n), "B": (n, n)},
    "M[i] = max[j](X[i,j]); Y[i,j] = exp(X[i,j]-M[i])": lambda n: {"X": (n, n)},
}


@pytest.mark.parametrize("text", GROWING)
def test_more_takes_longer(text: str) -> None:
    least = dict.fromkeys(("read", "written", "moved", "work", "seconds"), 0.0)
    for size in (64, 256, 1024, 4096, 8192):
        made = Case("", text, GROWING[text](size), "").plan()
        found = min((cost(made, one) for one in made.configs), key=lambda one: one.seconds)
        now = {
            "read": found.read,
            "written": found.written,
            "moved": found.moved,
            "work": found.operations + found.products,
            "seconds": found.seconds,
        }
        seconds = now.pop("seconds")
        assert all(now[name] > least[name] for name in now)
        assert seconds >= least["seconds"]
        now["seconds"] = seconds
        least = now


TABLE = re.compile(
    r"^(\w[\w -]*), (float32|bfloat16) +1 +([\d.]+) +\d+ +\d+% +[\d.]+ +[\d.]+ +\d", re.MULTILINE
)
MEASURED = TABLE.findall((ROOT / "docs" / "measurements" / "gpu.md").read_text("utf-8"))
TEXTS = {case.name: case for case in KERNELS}


def test_the_measured_table_is_read() -> None:
    assert len(MEASURED) == 2 * len(KERNELS)


SHORTER = ("gated gelu", "bfloat16")
"""Measured before functions of half types were computed to fewer digits."""


@pytest.mark.parametrize(("name", "dtype", "measured"), MEASURED, ids=lambda each: str(each))
def test_kernels_take_as_long_as_was_measured(name: str, dtype: str, measured: str) -> None:
    """Within a factor of 1.5.  The table has the fastest configuration of one kernel each: of sums
    of columns, those that are not divided."""
    case = TEXTS[name]
    made = Case(name, case.text, dict(case.shapes), "", dtype).plan()
    seconds = min(cost(made, config, H200).seconds for config in made.configs)
    ratio = seconds / (float(measured) * 1e-3)
    assert ratio < 1.5
    assert ratio > 1 / 1.5 or (name, dtype) == SHORTER


PRODUCTS = {
    ("product", "float32"): 3.022,
    ("product", "bfloat16"): 0.199,
    ("transposed", "float32"): 2.805,
    ("transposed", "bfloat16"): 0.207,
}
"""Milliseconds, docs/measurements/gpu.md, m = n = k = 4096."""


@pytest.mark.parametrize(("name", "dtype"), PRODUCTS)
def test_so_do_products(name: str, dtype: str) -> None:
    text = PRODUCT if name == "product" else "Y[i,j] = A[k,i]*B[k,j]"
    made = stage_plan(text, dtype, A=(4096, 4096), B=(4096, 4096))
    found = cost(made, made.configs[0], H200)
    assert 1 / 1.2 < found.seconds / (PRODUCTS[name, dtype] * 1e-3) < 1.2
    assert found.bound == "arithmetic"


def test_few_programs_leave_a_gpu_idle() -> None:
    """3.2 ms were measured for sums of columns with one output a lane (docs/measurements/gpu.md);
    as a flat reduction they took 0.11 ms."""
    made = stage_plan("Y[k] = sum[i](A[i,k])", A=(8192, 8192))
    assert made.form == "flat"
    loop = replace(made, form="loop", configs=loop_configs(8192, 4))
    found = cost(loop, loop.configs[0])
    assert found.bound == "waits"
    assert 2e-3 < found.seconds < 5e-3
    assert min(cost(made, one).seconds for one in made.configs) < 2e-4


def test_a_configuration_that_is_clearly_faster_comes_first() -> None:
    """128 programs ask an H200's memory for too little at once.  The fastest one was measured to
    reach all of its bandwidth (docs/measurements/gpu.md)."""
    made = stage_plan("Y[i] = sum[k](A[i,k])", "bfloat16", A=(8192, 8192))
    first = by_prediction(made, H200).configs
    seconds = {one: cost(made, one, H200).seconds for one in made.configs}
    assert {*first} == {*made.configs}
    assert len(first) == len(made.configs)
    assert seconds[first[0]] == min(seconds.values()) < CLEARLY * seconds[made.configs[0]]
    assert [one for one in made.configs if one != first[0]] == [*first[1:]]
    again = by_prediction(replace(made, configs=first), H200)
    assert again.configs == first


def test_kernels_and_reports_take_this_order(tmp_path: Path) -> None:
    text, shape = "Y[i] = sum[k](A[i,k])", (1000, 16384)
    made = stage_plan(text, A=shape)
    first = by_prediction(made).configs
    assert first[0] != made.configs[0]
    kernel = build(made.scope, cache=tmp_path)
    assert kernel.plan.configs == first
    assert kernel.chosen_config() == first[0]
    found = ed.derive(text, A=shape, target="cuda:90", budget=Budget(states=1))
    bare = replace(
        found.unchanged,
        stages=tuple(s._replace(operator=None, binding=None) for s in found.unchanged.stages),
    )
    (told,) = kernel_texts(0, bare, found.staged(bare), found.target)
    assert [one.seconds for one in told.launches] == [cost(made, one).seconds for one in first]
    assert [one.chosen for one in told.launches] == [True, *[False] * (len(first) - 1)]


@pytest.mark.parametrize("text", ["Y[i,j] = 2*A[i,j]", "Y[i,j] = 2*A[j,i]", PRODUCT])
def test_others_stay_as_they_are(text: str) -> None:
    shapes = {name: (4096, 4096) for name in "AB" if f"{name}[" in text}
    made = stage_plan(text, **shapes)
    assert by_prediction(made) is made


@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = A[i,j]*2 where i in 0:0, j in 0:8",
        "Y[i] = sum[k](A[i,k]) where i in 0:3, k in 0:0",
        "Y[i] = max[k](A[i,k]) where i in 0:0, k in 0:3",
    ],
)
def test_nothing_costs_a_launch(text: str) -> None:
    made = stage_plan(text, A=(8, 8))
    for config in by_prediction(made).configs:
        found = cost(made, config)
        assert (found.read, found.operations, found.products) == (0, 0.0, 0.0)
        assert found.seconds < 2 * H100.launch


def test_a_report_shows_it() -> None:
    text = "M[i] = max[j](A[i,j]); Y[i,j] = exp(A[i,j]-M[i])"
    found = ed.derive(text, A=(96, 64), target="cuda:90", budget=Budget(states=1))
    (kernel,) = kernel_texts(0, found.unchanged, found.staged(found.unchanged), found.target)
    lines = kernel.plan.splitlines()
    assert "v0 = a0[" in kernel.plan
    place = next(k for k, line in enumerate(lines) if line.startswith("predicted for an H100, "))
    size = 96 * 64
    assert lines[place].endswith("1.7 us, by launch")
    assert lines[place + 1 :] == [
        f"    reads {4 * size:,} bytes of operands, writes {4 * size:,} of results",
        f"    moves {8 * size:,} bytes of memory, asks for {8 * size:,}",
        f"    computes {18 * size + 96:,} operations, on 12 programs",
    ]
    assert all(one.seconds and not one.timed for one in kernel.launches)


def test_the_page_shows_it(tmp_path: Path) -> None:
    made = ed.derive(
        "Y[i,j] = exp(A[i,j])+A[j,i]", A=(64, 64), target="cuda:90", budget=Budget(states=1)
    )
    path = tmp_path / "d.html"
    made.to_html(path)
    page = path.read_text("utf-8")
    assert "predicted for an H100" in page
    assert "reads 16,384 bytes of operands, writes 16,384 of results" in page


def test_a_stage_without_elements_has_a_cost() -> None:
    made = stage_plan("Y[i] = 2*X[i]", X=(0,))
    found = cost(made, made.configs[0])
    assert found.bound == "launch"
    assert found.read == found.written == 0
    assert found.seconds > 0
