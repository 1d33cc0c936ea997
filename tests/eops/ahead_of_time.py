"""Generated kernels compiled for GPUs that need not be there."""

from __future__ import annotations

import re
from pathlib import Path

from einderive.eops.ahead_of_time.compiled import Compiled
from einderive.eops.ahead_of_time.resources import resources
from einderive.eops.triton_kernels.build import Kernel, build
from einderive.eops.triton_kernels.tuning.blocks import Config
from einderive.ta.ir.node import Scope

LOAD = re.compile(r"ld\.global(?:\.[lL]\w*::\w+)*\.((?:v\d\.)?b\d+)")
STORE = re.compile(r"st\.global\.((?:v\d\.)?b\d+)")
TARGETS = ("cuda:80", "cuda:90", "hip:gfx942")


class Made(Compiled):
    """A kernel that was compiled."""

    @property
    def loads(self) -> set[str]:
        """The widths of loads from the GPU's memory, by PTX, such as v4.b32."""
        return {*LOAD.findall(self.assembly)}

    @property
    def stores(self) -> set[str]:
        return {*STORE.findall(self.assembly)}

    def spilled(self) -> int:
        """Words of a thread's registers that are kept in memory."""
        return resources(self).spilled


def compile_for(scope: Scope, target: str, cache: Path) -> Made:
    """The stage in the first configuration of its plan, its pointers aligned to 16 bytes."""
    kernel = build(scope, cache=cache)
    return compile_kernel(kernel, target, kernel.plan.configs[0])


def compile_kernel(kernel: Kernel, target: str, config: Config) -> Made:
    """The kernel in this configuration, likewise."""
    return Made(**vars(kernel.compiled_for(target, config)))
