"""Generated kernels compiled for GPUs that need not be there."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import triton.backends.nvidia as triton_nvidia

from einderive.eops.triton_kernels.blocks import Config
from einderive.eops.triton_kernels.build import FP_FUSION, Kernel, build
from einderive.ta.ir.node import Scope

TARGETS = {"cuda:80": (80, 32), "cuda:90": (90, 32), "hip:gfx942": ("gfx942", 64)}
"""The architecture and the threads of a warp."""
POINTER = {
    "bool": "*i1",
    "uint8": "*u8",
    "int8": "*i8",
    "int16": "*i16",
    "int32": "*i32",
    "int64": "*i64",
    "float16": "*fp16",
    "bfloat16": "*bf16",
    "float32": "*fp32",
    "float64": "*fp64",
}


@dataclass(frozen=True)
class Compiled:
    """What a target's compiler made of a kernel: Triton's own program, assembly text (PTX or AMD
    GCN), the binary, and the compiler's record (shared memory in bytes, warps, ...)."""

    program: str
    assembly: str
    binary: bytes
    metadata: Mapping[str, Any]

    def spilled(self) -> int:
        """Bytes of a thread's registers that are kept in memory."""
        stated = re.findall(r"vgpr_spill_count:\s+(\d+)", self.assembly)
        if stated:
            return 4 * max(map(int, stated))
        tool = Path(triton_nvidia.__file__).parent / "bin" / "cuobjdump"
        with NamedTemporaryFile(suffix=".cubin") as file:
            file.write(self.binary)
            file.flush()
            told = subprocess.run(
                [tool, "-res-usage", file.name], capture_output=True, text=True, check=True
            )
        return max(map(int, re.findall(r"STACK:(\d+)", told.stdout + told.stderr)))


def compile_for(scope: Scope, target: str, cache: Path) -> Compiled:
    """The stage in the first configuration of its plan, its pointers aligned to 16 bytes."""
    kernel = build(scope, cache=cache)
    return compile_kernel(kernel, target, kernel.plan.configs[0])


def compile_kernel(kernel: Kernel, target: str, config: Config) -> Compiled:
    """The kernel in this configuration, likewise."""
    from triton import compile as compile_source  # not on every platform
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    backend, _, _ = target.partition(":")
    plan = kernel.plan
    pointers = [POINTER[dtype] for dtype in (*plan.dtypes, *(dtype for _, dtype in plan.outs))]
    names = kernel.function.arg_names[: len(pointers)]
    signature = dict(zip(names, pointers, strict=True))
    signature |= {block: "constexpr" for block, _ in config.blocks}
    constants = {(len(names) + i,): size for i, (_, size) in enumerate(config.blocks)}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(names))}
    compiled = compile_source(
        ASTSource(kernel.function, signature, constants, aligned),
        target=GPUTarget(backend, *TARGETS[target]),
        options={
            "num_warps": config.num_warps,
            "num_stages": config.num_stages,
            "enable_fp_fusion": FP_FUSION,
        },
    )
    text, binary = ("ptx", "cubin") if backend == "cuda" else ("amdgcn", "hsaco")
    assembly, code = compiled.asm[text], compiled.asm[binary]
    program = str(compiled.asm["ttir"])
    return Compiled(program, str(assembly), bytes(code), compiled.metadata._asdict())
