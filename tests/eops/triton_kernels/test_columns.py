"""Kernels of rows that lie side by side, as the columns of a matrix: each program reads whole
sectors of memory, however short the part of a row that it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from einderive.eops.triton_kernels.rows import LONGEST, SECTOR_BYTES
from tests.amount import first, sampled
from tests.eops.ahead_of_time import TARGETS, compile_kernel
from tests.eops.triton_kernels import columns
from tests.eops.triton_rows_runner import COLUMNS, LAYER_NORM, SOFTMAX, Case
from tests.prepared import interpreted

RANDOM = [str(seed) for seed in range(240)]
BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


@pytest.fixture(scope="module")
def records(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """What the interpreter's process found, by seed, of those that are tested."""
    functions = [item for item in request.session.items if isinstance(item, pytest.Function)]
    here = [f for f in functions if f.function is test_random_columns]
    seeds = [function.callspec.params["seed"] for function in here]
    told = interpreted(columns.__file__, tmp_path_factory.mktemp("kernels"), *seeds)
    return {record["seed"]: record for record in map(json.loads, told.splitlines())}


@sampled(12)
@pytest.mark.parametrize("seed", RANDOM)
def test_random_columns(records: dict[str, dict[str, Any]], seed: str) -> None:
    assert "failure" not in records[seed], records[seed]
    assert records[seed]["off"] <= 1
    assert records[seed]["line"] > 1


MIDDLE = "Y[b,i,j] = softmax[i](X[b,i,j])"
STANDARD = (
    "M[j] = mean[i](X[i,j]); V[j] = mean[i]((X[i,j]-M[j])^2); Y[i,j] = (X[i,j]-M[j])/V[j]*G[i]"
)
LARGE = {
    "first": Case("", COLUMNS, {"X": (1024, 4096)}),
    "first, of halves": Case("", COLUMNS, {"X": (1024, 4096)}, "float16"),
    "first, few places": Case("", COLUMNS, {"X": (20, 4096)}, "bfloat16"),
    "first, most places": Case("", COLUMNS, {"X": (2048, 8192)}),
    "first, long": Case("", COLUMNS, {"X": (8192, 65536)}),
    "first, long, of halves": Case("", COLUMNS, {"X": (8192, 65536)}, "bfloat16"),
    "middle": Case("", MIDDLE, {"X": (64, 512, 1024)}),
    "middle, of halves": Case("", MIDDLE, {"X": (64, 77, 1024)}, "float16"),
    "standard": Case("", STANDARD, {"X": (512, 8192), "G": (512,)}),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_program_takes_whole_sectors(name: str) -> None:
    """As many columns as one holds at least, and as many elements as registers hold at most."""
    made = LARGE[name].plan()
    assert made.whole == ("long" not in name)
    for config in made.configs:
        rows, places = config.block("BLOCK"), config.block("BLOCK_R")
        assert rows * BYTES[LARGE[name].dtype] >= SECTOR_BYTES
        assert rows * places <= LONGEST
    if not made.whole:
        assert {config.block("BLOCK") * config.block("BLOCK_R") for config in made.configs} == {
            4096
        }


FEW = [(name, "cuda:90") for name in LARGE] + [("first", target) for target in TARGETS]
EVERY = [(name, target) for name in LARGE for target in TARGETS]


@sampled(4)
@pytest.mark.parametrize(
    ("name", "target"), first(len({*FEW}), list(dict.fromkeys([*FEW, *EVERY])))
)
def test_machine_code_reads_16_bytes_at_once(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every configuration, along the columns: elements of one column are far apart."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))
    kernel = LARGE[name].kernel(tmp_path)
    for config in kernel.plan.configs:
        made = compile_kernel(kernel, target, config)
        assert made.spilled() == 0
        if target.startswith("cuda"):
            assert "v4.b32" in made.loads
            assert made.loads <= {"v4.b32"} or name == "standard"  # the others read G
            assert made.stores == {"v4.b32"}
        else:
            assert "load_dwordx4" in made.assembly


@pytest.mark.parametrize(
    ("text", "shapes", "line"),
    [
        (SOFTMAX, {"X": (300, 1000)}, 1),
        (LAYER_NORM, {"X": (300, 1000), "G": (1000,), "B": (1000,)}, 1),
        ("Y[i,j] = softmax[j](X[i,j]*B[i])", {"X": (300, 1000), "B": (300,)}, 1),
        ("Y[b,i,j] = softmax[i,j](X[b,i,j])", {"X": (30, 7, 50)}, 1),
        (MIDDLE, {"X": (30, 7, 50)}, 32),
        (MIDDLE, {"X": (30, 70, 3)}, 4),
        (MIDDLE, {"X": (30, 70, 1)}, 1),
        ("Y[i] = softmax[i](X[i])", {"X": (300,)}, 1),
        ("Y[i,j] = softmax[j](X[j,i])", {"X": (300, 40)}, 32),
        (
            "M[i] = max[j](X[i+j]) where i in 0:30, j in 0:9; Y[i,j] = X[i+j]-M[i] where j in 0:9",
            {"X": (40,)},
            1,
        ),
    ],
)
def test_rows_that_lie_side_by_side(text: str, shapes: dict[str, Any], line: int) -> None:
    assert Case("", text, shapes).plan().line == line


def test_few_columns_are_also_tried_in_parts_of_sectors() -> None:
    """64 columns would be 8 programs."""
    found = Case("", COLUMNS, {"X": (1024, 64)}).plan()
    assert min(config.block("BLOCK") for config in found.configs) == 2
