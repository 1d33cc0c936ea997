"""Reads at a computed index within a kernel, compared with the exact interpreter and with NumPy."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch

from einderive.eops.back_ends.cpu_kernels import points, worth_compiling
from einderive.eops.back_ends.task import Task
from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.picks import picked
from einderive.eops.loops.drafts.values import Load, Within
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.loops.interpreted import Values, check

INDICES = (-1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 1.5, 7.0)
"""Of 0:5; the others are outside, or no integers."""

FORMULAS = (
    ("Y[b,t,d] = E[I[b,t],d]", {"E": (5, 3), "I": (2, 4)}),
    ("Y[i,j] = A[i,I[i,j]]", {"A": (3, 5), "I": (3, 6)}),
    ("Y[i,j] = A[I[j],i]*w[j]", {"A": (5, 4), "I": (7,), "w": (7,)}),
    ("Q = sum[e](w[e]*(x[I[e]] - x[J[e]])^2)", {"w": (9,), "x": (5,), "I": (9,), "J": (9,)}),
    ("F[p] = (1 - w[p])*x[I[p]] + w[p]*x[I[p]+1]", {"w": (9,), "x": (5,), "I": (9,)}),
    ("Y[n] = A[I[n],J[n]]", {"A": (5, 5), "I": (9,), "J": (9,)}),
    ("Y[i] = max[k](A[I[i],k]) + A[I[i],0]", {"A": (5, 4), "I": (6,)}),
    ("S[i] = sum[k](A[i,k]*x[I[k]]); Y[i,k] = A[i,k]/S[i]", {"A": (4, 6), "x": (5,), "I": (6,)}),
    ("T[i] = x[I[i]]; Y[i] = T[i]*T[5-i]", {"x": (5,), "I": (6,)}),
)


def group_of(text: str, **shapes: tuple[int, ...]) -> Group:
    dtypes = {name: "int64" if name in "IJ" else "float32" for name in shapes}
    roots = parse(text, shapes, dtypes=dtypes).roots()
    return Group(tuple(stages(*roots)), tuple(roots))


def values(random: Random, shapes: dict[str, tuple[int, ...]]) -> Values:
    generator = np.random.default_rng(random.randrange(1 << 30))
    return {
        name: generator.choice(INDICES, shape)
        if name in "IJ"
        else generator.uniform(0.5, 1.5, shape)
        for name, shape in shapes.items()
    }


@sampled(4)
@pytest.mark.parametrize(("text", "shapes"), FORMULAS)
def test_kernels_of_gathers(text: str, shapes: dict[str, tuple[int, ...]]) -> None:
    group, random = group_of(text, **shapes), Random(text)
    made = [check(group, values(random, shapes), random) for _ in range(3)]
    assert all(made), "no kernel"
    for plans in made:
        for one in plans:
            assert any(isinstance(value, Load) and value.picked for value in one.values)
            assert any(isinstance(value, Within) for value in one.values)


def test_what_is_fixed_is_no_loop() -> None:
    scope = group_of("Y[n,d] = E[I[n],d]", E=(1000, 8), I=(4,)).outputs[0]
    assert scope.sums
    assert points(scope) == 4 * 8
    assert worth_compiling(Task(scope, "cpu", compiled=True))


@pytest.mark.parametrize(
    "text",
    [
        "Y[n] = sum[v](where(I[n] == v, v*E[v], 0))",  # a value of the iterator
        "Y[n] = sum[v](where(I[n] == v, E[v//2], 0)) where v in 0:9",
        "Y[n] = sum[v](where(I[n] == v, E[v+1], 0)) where v in 0:5",  # may miss
        "Y[n] = sum[v](where(I[n] == v, E[v-1], 0)) where v in 0:5",
        "Y[n] = sum[v](where(I[n] == v, where(v > 2, E[v], 0), 0))",  # a condition on it
    ],
)
def test_other_parts_of_a_fixed_iterator_are_left_to_torch(text: str) -> None:
    scope = group_of(text, E=(5,), I=(4,)).outputs[0]
    assert picked(scope) is None


def test_a_gather_from_what_the_kernel_computes_is_no_part_of_it() -> None:
    group = group_of("T[i] = x[i]^2 + x[i]; Y[n] = T[I[n]]", x=(5,), I=(4,))
    assert plan(group, dense(group), alike(group, "float64")) is None


@pytest.mark.parametrize("index", ["i-1", "i+1"])
def test_a_gather_that_may_miss_in_another_dimension_is_no_part_of_its_reader(index: str) -> None:
    text = f"T[i] = A[i,I[i]]; Y[i] = T[i]*T[{index}] where i in 0:3"
    group = group_of(text, A=(3, 5), I=(3,))
    assert not check(group, values(Random(text), {"A": (3, 5), "I": (3,)}), Random(text))


@pytest.mark.parametrize("index", [torch.int64, torch.int32, torch.uint8, torch.float32])
def test_compiled(index: torch.dtype) -> None:
    """By numba, with indices of several types, some outside."""
    group = group_of("Y[i,d] = q[i]*E[I[i],d]", q=(40,), E=(6, 3), I=(40,))
    generator = torch.Generator().manual_seed(1)
    data = {
        "q": torch.randn(40, generator=generator),
        "E": torch.randn(6, 3, generator=generator),
        "I": torch.randint(0, 9, (40,), generator=generator).to(index),
    }
    tensors = [data[source.name] for source in group.operands if isinstance(source, Tensor)]
    typing = typing_of(group, [tensor.dtype for tensor in tensors])
    assert typing is not None
    kernel = build(group, tuple(tensor.stride() for tensor in tensors), typing)
    (found,) = kernel(*tensors)
    wide = torch.cat([data["E"], torch.zeros(3, 3)])
    assert torch.equal(found, data["q"][:, None] * wide[data["I"].long()])
