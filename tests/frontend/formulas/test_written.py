"""Every formula as a user would write it means what its line of NumPy or torch means, at its tiny
size: it is parsed, printed and parsed again, evaluated, and derived.

`NOT_YET` lists those for which something is missing; a formula that has begun to work fails its
test until its name is taken away."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import einderive as ed
from einderive.frontend.formulas import Formula
from einderive.frontend.formulas.not_yet import NOT_YET
from tests.frontend.formulas.test_lines import WRITTEN, by_line
from tests.frontend.races import candidates_win

FEW = ed.Budget(states=20)


@pytest.mark.parametrize(
    "formula",
    [
        pytest.param(
            formula,
            id=formula.name,
            marks=[pytest.mark.xfail(reason="not yet")] if formula.name in NOT_YET else [],
        )
        for formula in WRITTEN
    ],
)
def test_the_formula_is_its_line(formula: Formula, monkeypatch: pytest.MonkeyPatch) -> None:
    n = formula.sizes[0]
    text, beside = formula.text(n), formula.beside(n)
    values = cast(dict[str, Any], formula.values(n, "float64"))
    program = ed.parse(text, **values, **beside)
    assert [*program.roots()] == [*again(program, values).roots()]

    candidates_win(monkeypatch)
    found = ed.evaluate(text, budget=FEW, **values, **beside)
    outputs = found if isinstance(found, tuple) else (found,)
    for got, wanted in zip(outputs, by_line(formula, n, "float64"), strict=True):
        assert np.shape(got) == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-9)

    assert ed.derive(program, budget=FEW).check()


def again(program: ed.Program, values: dict[str, Any]) -> ed.Program:
    """The printed program, parsed."""
    results = {statement.name: statement.scope.shape for statement in program.statements}
    return ed.parse(str(program), **values, **results)


def test_what_is_missing_is_named_as_in_the_list() -> None:
    assert {formula.name for formula in WRITTEN} >= NOT_YET
