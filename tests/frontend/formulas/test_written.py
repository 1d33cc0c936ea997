"""Every formula as a user would write it means what its line of NumPy or torch means, at its tiny
size: it is parsed, printed and parsed again, evaluated as written, and derived."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.formulas import Formula
from tests.amount import one_in, sampled
from tests.frontend.formulas.test_lines import WRITTEN, by_line
from tests.frontend.races import candidates_win

FEW = ed.Budget(states=20)


def close(found: Sequence[Any], formula: Formula, n: int) -> None:
    for got, wanted in zip(found, by_line(formula, n, "float64"), strict=True):
        assert np.shape(got) == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)


@sampled(6)
@pytest.mark.parametrize("formula", WRITTEN, ids=lambda formula: formula.name)
def test_the_formula_is_its_line(formula: Formula) -> None:
    n = formula.sizes[0]
    values = cast(dict[str, Any], formula.values(n, "float64"))
    program = ed.parse(formula.text, **values, **formula.beside(n))
    assert [*program.roots()] == [*again(program, values).roots()]

    inputs = {one: torch.from_numpy(np.array(values[one.name])) for one in program.inputs}
    close(as_written(program)(inputs), formula, n)


@sampled(4)
@pytest.mark.parametrize("formula", one_in(24, WRITTEN), ids=lambda formula: formula.name)
def test_it_is_derived_tried_and_checked(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    n = formula.sizes[0]
    text, beside = formula.text, formula.beside(n)
    values = cast(dict[str, Any], formula.values(n, "float64"))
    candidates_win(monkeypatch)
    found = ed.evaluate(text, budget=FEW, **values, **beside)
    close(found if isinstance(found, tuple) else (found,), formula, n)
    assert ed.derive(text, budget=FEW, **values, **beside).check()


def again(program: ed.Program, values: dict[str, Any]) -> ed.Program:
    """The printed program, parsed."""
    results = {statement.name: statement.scope.shape for statement in program.statements}
    return ed.parse(str(program), **values, **results)
