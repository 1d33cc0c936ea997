"""Generated kernels compiled ahead of time, for GPUs that need not be there."""

from __future__ import annotations

import os
import re
import subprocess
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import triton.backends.nvidia.compiler as nvidia

from einderive.eops.ahead_of_time.compiled import compiled_for
from einderive.eops.ahead_of_time.resources import resources, spilled_here
from einderive.eops.triton_kernels import build as build_module
from einderive.eops.triton_kernels.build import Kernel, build, write_source
from einderive.eops.triton_kernels.split import split
from einderive.eops.triton_kernels.tuning.blocks import Config, without_spills
from einderive.ta.errors import BuildError
from einderive.ta.notation.parse import parse
from tests.amount import first, sampled
from tests.eops import triton_runner as runner
from tests.eops.ahead_of_time import TARGETS, Made, compile_for, compile_kernel
from tests.eops.long_reductions import LONG, Long

CONVOLUTION = "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:14, w in 0:14"
SIZES = {"A": (16, 14, 14, 64), "K": (3, 3, 64, 64)}
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
    "transposed operand in bfloat16": parse(
        "Y[i,j] = A[k,i]*B[k,j]", {"A": (4096, 4096), "B": (4096, 4096)}, "bfloat16"
    ).roots()[0],
    **{
        f"convolution 3x3 in {dtype}": parse(CONVOLUTION, SIZES, dtype).roots()[0]
        for dtype in ("float16", "bfloat16")
    },
}


@pytest.fixture(autouse=True)
def compiler_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "compiled"))


HALVES = (
    *("band of halves", "triangle of halves", "part of a long product"),
    "transposed operand in bfloat16",
    *("convolution 3x3 in float16", "convolution 3x3 in bfloat16"),
)
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
    assert made.spilled() == 0
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
        assert (".f32.bf16.bf16" if "bfloat16" in name else ".f32.f16.f16") in made.assembly
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


def assembled(made: Made, folder: Path, *options: str) -> str:
    """What NVIDIA's assembler says while it makes a binary for an H100."""
    source, tool = folder / "kernel.ptx", nvidia.get_ptxas(90).path
    source.write_text(made.assembly)
    options = ("-v", "--gpu-name=sm_90a", *options, "-o", str(folder / "kernel.cubin"))
    said = subprocess.run([tool, *options, source], capture_output=True, text=True, check=True)
    return said.stdout + said.stderr


@pytest.mark.parametrize("name", ["softmax parts", "band"])
def test_what_a_kernel_takes_is_what_the_assembler_says(name: str, tmp_path: Path) -> None:
    made = compile_for(STAGES[name], "cuda:90", tmp_path)
    said = assembled(made, tmp_path)
    (registers,) = re.findall(r"Used (\d+) registers", said)
    (spilled,) = re.findall(r"(\d+) bytes spill stores", said)
    found = resources(made)
    assert (found.registers, 4 * found.spilled) == (int(registers), int(spilled))
    assert found.shared == made.metadata["shared"]


def test_a_stack_frame_is_no_spill(tmp_path: Path) -> None:
    """The sine of a large number reads a table that lies on the stack; of registers, as few as
    these have to be spilled."""
    stage = parse("Y[i] = sin(X[i])", {"X": (4096,)}, "float64").roots()[0]
    made = compile_for(stage, "cuda:90", tmp_path)
    frames = re.findall(r"(\d+) bytes stack frame", assembled(made, tmp_path))
    assert max(map(int, frames)) > 0
    assert made.spilled() == 0
    few = re.sub(r"(?m)^(\.reqntid .*)$", r"\1\n.maxnreg 24", made.assembly)
    assert few != made.assembly
    said = assembled(replaced(made, few), tmp_path, "--regAllocOptLevel=2")
    stores = max(map(int, re.findall(r"(\d+) bytes spill stores", said)))
    binary = (tmp_path / "kernel.cubin").read_bytes()
    assert stores > 0
    assert 4 * resources(replaced(made, few, binary)).spilled == stores


def replaced(made: Made, assembly: str, binary: bytes = b"") -> Made:
    return Made(made.target, made.program, assembly, binary, made.metadata)


def test_a_kernel_that_spills_gets_more_warps() -> None:
    one = Config((("BLOCK", 64),), 2)
    least = {2: 9, 4: 1, 8: 0, 16: 0}
    assert without_spills(one, lambda config: least[config.num_warps]).num_warps == 8
    assert without_spills(one, lambda _: 0) == one
    assert without_spills(one, lambda _: 7) == one


def test_more_warps_are_decided_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """At the first launch on a GPU, which here only counts."""
    kernel, ran = build(STAGES["softmax parts"], cache=tmp_path), list[int]()
    (one, *_) = kernel.plan.configs

    def run(kernel: Kernel, config: Config, *_: object) -> int:
        ran.append(config.num_warps)
        return config.num_warps

    monkeypatch.setattr(Kernel, "_run", run)
    monkeypatch.setattr(build_module, "spilled_here", lambda made: int(made < 4 * one.num_warps))
    outs: Any = [SimpleNamespace(device=torch.device("cuda"))]
    warps = [factor * one.num_warps for factor in (1, 2, 4)]
    assert kernel.launch(one, (), outs) == warps[-1]
    assert kernel.launch(one, (), outs) == warps[-1]
    assert ran == [*warps, warps[-1], warps[-1]]
    assert kernel.fitted == {one: replace(one, num_warps=warps[-1])}
    assert kernel.compiled == {one: warps[-1]}


@pytest.mark.parametrize("frame", [0, 40])
def test_what_a_loaded_kernel_spills(frame: int, tmp_path: Path) -> None:
    """The driver tells the frame alone, in words: here one that no spill needs."""
    made = compile_for(STAGES["softmax parts"], "cuda:90", tmp_path)
    asm = {"ttir": made.program, "ptx": made.assembly, "cubin": made.binary}
    metadata = namedtuple("Metadata", made.metadata)(**made.metadata)  # type: ignore[misc]  # names
    loaded = SimpleNamespace(n_spills=frame, asm=asm, metadata=metadata)
    assert spilled_here(loaded) == 0


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


def test_sources_on_disk_stay_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those used last stay, and so does what Python compiled."""
    monkeypatch.setattr(build_module, "MOST_BYTES", 4_000)
    (tmp_path / "__pycache__").mkdir()
    texts = [f"x = {k}\n".ljust(900, "#") for k in range(5)]
    paths = [write_source(text, tmp_path) for text in texts[:4]]
    for second, path in enumerate(paths):
        os.utime(path, (second, second))
    assert write_source(texts[0], tmp_path) == paths[0]  # used least lately until here
    paths.append(write_source(texts[4], tmp_path))
    assert [path.exists() for path in paths] == [True, False, False, False, True]
    assert (tmp_path / "__pycache__").is_dir()


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
