"""Random groups of stages in float32 and float16, and what kernels make of them.

    expected   the exact interpreter's numbers for data that the type holds
    allowed    the type's rounding, and how far the numbers move where the data move by it

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it runs groups in Triton's
interpreter: `random_kernels.py SEED COUNT` prints one JSON object, what ran how often.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from einderive.eops.back_ends.triton import triton_stage
from einderive.eops.cpu_kernels.build import build, built
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels import plan as stage_plan
from einderive.eops.triton_kernels.build import build_rows, build_stage
from einderive.eops.triton_kernels.launch import names_of
from einderive.eops.triton_kernels.rows import row_plan
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.subst import sources
from tests.eops.loops.interpreted import Values, value_of
from tests.eops.loops.programs import candidates, data, drawn

ROUNDED: Final = {"float32": 1e-6, "float16": 1e-3}
"""Some units in the last place."""
MOVED: Final = 30.0
"""How much further than the numbers move with the data, since every operation rounds."""
SHORTEST: Final = 2
"""Of a side of a tile."""
TAME: Final = 100.0
"""Numbers beyond this are left out: those that follow from them may leave the type's range."""


class Case(NamedTuple):
    """A group, the values of its operands, and what its outputs are to be."""

    group: Group
    dtype: str
    operands: tuple[torch.Tensor, ...]
    expected: tuple[NDArray[np.float64], ...]
    allowed: tuple[NDArray[np.float64], ...]


def cases(seed: object) -> Iterator[Case]:
    """Groups without end, of one stage and of several, of both types by turns."""
    number = 0
    while True:
        random = Random(f"{seed} {number}")
        roots, dtype = drawn(random), ("float32", "float16")[number % 2]
        number += 1
        inputs = {name: held(values, dtype) for name, values in data(roots, random).items()}
        for group in candidates(roots):
            found = case_of(group, dtype, inputs, random)
            if found is not None:
                yield found


def held(values: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """The numbers next to these that the type holds."""
    return torch.tensor(values).to(getattr(torch, dtype)).double().numpy()


def case_of(group: Group, dtype: str, inputs: Values, random: Random) -> Case | None:
    """The case, where all its numbers are tame."""
    near = np.random.default_rng(random.randrange(1 << 30))
    step = ROUNDED[dtype]

    def values(inputs: Values, sources: Sequence[Source]) -> list[NDArray[np.float64]]:
        return [value_of(source, inputs) for source in sources]

    with np.errstate(all="ignore"):
        every = values(inputs, [*group.operands, *group.stages])
        if not all(np.all(np.abs(found) < TAME) for found in every):
            return None
        operands = [held(found, dtype) for found in every[: len(group.operands)]]
        expected = values(inputs, group.outputs)
        allowed = [step * (1 + np.abs(found).max(initial=0)) for found in expected]
        for _ in range(3):
            moved = {n: v * (1 + step * near.choice((-1, 1), v.shape)) for n, v in inputs.items()}
            for k, other in enumerate(values(moved, group.outputs)):
                allowed[k] = np.maximum(allowed[k], MOVED * np.abs(other - expected[k]))
    shaped = [np.broadcast_to(a, e.shape) for a, e in zip(allowed, expected, strict=True)]
    kind = getattr(torch, dtype)
    given = tuple(torch.tensor(found).to(kind) for found in operands)
    return Case(group, dtype, given, tuple(expected), tuple(shaped))


def compare(case: Case, outputs: Sequence[torch.Tensor], said: str) -> None:
    """Each number is as near as is allowed."""
    for found, expected, allowed in zip(outputs, case.expected, case.allowed, strict=True):
        off = np.abs(found.double().numpy() - expected)
        assert np.all(off <= allowed), f"{np.nanmax(off - allowed)} too far\n{said}"


def on_a_cpu(case: Case) -> str | None:
    """Compiled by numba; the kind of kernel, None where no one kernel computes the group."""
    typing = typing_of(case.group, [tensor.dtype for tensor in case.operands])
    strides = tuple(tensor.stride() for tensor in case.operands)
    if typing is None or plan(case.group, strides, typing) is None:
        return None
    open_sizes = sum(map(sum, strides)) % 2 == 1
    kernel = build(case.group, strides, typing, open_sizes)
    compare(case, kernel(*case.operands), kernel.source)
    built.cache_clear()
    return f"{case.dtype}, {'one stage' if len(case.group.stages) == 1 else 'several'}"


def in_triton(case: Case) -> str | None:
    """As one kernel where the stages share their rows, else stage by stage; the kind of kernel."""
    group, dtypes = case.group, (case.dtype,) * len(case.operands)
    made = row_plan(group, dtypes)
    if made is not None:
        kernel = build_rows(made)
        for config in {made.configs[0], made.configs[-1]}:
            outs = [torch.full(s, torch.nan, dtype=getattr(torch, d)) for s, d in made.outs]
            kernel.launch(config, case.operands, outs)
            compare(case, outs, kernel.source)
        return f"{case.dtype}, rows"
    if case.dtype == "float16" and len(group.stages) > 1:
        return None  # each stage would be rounded, and the next one begin with that
    known: dict[Any, torch.Tensor] = dict(zip(group.operands, case.operands, strict=True))
    tiles = False
    for stage in group.stages:
        known[stage] = triton_stage(stage)(known)
        tiles |= _as_tiles(stage, known)
    compare(case, [known[out] for out in group.outputs], str(group))
    return f"{case.dtype}, {'tiles' if tiles else 'stages'}"


def _as_tiles(stage: Scope, known: dict[Any, torch.Tensor]) -> bool:
    """Whether the stage can be computed in tiles, however short their sides are: each number is the
    same as without."""
    read = sources(stage.body)
    if not all(source in known for source in read):
        return False
    usual = stage_plan.LEAST_SIDE
    stage_plan.LEAST_SIDE = SHORTEST
    try:
        kernel = build_stage(stage_plan.plan(stage, names_of(tuple(known[s].dtype for s in read))))
    finally:
        stage_plan.LEAST_SIDE = usual
    if kernel.plan.form != "tile":
        return False
    found = kernel(*(known[source].contiguous() for source in read))
    torch.testing.assert_close(found, known[stage], rtol=0, atol=0, equal_nan=True)
    return True


def explored(seed: object, count: int, run: Callable[[Case], str | None]) -> Counter[str]:
    """Of so many groups that ran, how many were of each kind."""
    seen: Counter[str] = Counter()
    for case in cases(seed):
        kind = run(case)
        if kind is not None:
            seen[kind] += 1
        if seen.total() == count:
            return seen
    raise AssertionError("there is no last case")


def main() -> None:
    assert os.environ.get("TRITON_INTERPRET") == "1"
    seed, count = sys.argv[1:]
    print(json.dumps(explored(seed, int(count), in_triton)))


if __name__ == "__main__":
    main()
