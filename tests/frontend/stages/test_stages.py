"""Every line beside a stage computes its formula: judged by the exact interpreter in float64."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.stages import ELEMENTS, KINDS, LARGER, STAGES, Stage
from einderive.frontend.stages.entry import HALF, LAYOUTS, Given, Layout
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate_at
from tests.amount import first

SOURCES = ("array API standard", "torch.nn.functional", "NPBench", "PolyBench")


def check(stage: Stage, line: Callable[..., Any], given: Sequence[Any]) -> None:
    """The line on the operands gives what the interpreter gives for their values in float64."""
    digits = 4e-2 if stage.kind == HALF else 1e-3
    values = stage.values(ELEMENTS[0])
    tensors = stage.tensors(values)
    program = ed.parse(stage.text, **cast(Any, tensors), **cast(Any, stage.beside(ELEMENTS[0])))
    exact = {
        name: tensor.double().numpy() if tensor.is_floating_point() else tensor.numpy()
        for name, tensor in tensors.items()
    }
    found = line(*given)
    outputs = found if isinstance(found, tuple | list) else (found,)
    assert len(outputs) == len(program.outputs)
    for root, output in zip(program.roots(), outputs, strict=True):
        assert tuple(output.shape) == root.shape
        points = positions(root, 12)
        expected = np.asarray(evaluate_at(root, points, exact, RealField()), dtype=float)
        got = torch.as_tensor(np.array(output.tolist())).double().numpy()
        at = got[tuple(points.T)] if root.shape else got.reshape(-1)
        np.testing.assert_allclose(at, expected, rtol=digits, atol=digits)


KIND_BEFORE = [stage.kind for stage in STAGES]
ORDERED = sorted(STAGES, key=lambda s: KIND_BEFORE[: STAGES.index(s)].count(s.kind))
"""The first of each kind, the second of each, ..."""


@pytest.mark.parametrize("stage", first(24, ORDERED), ids=lambda stage: stage.name)
def test_the_torch_line_is_the_formula(stage: Stage) -> None:
    tensors = stage.tensors(stage.values(ELEMENTS[0]))
    check(stage, stage.by_torch(ELEMENTS[0]), [*tensors.values()])


@pytest.mark.parametrize("elements", [*ELEMENTS, LARGER])
def test_sizes_are_as_stated(elements: int) -> None:
    most = 4.5 if elements == LARGER else 1.35  # where four extents are doubled
    for stage in STAGES:
        sizes = stage.at(elements)
        shapes = [given.operand.shape(sizes) for given in stage.operands.values()]
        program = ed.parse(
            stage.text,
            **cast(Any, dict(zip(stage.operands, shapes, strict=True))),
            **cast(Any, stage.beside(elements)),
        )
        largest = max(*map(np.prod, shapes), *(root.size for root in program.roots()))
        points = max(np.prod(root.extents) for root in program.roots())
        counts = (largest, points)
        assert any(0.75 * elements <= count <= most * elements for count in counts), stage.name


def test_the_list_is_long_of_every_source_and_kind() -> None:
    assert len(STAGES) >= 60
    assert len({stage.name for stage in STAGES}) == len(STAGES)
    for source in SOURCES:
        assert any(stage.source.startswith(source) for stage in STAGES)
    counts = Counter(stage.kind for stage in STAGES)
    assert {*counts} == {*KINDS}
    assert all(count >= 4 for count in counts.values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_lies_in_memory_is_seen_as_the_operand(layout: Layout) -> None:
    values = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    given = Given(STAGES[0].operands[next(iter(STAGES[0].operands))].operand, layout)
    tensor, memory = given.tensor(values, "float32"), given.in_memory(values)
    assert memory.flags.c_contiguous
    np.testing.assert_array_equal(given.seen(memory), values)
    strides = [step // 4 for step in given.seen(memory).strides]
    assert list(tensor.stride()) == strides
