"""What a compiled kernel takes of a GPU: registers and spilled words of a thread, shared memory.

For NVIDIA's GPUs `cuobjdump -res-usage`, which Triton brings along, reads them from the binary; for
AMD's GPUs they stand in the assembly text.  A stack frame is no spill by itself: the sine of a
large number indexes a table there.  Where the binary has one, the assembler says what it spilled.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from einderive.eops.ahead_of_time.compiled import Compiled, as_compiled
from einderive.ta.errors import BuildError

WORD = 4
"""Bytes of a register."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers of a thread, of 32 bits; how many words of 32 bits it keeps in memory instead;
    bytes of shared memory of a block of threads."""

    registers: int
    spilled: int
    shared: int


def resources(made: Compiled) -> Resources:
    """What the kernel takes.  Raises BuildError where nothing tells."""
    shared = int(made.metadata["shared"])
    if made.target.partition(":")[0] == "hip":
        registers = _largest(r"\bvgpr_count:\s*(\d+)", made.assembly)
        return Resources(registers, _largest(r"\bvgpr_spill_count:\s*(\d+)", made.assembly), shared)
    said = _usage(made.binary)
    registers, frame = (_largest(rf"\b{name}:(\d+)", said) for name in ("REG", "STACK"))
    return Resources(registers, _spilled(made) if frame else 0, shared)


def spilled(made: Compiled) -> int:
    """Words of a thread's registers that are kept in memory; 0 where no tool tells."""
    try:
        return resources(made).spilled
    except BuildError:
        return 0


def spilled_here(made: Any) -> int:
    """The same of what Triton has loaded to a GPU.  The driver counts the whole stack frame: only
    where there is one, the compiler's tools are asked."""
    if not made.n_spills:
        return 0
    target = made.metadata.target
    return spilled(as_compiled(f"{target.backend}:{target.arch}", made))


def _spilled(made: Compiled) -> int:
    """Words that the assembler writes to the stack for lack of registers, with Triton's options."""
    from triton.backends.nvidia.compiler import get_ptxas  # not on every platform

    tool = Path(get_ptxas(int(made.target.partition(":")[2])).path)
    target = re.search(r"^\.target (\w+)", made.assembly, re.MULTILINE)
    if target is None:
        raise BuildError("the assembly text does not say its target")
    options = ["-v", "--regAllocOptLevel=2", f"--gpu-name={target[1]}"]
    if not made.metadata["enable_fp_fusion"]:
        options.append("--fmad=false")
    with TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(made.assembly)
        said = _told([str(tool), *options, "-o", str(binary), str(source)])
    return -(-_largest(r"(\d+) bytes spill stores", said) // WORD)


def _usage(binary: bytes) -> str:
    import triton.backends.nvidia as nvidia  # not on every platform

    tool = Path(nvidia.__file__).parent / "bin" / "cuobjdump"
    with TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(binary)
        return _told([str(tool), "-res-usage", str(file)])


def _largest(pattern: str, said: str) -> int:
    found = re.findall(pattern, said)
    if not found:
        raise BuildError(f"the compiler's tools say nothing like {pattern}")
    return max(map(int, found))


def _told(command: list[str]) -> str:
    try:
        told = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        name = Path(command[0]).name
        raise BuildError(f"{name}, which tells a kernel's registers: {error}") from error
    return told.stdout + told.stderr
