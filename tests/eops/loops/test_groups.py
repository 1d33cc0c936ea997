"""Random groups of stages: one kernel gives what the exact interpreter gives."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import build, takes
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.fuse import groups
from einderive.eops.loops.group import Group
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import nested_scopes, stages
from tests.amount import CAMPAIGN
from tests.eops.loops.interpreted import Values, check, same, value_of
from tests.fuzz.generator import program
from tests.fuzz.groups import rows_program

PART = 100


def data(roots: tuple[Scope, ...], random: Random) -> Values:
    generator = np.random.default_rng(random.randrange(1 << 30))
    read = {tensor for root in roots for tensor in input_tensors(root)}
    return {
        tensor.name: generator.uniform(0.5, 1.5, tensor.shape)
        for tensor in sorted(read, key=lambda tensor: tensor.name)
    }


def drawn(random: Random) -> tuple[Scope, ...]:
    return rows_program(random) if random.random() < 0.7 else program(random)


def candidates(roots: tuple[Scope, ...]) -> list[Group]:
    """The program as one group, and the groups that are predicted to be fastest."""
    every = stages(*roots)
    reads = {stage: nested_scopes(stage) for stage in every}
    fusible = [stage for stage in every if takes(stage)]
    found = list(groups(reads, fusible, roots))
    if len(fusible) == len(every):
        written = tuple(stage for stage in every if stage in roots)
        found.append(Group(tuple(every), written))
    return list(dict.fromkeys(found))


def explored(seed: object, count: int) -> Counter[str]:
    """Runs the groups of so many programs; what kinds of plans there were."""
    seen: Counter[str] = Counter()
    for number in range(count):
        random = Random(f"{seed} {number}")
        roots = drawn(random)
        inputs = data(roots, random)
        for group in candidates(roots):
            made = check(group, inputs, random)
            seen["kernels" if made else "apart"] += 1
            for one in made:
                seen["several stages"] += len(group.stages) > 1
                seen["several outputs"] += len(one.outputs) > 1
                seen["several passes"] += len(one.phases) > 1
                seen["rows" if one.inner is None else "columns"] += 1
                seen["kept"] += bool(one.kept)
    return seen


def test_random_groups() -> None:
    seen = explored("groups", PART)
    assert seen["kernels"] > PART
    for kind in ("several stages", "several outputs", "several passes", "rows", "columns"):
        assert seen[kind] > PART // 2, seen
    assert seen["kept"] > PART // 10, seen
    assert seen["apart"] > PART // 30, seen


@CAMPAIGN
@pytest.mark.parametrize("part", range(8))
def test_random_groups_of_the_seed(part: int, seed: int) -> None:
    assert explored(f"{seed} {part}", 250)["kernels"] > 250


def fits(group: Group) -> bool:
    return plan(group, dense(group)) is not None


@pytest.mark.parametrize("number", range(6))
def test_random_groups_compiled(number: int) -> None:
    """The same by numba, on the largest of some groups."""
    random = Random(f"compiled {number}")
    made = [rows_program(random) for _ in range(6)]
    found = [(roots, group) for roots in made for group in candidates(roots) if fits(group)]
    roots, group = max(found, key=lambda one: len(one[1].stages))
    inputs = data(roots, random)
    arrays = [value_of(source, inputs) for source in group.operands]
    tensors = [torch.tensor(array) for array in arrays]
    strides = tuple(tensor.stride() for tensor in tensors)
    kernel = build(group, ("float64",) * len(tensors), strides, "float64")
    for out, result in zip(group.outputs, kernel(*tensors), strict=True):
        same(result.numpy(), value_of(out, inputs), kernel.source)
