"""Gradients of formulas from public sources: against autograd of the plain line and of the
definition, and by dual numbers."""

from __future__ import annotations

from typing import Any, Final, cast

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.formulas import FIELDS, FORMULAS, Formula
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.gradients.proof import MOST_POINTS
from einderive.ta.ir.subst import points_of
from tests.amount import one_in, sampled
from tests.ta.gradients.autograd import gradients
from tests.ta.gradients.test_reads import agrees

ALL: Final = [formula for field in FIELDS.values() for formula in field] + list(FORMULAS)
LARGE: Final = 2_000_000
"""Formulas that visit more points are not computed by their definition."""


def at_smallest(formula: Formula) -> tuple[ed.Program, dict[str, torch.Tensor]]:
    """The formula at its smallest size, and its operands."""
    size = formula.sizes[0]
    values = {name: torch.as_tensor(v) for name, v in formula.values(size, "float64").items()}
    types = {name: str(value.dtype).removeprefix("torch.") for name, value in values.items()}
    beside = {**formula.shapes(size), **formula.beside(size)}
    return ed.parse(formula.text, dtypes=types, **cast(Any, beside)), values


@sampled(2)
@pytest.mark.parametrize("formula", one_in(30, ALL), ids=lambda formula: formula.name)
def test_gradients_of_formulas(formula: Formula) -> None:
    program, values = at_smallest(formula)
    try:
        found = ed.grad(program)
    except ed.EinderiveError as error:
        refused = str(error)
    else:
        refused = ""
    small = points_of(*program.roots()) <= LARGE
    if refused:
        differentiable = [n for n, v in values.items() if v.is_floating_point()]
        cotangents = [torch.ones(root.shape, dtype=torch.float64) for root in program.roots()]
        slopes = gradients(program, values, differentiable, cotangents).values()
        assert not any(slope.any() for slope in slopes), refused
        return
    if small:
        assert agrees(program, values) == []
        verdict = found.check()
        reads_nothing = formula.name == "bilinear sampling at points"  # a drawn floor lies outside
        assert verdict or _is_too_large(found) or reads_nothing
        assert not reads_nothing or "0 for random entries" in verdict.detail
    if not formula.arrays and len(program.outputs) == 1:
        _agrees_with_the_line(formula, found, values)


def _is_too_large(found: ed.Derivatives) -> bool:
    assert found.of is not None
    return points_of(*found.of.roots(), *found.roots()) > MOST_POINTS // 4


def _agrees_with_the_line(
    formula: Formula, found: ed.Derivatives, values: dict[str, torch.Tensor]
) -> None:
    given = {
        name: value.clone().requires_grad_() if name in found.wrt else value
        for name, value in values.items()
    }
    try:
        result = formula.plain[0](*given.values())
    except RuntimeError as error:
        if "is not differentiable with respect to" in str(error):  # by running means
            return
        raise
    if not result.requires_grad:
        return
    seed = torch.ones_like(result)
    slopes = torch.autograd.grad(
        result, [given[name] for name in found.wrt], seed, allow_unused=True
    )
    entries = {name: value.numpy() for name, value in values.items()}
    entries |= {name: seed.numpy() for name in found.operands}
    expected = dict(zip(found.wrt, slopes, strict=True))
    for output, root in zip(found.outputs, found.roots(), strict=True):
        slope = expected[found.results[output.name]]
        if slope is not None and points_of(root) <= LARGE:
            got = evaluate(root, entries, RealField())
            known = np.isfinite(slope.numpy())
            np.testing.assert_allclose(got[known], slope.numpy()[known], rtol=1e-6, atol=1e-9)
