"""`python -m einderive.frontend.bench.kernels.loading`: how long kernels take in a new process.

    compiled    the first process plans, writes and compiles each kernel, and keeps it on disk
    loaded      the second one plans and writes it again, and reads the compiled code

All in seconds of the processor, as a busy machine changes those less.  Imports are stated apart.
Every third stage of `frontend.stages`, dense operands.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from statistics import mean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

EVERY = 3
ELEMENTS = 40_000
BUILT = "--built"


def groups() -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The stages' programs as groups, with the types of their operands."""
    import einderive as ed
    from einderive.eops.cpu_kernels.build import takes
    from einderive.eops.loops.arrange import dense, plan
    from einderive.eops.loops.drafts.group import Group
    from einderive.frontend.stages import STAGES
    from einderive.ta.ir.subst import stages

    for stage in STAGES[::EVERY]:
        tensors = stage.tensors(stage.values(ELEMENTS))
        types = {name: str(tensor.dtype)[6:] for name, tensor in tensors.items()}
        shapes: Any = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        program = ed.parse(stage.text, dtypes=types, **shapes, **stage.beside(ELEMENTS))
        roots = program.roots()
        group = Group(stages(*roots), roots)
        one = all(map(takes, group.stages)) and plan(group, dense(group)) is not None
        if one and not any(made.empty for made in group.stages):
            yield group, tuple(types[getattr(source, "name", "")] for source in group.operands)


def built() -> None:
    """Builds all kernels, and prints seconds: of imports, of each kernel, of its machine code."""
    import torch

    started = process_time()
    import numba

    importing = process_time() - started
    started = process_time()
    building: Any = import_module("einderive.eops.cpu_kernels.build")
    from einderive.eops.cpu_kernels.typing import typing_of

    own = process_time() - started
    from einderive.eops.loops.arrange import dense, plan

    listed = [(group, [getattr(torch, dtype) for dtype in types]) for group, types in groups()]
    typings = [typing_of(group, types) for group, types in listed]
    plan.cache_clear()
    code = list[float]()
    stored = building.stored

    def timed(name: str) -> Any:
        begun = process_time()
        found = stored(name)
        code.append(process_time() - begun)
        return found

    building.stored = timed
    seconds = list[float]()
    for (group, _), typing in zip(listed, typings, strict=True):
        if typing is not None:
            begun = process_time()
            building.build(group, dense(group), typing)
            seconds.append(process_time() - begun)
    found = {"numba": numba.__version__, "importing": importing, "own": own}
    print(json.dumps(found | {"seconds": seconds, "code": code}))


def main() -> int:
    """Prints means over the kernels."""
    with TemporaryDirectory() as folder:
        for word in ("compiled", "loaded"):
            done = subprocess.run(
                [sys.executable, "-m", "einderive.frontend.bench.kernels.loading", BUILT],
                env=os.environ | {"EINDERIVE_CACHE": folder},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            found = json.loads(done.stdout.splitlines()[-1])
            first, *others = (1e3 * one for one in found["seconds"])
            code = 1e3 * mean(found["code"][1:])
            print(
                f"{word}: {len(others) + 1} kernels, the first {first:.0f} ms, the others "
                f"{mean(others):.0f} ms each, the slowest {max(others):.0f}; of these {code:.1f} "
                f"ms to read machine code; import of numba {found['numba']} "
                f"{found['importing']:.2f} s, of the room of kernels {found['own']:.2f} s",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    if BUILT in sys.argv:
        built()
    else:
        sys.exit(main())
