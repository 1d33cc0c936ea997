"""Generated kernels compiled ahead of time, for GPUs that need not be there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import torch
import triton.backends.nvidia.compiler as nvidia

from einderive.eops.ahead_of_time.compiled import compiled_for
from einderive.eops.ahead_of_time.resources import resources
from einderive.eops.triton_kernels.build import build, write_source
from einderive.eops.triton_kernels.split import split
from einderive.ta.errors import BuildError
from tests.amount import first, sampled
from tests.eops import triton_runner as runner
from tests.eops.ahead_of_time import TARGETS, compile_for, compile_kernel
from tests.eops.long_reductions import LONG, Long

STAGES = {
    "offset add": runner.offset_add(7, 7, 512),
    "band": runner.band(4, 64, 32, 1000, 64),
    "band in float64": runner.band(4, 64, 32, 1000, 64, "float64"),
    "band of halves": runner.band(4, 64, 32, 1000, 64, "float16"),
    "product of factors": runner.product_of_factors("float32"),
    "triangle of halves": runner.product_of_factors("float16", whole=False),
    "part of a long product": LONG["odd product"].parts[0],
    "transposed convolution": runner.transposed(8, 256),
    "softmax parts": runner.softmax_parts(),
    "tile": next(c.scope for c in runner.cases() if c.name == "transposed"),
    "norms": next(c.scope for c in runner.cases() if c.name == "norms"),
    "floors": runner.floors(),
    "functions": runner.all_functions("float32"),
    "functions of halves": runner.all_functions("float16"),
    "functions in float64": runner.all_functions("float64"),
}


@pytest.fixture(autouse=True)
def compiler_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))


HALVES = ("band of halves", "triangle of halves", "part of a long product")
"""Products that the matrix instructions of each GPU compute."""
LONGEST = ("functions of halves", "functions in float64")
FEW = [(name, "cuda:90") for name in STAGES if name not in LONGEST]
FEW += [(name, target) for target in TARGETS for name in ("offset add", *HALVES[:2])]
EVERY = [(name, target) for name in STAGES for target in TARGETS]


@sampled(6)
@pytest.mark.parametrize(
    ("name", "target"), first(len({*FEW}), list(dict.fromkeys([*FEW, *EVERY])))
)
def test_compiles_for(name: str, target: str, tmp_path: Path) -> None:
    made = compile_for(STAGES[name], target, tmp_path)
    assert len(made.binary) > 1000
    assert made.metadata["name"] == "eop"
    if target == "hip:gfx942":
        assert made.binary.startswith(b"\x7fELF")
        assert ".globl\teop" in made.assembly
        assert "v_mfma" in made.assembly or name not in HALVES
        return
    assert ".visible .entry eop(" in made.assembly
    assert f".target sm_{target.partition(':')[2]}" in made.assembly
    # A product in float32 is one: no tensor core rounds its operands to tf32.
    assert "tf32" not in made.assembly
    if name == "band":
        assert "fma.rn.f32" in made.assembly
    if name in HALVES:
        assert "mma" in made.assembly
        assert ".f32.f16.f16" in made.assembly
    if name == "band in float64":
        assert "f64" in made.assembly


@sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("target", TARGETS)
def test_sums_of_columns_read_16_bytes_at_once(target: str, dtype: str, tmp_path: Path) -> None:
    """A lane takes several columns that lie side by side, in every configuration."""
    stage = Long("Y[j] = sum[i](X[i,j])", {"X": (8192, 8192)}, dtype).stage
    found = split(stage)
    assert found is not None
    partial, total = (
        build(part, (given,), out_dtype=out, cache=tmp_path)
        for part, given, out in zip(found, (dtype, "float32"), ("float32", dtype), strict=True)
    )
    for kernel in (partial, total):
        for config in kernel.plan.configs:
            made = compile_kernel(kernel, target, config)
            if target.startswith("cuda"):
                assert made.loads == {"v4.b32"}
            else:
                assert "load_dwordx4" in made.assembly
            assert made.spilled() == 0


@pytest.mark.parametrize("name", ["softmax parts", "band"])
def test_what_a_kernel_takes_is_what_the_assembler_says(name: str, tmp_path: Path) -> None:
    """The assembler of NVIDIA, which was asked for the registers while it made them."""
    made = compile_for(STAGES[name], "cuda:90", tmp_path)
    source, tool = tmp_path / "kernel.ptx", nvidia.get_ptxas(90).path
    source.write_text(made.assembly)
    options = ["-v", "--gpu-name=sm_90a", "-o", tmp_path / "kernel.cubin"]
    said = subprocess.run([tool, *options, source], capture_output=True, text=True, check=True)
    (registers,) = re.findall(r"Used (\d+) registers", said.stdout + said.stderr)
    (spilled,) = re.findall(r"(\d+) bytes stack frame", said.stdout + said.stderr)
    found = resources(made)
    assert (found.registers, 4 * found.spilled) == (int(registers), int(spilled))
    assert found.shared == made.metadata["shared"]


def test_what_a_kernel_takes_of_amd(tmp_path: Path) -> None:
    found = resources(compile_for(STAGES["offset add"], "hip:gfx942", tmp_path))
    assert 0 < found.registers <= 512
    assert found.spilled == 0


@pytest.mark.parametrize("target", ["cpu", "cuda", "vulkan:1"])
def test_what_is_no_gpu_is_refused(target: str) -> None:
    with pytest.raises(BuildError, match="no GPU that Triton compiles for"):
        compiled_for(target, None, (), (), {})


def test_an_interpreted_kernel_is_not_compiled() -> None:
    with pytest.raises(BuildError, match="TRITON_INTERPRET"):
        compiled_for("cuda:90", print, (), (), {})


def test_sources_are_written_once_and_whole(tmp_path: Path) -> None:
    path = write_source("x = 1\n", tmp_path / "deep")
    assert write_source("x = 1\n", tmp_path / "deep") == path
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    path.write_text("x = 2\n")
    assert write_source("x = 1\n", tmp_path / "deep").read_text() == "x = 1\n"


def test_misfits_are_refused(tmp_path: Path) -> None:
    kernel = build(runner.matmul("float32", 4, 5, 6), cache=tmp_path)
    good = [torch.ones(4, 6), torch.ones(6, 5)]
    with pytest.raises(BuildError, match="2 tensors, not 1"):
        kernel(good[0])
    with pytest.raises(BuildError, match="not \\(4, 7\\)"):
        kernel(torch.ones(4, 7), good[1])
    with pytest.raises(BuildError, match="float64"):
        kernel(good[0].double(), good[1])
    with pytest.raises(BuildError, match="strides"):
        kernel(good[0], torch.ones(5, 6).t())
    with pytest.raises(BuildError, match="needs a GPU"):
        kernel(*good)
