"""The kernels of the show-cases' programs, given and by hand, at their small sizes.

    alone      each stage of a program by itself, also where an operator of the library computes it
    together   the stages that compilation takes together

Each kernel's result is compared with the exact interpreter's numbers (`tests.eops.random_kernels`).

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it runs Triton's kernels of the
named cases, and prints one JSON object a line: the case, the element type, stages alone and groups,
and how many kernels were launched for each.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import torch

from einderive.eops.back_ends.task import Task
from einderive.eops.back_ends.triton import TRITON, triton_stage
from einderive.eops.cpu_kernels.build import takes
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.fuse import groups
from einderive.eops.triton_kernels.build import Kernel
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.programs import data
from tests.eops.random_kernels import Case, case_of, compare, held, on_a_cpu
from tests.showcases.cases import REFERENCE
from tests.showcases.cases_11_17 import ALGEBRA
from tests.showcases.cases_18_30 import LAYERS

SHOWCASES: Final = {**REFERENCE, **ALGEBRA, **LAYERS}
Run: TypeAlias = Callable[[Mapping[Any, torch.Tensor]], tuple[torch.Tensor, ...]]
DTYPES: Final = ("float32", "float16")


def programs(name: str) -> Iterator[tuple[Scope, ...]]:
    """What the given formula writes, and the program by hand."""
    showcase = SHOWCASES[name]
    for text in (showcase.formula, showcase.hand):
        yield parse(*showcase.problem(text, showcase.small), "float32").roots()


def cases(name: str, chosen: Sequence[Group], dtype: str, roots: tuple[Scope, ...]) -> list[Case]:
    """The groups with their data.  No numbers are so large that they would be left out."""
    random = Random(name)
    inputs = {key: held(values, dtype) for key, values in data(roots, random).items()}
    found = [case_of(group, dtype, inputs, random) for group in chosen]
    return [case for case in found if case is not None]


def alone(roots: tuple[Scope, ...]) -> list[Group]:
    return [Group.alone(stage) for stage in stages(*roots)]


def together_on_a_cpu(roots: tuple[Scope, ...]) -> list[Group]:
    """Groups of several stages."""
    every = stages(*roots)
    reads = {stage: nested_scopes(stage) for stage in every}
    found = groups(reads, [stage for stage in every if takes(stage)], roots)
    return [group for group in found if len(group.stages) > 1]


def kernels_on_a_cpu(name: str) -> tuple[int, int]:
    """How many groups there are, and how many kernels ran."""
    asked = ran = 0
    for roots in programs(name):
        chosen = [*alone(roots), *together_on_a_cpu(roots)]
        asked += len(chosen)
        ran += sum(on_a_cpu(case) is not None for case in cases(name, chosen, "float32", roots))
    return asked, ran


def launched_in_triton(name: str, dtype: str) -> Iterator[tuple[str, int]]:
    """For each stage alone, and each group, how many kernels were launched."""
    launch, launches = Kernel.launch, list[Kernel]()

    def counted(kernel: Kernel, *arguments: Any) -> Any:
        launches.append(kernel)
        return launch(kernel, *arguments)

    with patch.object(Kernel, "launch", counted):
        for roots in programs(name):
            for kind, group, run in runs_in_triton(roots):
                for case in cases(name, [group], dtype, roots):
                    launches.clear()
                    given = zip(group.operands, case.operands, strict=True)
                    compare(case, run(dict(given)), str(group))
                    yield kind, len(launches)


def runs_in_triton(roots: tuple[Scope, ...]) -> Iterator[tuple[str, Group, Run]]:
    """Each stage alone and each group of stages, with what computes it on a GPU."""
    for group in alone(roots):
        run = triton_stage(group.stages[0])
        yield "alone", group, lambda buffers, run=run: (run(buffers),)
    tasks = [Task(stage, "cuda") for stage in stages(*roots)]
    assert TRITON.fuse is not None
    for fused in TRITON.fuse(tasks, roots):
        yield "together", Group(fused.stages, fused.outputs), fused.run


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    warnings.simplefilter("ignore", RuntimeWarning)
    for name in sys.argv[1:]:
        for dtype in DTYPES:
            found: dict[str, list[int]] = {"alone": [], "together": []}
            for kind, count in launched_in_triton(name, dtype):
                found[kind].append(count)
            print(json.dumps({"case": name, "dtype": dtype, **found}), flush=True)


if __name__ == "__main__":
    main()
