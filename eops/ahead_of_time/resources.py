"""What a compiled kernel takes of a GPU: registers and spilled words of a thread, shared memory.

For NVIDIA's GPUs `cuobjdump -res-usage`, which Triton brings along, reads them from the binary; for
AMD's GPUs they stand in the assembly text.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

from einderive.eops.ahead_of_time.compiled import Compiled
from einderive.ta.errors import BuildError


@dataclass(frozen=True, slots=True)
class Resources:
    """Registers of a thread, of 32 bits; how many words of 32 bits it keeps in memory instead;
    bytes of shared memory of a block of threads."""

    registers: int
    spilled: int
    shared: int


def resources(made: Compiled) -> Resources:
    """What the kernel takes.  Raises BuildError where nothing tells."""
    backend = made.target.partition(":")[0]
    said = made.assembly if backend == "hip" else _usage(made.binary)
    names = ("vgpr_count:", "vgpr_spill_count:") if backend == "hip" else ("REG:", "STACK:")
    registers, spilled = (_largest(name, said) for name in names)
    words = spilled if backend == "hip" else spilled // 4
    return Resources(registers, words, int(made.metadata["shared"]))


def _largest(name: str, said: str) -> int:
    found = re.findall(rf"\b{name}\s*(\d+)", said)
    if not found:
        raise BuildError(f"the compiler's tools do not say {name.strip(':')}")
    return max(map(int, found))


def _usage(binary: bytes) -> str:
    import triton.backends.nvidia as nvidia  # not on every platform

    tool = Path(nvidia.__file__).parent / "bin" / "cuobjdump"
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(binary)
        file.flush()
        try:
            told = subprocess.run(
                [tool, "-res-usage", file.name], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise BuildError(f"{tool.name}, which tells a kernel's registers: {error}") from error
    return told.stdout + told.stderr
