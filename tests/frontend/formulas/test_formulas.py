"""Every plain line of the list computes its formula: judged by the exact interpreter in float64."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.formulas import FORMULAS, SIZES, Formula
from einderive.ta.equality.positions import positions
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate_at
from tests.amount import sampled

SOURCES = (
    "array API",
    "torch.nn.functional",
    "torch.cdist",
    "NPBench",
    "einops",
    "opt_einsum",
    "numpy.einsum",
    "torch.einsum",
)


@sampled(6)
@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.name)
def test_plain_lines_are_the_formula(formula: Formula) -> None:
    n = SIZES[0]
    program = ed.parse(
        formula.text, dtypes="float64", **cast(Any, {**formula.shapes(n), **formula.beside(n)})
    )
    assert {t.name: t.shape for t in program.inputs} == dict(formula.shapes(n))
    generator = torch.Generator().manual_seed(5)
    given = [torch.randn(t.shape, dtype=torch.float64, generator=generator) for t in program.inputs]
    values = {t.name: v.numpy() for t, v in zip(program.inputs, given, strict=True)}
    for plain in formula.plain:
        found = plain(*given)
        outputs = found if isinstance(found, tuple) else (found,)
        assert len(outputs) == len(program.outputs)
        for root, output in zip(program.roots(), outputs, strict=True):
            assert tuple(output.shape) == root.shape
            points = positions(root, 24)
            expected = np.asarray(evaluate_at(root, points, values, RealField()), dtype=float)
            index = tuple(points.T)  # loops begin at 0
            got = output.numpy()[index] if index else output.numpy().reshape(-1)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-9)


def test_the_list_is_long_and_of_every_source() -> None:
    assert len(FORMULAS) >= 60
    assert len({formula.name for formula in FORMULAS}) == len(FORMULAS)
    for source in SOURCES:
        assert any(formula.source.startswith(source) for formula in FORMULAS)
    assert all(formula.source.startswith(SOURCES) for formula in FORMULAS)
