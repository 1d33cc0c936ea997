"""Programs that leave a half type where a plain program does not are refused."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower
from einderive.frontend.accuracy.digits import WRONG, Limits, Values
from einderive.frontend.accuracy.hard_cases import HardCases, exact_rows
from einderive.frontend.accuracy.inputs.chosen import hard_families
from einderive.frontend.accuracy.inputs.drawn import family_inputs
from einderive.frontend.accuracy.inputs.families import (
    EXPONENTS,
    FAMILIES,
    OF_ROOTS,
    SQUARES,
    Family,
)
from einderive.frontend.accuracy.judged import FamilyError
from einderive.frontend.accuracy.plain_standard import held, is_wrong
from einderive.frontend.baselines.rival import executable as plain
from einderive.frontend.baselines.rival import rivals
from einderive.frontend.running.execute import Executable
from einderive.ta.ir import expr
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages
from tests.frontend.races import nobody_is_slow

LIMITS = Limits(2.0**-10, 2.0**-14, 65504.0)
FORMULAS: dict[str, tuple[tuple[int, int], str]] = {
    "Y[i] = mean[j](X[i,j])": ((3, 70_000), "float16"),
    "Y[i] = var[j](X[i,j])": ((3, 4096), "float16"),
    "Y[i] = mean[j](X[i,j]^2)": ((3, 4096), "float16"),
    "Y[i,j] = softmax[j](X[i,j])": ((1, 70_000), "float16"),
    "Y[i,j] = exp(X[i,j])/sum[k](exp(X[i,k]))": ((4, 50), "float32"),
    "Y[i,j] = exp(30*X[i,j])/sum[k](exp(30*X[i,k]))": ((4, 50), "float64"),
}


def staged(program: Program) -> Executable:
    """The program stage by stage, none of them by an operator."""
    scopes = tuple(stages(*program.roots()))
    return Executable(program.roots(), scopes, tuple(map(lower, scopes)), ("",) * len(scopes))


def row(exact: list[float], *ways: list[float]) -> Values:
    return Values(*(np.array(exact),) * 3, tuple(map(np.array, ways)))


def test_the_first_line_with_a_digit_right_is_the_standard() -> None:
    """Line by line, and no more lines are asked for than needed."""
    rows = [row([1.0, 30.0], [1.0, np.inf]), row([2.0], [2.0]), row([0.001], [0.0])]
    asked = []

    def lines() -> Any:
        for place, line in enumerate(
            ([[1, np.nan], [9], [0.00105]], [[1, 31.0], [9], [0.5]], [[1, 30.0], [2], [0.001]])
        ):
            asked.append(place)
            yield [np.array(each, dtype=float) for each in line]

    found = held(rows, lines(), [LIMITS] * 3, is_wrong)
    assert [way.tolist() for each in found for way in each.ways] == [[1, 31], [2], [0.00105]]
    assert asked == [0, 1]
    asked.clear()
    found = held(rows, lines(), [LIMITS] * 3)  # what vanishes is no reason to ask
    assert [way.tolist() for each in found for way in each.ways] == [[1, 31], [2], [0]]
    assert asked == [0, 1]
    asked.clear()
    assert held(rows[1:2], lines(), [LIMITS]) == rows[1:2]
    assert not asked
    alone = [row([30.0], [np.inf])]
    assert held(alone, iter([[np.array([np.nan])]]), [LIMITS]) == alone
    (other,) = held([row([30.0], [30.0], [np.inf])], [[np.array([29.0])]], [LIMITS])
    assert [way.tolist() for way in other.ways] == [[29]]  # one way to write it is wrong


def test_what_has_no_digit_right() -> None:
    infinite = LIMITS._replace(most=np.inf)
    for way, exact, limits, wrong in (
        ([np.inf, 3.0], [1e6, 3.0], LIMITS, False),  # what the type does not hold is not asked for
        ([np.inf, 3.0], [np.inf, 3.0], infinite, False),
        ([np.inf, 3.0], [1e6, 3.0], infinite, True),
        ([1.0, WRONG], [1.0, 0.0], LIMITS, False),
        ([1.0, 1.01 * WRONG], [1.0, 0.0], LIMITS, True),
    ):
        assert is_wrong(np.array(way), np.array(exact), limits) == wrong


@pytest.mark.parametrize("types", [("float32", "float32"), ("float16", "float16")])
def test_plain_programs_run_only_where_no_digit_is_right(types: tuple[str, str]) -> None:
    """And the rows of a product as it is written, for which it is computed with neighbours."""
    shapes = {"A": (20, 5), "B": (5, 30)}
    program = ed.parse(
        "C[i,j] = sum[k](A[i,k]*B[k,j])", dtypes=dict(zip("AB", types, strict=True)), **shapes
    )
    line = Mock()
    hard = HardCases(program, "cpu", "normwise", lines=lambda: (line,))
    inputs = hard._inputs(hard_families(program)[0], False)
    ((*rows,),) = hard._draw(inputs, hard._exact(inputs), is_wrong)
    assert not line.called
    assert all(len(each.ways) == 2 for each in rows)
    for each in rows:
        for way in each.ways:
            np.testing.assert_allclose(way, each.exact, rtol=0, atol=0.02 * each.terms.max())


@pytest.mark.parametrize("family", OF_ROOTS)
def test_squares_that_vanish_or_overflow_are_refused_where_a_line_is_right(family: Family) -> None:
    """Stage by stage, they are 0, or infinite; `torch.std`, in float64, keeps them."""
    program = ed.derive("Y[j] = std[i](X[i,j])", X=(20, 4), budget=ed.Budget(states=1)).source
    by_stages = staged(program)
    lines = [plain(rival, program, (torch.float32,)) for rival in rivals(program, "cpu")]
    (deviation,) = [line for line in lines if "std" in line.words]

    def judged_by(lines: list[Executable], run: Executable) -> FamilyError:
        judging = HardCases(program, "cpu", "fast", preparing=0, lines=lambda: lines)
        errors = judging.errors(run, 1, least=2)
        return next(each for each in errors if each.family == family.name)

    refused = judged_by(lines, by_stages)
    assert refused.standard
    assert not refused.accepted
    assert judged_by(lines, deviation).accepted
    assert not judged_by([], by_stages).standard


@pytest.mark.parametrize("text", FORMULAS)
def test_a_program_stage_by_stage_is_refused_where_a_line_is_right(text: str) -> None:
    shape, dtype = FORMULAS[text]
    program = ed.derive(text, X=shape, dtypes=dtype, budget=ed.Budget(states=1)).source
    by_stages = staged(program)
    lines = [plain(rival, program, (getattr(torch, dtype),)) for rival in rivals(program, "cpu")]
    alone = HardCases(program, "cpu", "normwise", preparing=np.inf)
    judging = HardCases(program, "cpu", "normwise", preparing=np.inf, lines=lambda: lines)
    assert all(each.accepted for each in alone.errors(by_stages, 99))
    refused = judging.errors(by_stages, 99)[-1]
    assert not refused.accepted
    assert refused.standard
    accepted = [all(e.accepted for e in judging.errors(line, 99)) for line in lines]
    assert any(accepted)


@pytest.mark.parametrize(
    ("effort", "text"),
    [("normal", "Y[i] = var[j](X[i,j])"), ("instant", "Y[i] = mean[j](2*X[i,j])")],
)
def test_what_is_compiled_stays_finite(
    monkeypatch: pytest.MonkeyPatch, effort: Any, text: str
) -> None:
    """Also where nothing is compiled into loops, which keep sums in registers."""
    nobody_is_slow(monkeypatch)
    monkeypatch.setattr("einderive.frontend.trial.choose.worth_compiling", lambda *_: ())
    function = ed.compile(text, X=(3, 70_000), dtypes="float16", seconds=0.01, effort=effort)
    refused = [trial for trial in function.trials if "digits lost" in trial.verdict]
    assert refused or effort == "normal"
    x = (20 * torch.randn(3, 70_000) + 30).half()
    exact = x.double().var(1, correction=0) if "var" in text else 2 * x.double().mean(1)
    torch.testing.assert_close(function(x).double(), exact, rtol=2e-3, atol=0)


@pytest.mark.parametrize("interpreted", [1 << 22, 0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_values_are_about_their_maxima_where_exponentials_overflow(
    monkeypatch: pytest.MonkeyPatch, interpreted: int, dtype: str
) -> None:
    """Also those that torch gives, of rows that are much work; those of others stay as they are."""
    for name in ("INTERPRETED", "LONG_INTERPRETED"):
        monkeypatch.setattr(f"einderive.frontend.accuracy.hard_cases.{name}", interpreted)
    texts = "Y[i] = log(sum[j](exp(X[i,j]))); Z[i,j] = X[i,j]^2"
    program = ed.parse(texts, X=(3, 20), dtypes=dtype)
    (tensor,) = program.inputs
    x = (10_000 + torch.randn(3, 20)).to(getattr(torch, dtype))
    unit = torch.finfo(x.dtype).eps
    found = exact_rows(program.roots(), unit)({tensor: x})
    for value, exact in zip(found, (x.double().logsumexp(1), x.double() ** 2), strict=True):
        np.testing.assert_allclose(value.astype(float), exact, rtol=1e-14)


@pytest.mark.skipif(np.finfo(np.longdouble).maxexp < 2000, reason="long double is float64")
def test_exact_values_have_a_larger_range_where_no_maximum_helps() -> None:
    program = ed.parse("Y[i] = exp(X[i])/exp(X[i]-1)", X=(3,), dtypes="float32")
    (tensor,) = program.inputs
    (found,) = exact_rows(program.roots(), 2.0**-23)({tensor: torch.full((3,), 1000.0)})
    np.testing.assert_allclose(found.astype(float), np.e, rtol=1e-12)


def test_only_programs_in_half_types_have_another_family() -> None:
    """Right after the first two, and always tried; where both types are read, both families."""
    given = {"float16": [SQUARES], "bfloat16": [EXPONENTS], "float32": []}
    for dtype, families in given.items():
        program = ed.derive("Y[i] = 2*X[i]", X=(9,), dtypes=dtype).source
        hard = HardCases(program, "cpu", "normwise", preparing=np.inf)
        function = plain(rivals(program, "cpu")[0], program, ())
        always = [each.family for each in hard.errors(function, 1, least=2)]
        assert always[2:] == [family.name for family in families]
        every = [each.family for each in hard.errors(function, 99)]
        assert every[:3][: len(always)] == always
        assert len(every) == len(FAMILIES) + len(families)
    types = {"X": "bfloat16", "Z": "float16"}
    program = ed.parse("Y[i] = X[i]*Z[i]", dtypes=types, X=(9,), Z=(9,))
    assert hard_families(program)[2:4] == (SQUARES, EXPONENTS)


@pytest.mark.parametrize(
    "text",
    ["Y[i] = log(sum[j](exp(X[i,j])))", "Y[i,j] = exp(X[i,j])/sum[k](exp(X[i,k]))"],
)
def test_exponentials_that_leave_bfloat16_are_refused_where_a_line_is_right(text: str) -> None:
    """On a family that is always tried, about 300; and what is chosen instead is right there."""
    function = ed.compile(text, X=(64, 50), dtypes="bfloat16", seconds=0.01)
    program = function.source
    lines = [plain(rival, program, (torch.bfloat16,)) for rival in rivals(program, "cpu")]
    judging = HardCases(program, "cpu", "normwise", preparing=0, lines=lambda: lines)
    refused = judging.errors(staged(program), 1, least=2)[-1]
    assert refused.family == EXPONENTS.name
    assert not refused.accepted
    x = (300 + 4 * torch.randn(64, 50)).bfloat16()
    wide = x.double()
    exact = wide.logsumexp(1) if "log" in text else wide.softmax(1)
    torch.testing.assert_close(function(x).double(), exact, rtol=2**-7, atol=1e-4)


def test_the_family_leaves_float16_where_squares_are_added() -> None:
    tensor = expr.tensor("X", (50, 200), "float16")
    (x,) = family_inputs([tensor], SQUARES, "cpu").values()
    assert 30 < float(x.double().std()) < 34
    assert x.double().square().sum(1).min() > LIMITS.most
