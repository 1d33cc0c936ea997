"""Rows of outputs in the place of the whole: where they stand, and that errors are seen there."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.accuracy import accept, sampled_reference
from einderive.frontend.accuracy.accept import reference
from einderive.frontend.accuracy.sampled_reference import (
    equally_cheap,
    fewer_terms,
    gathered,
    pieces,
    seconds,
)
from einderive.ta.errors import BuildError
from einderive.ta.exact.interp import visited
from einderive.ta.ir.node import Scope


@pytest.fixture
def dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every full reference counts as dear."""
    monkeypatch.setattr(sampled_reference, "FULL_SECONDS", 0.0)


def rows(text: str, **shapes: Any) -> set[tuple[int, ...]]:
    """The leading indices of the rows, of a single output."""
    roots = ed.parse(text, **shapes).roots()
    return {tuple(part.start for part in piece.index[:-1]) for piece in pieces(roots)}


@pytest.mark.usefixtures("dear")
def test_rows_at_corners_and_on_both_sides_of_borders() -> None:
    found = rows("Y[i,j] = A[i-2,j] + B[j] where i in 0:40", A=(30, 9), B=(9,))
    assert {(0,), (39,)} <= found
    assert {(1,), (2,)} <= found  # where A begins
    assert {(31,), (32,)} <= found  # and ends
    assert {(19,), (20,)} <= found
    found = rows("Y[i,j] = where(i >= 17, A[i,j], B[i,j])", A=(50, 9), B=(50, 9))
    assert {(0,), (16,), (17,), (49,)} <= found
    found = rows("Y[i,j,k] = A[i,j,k]", A=(20, 30, 5))
    assert {(0, 0), (0, 29), (19, 0), (19, 29)} <= found


@pytest.mark.usefixtures("dear")
@pytest.mark.parametrize(
    "text",
    [
        "Y[i,j] = A[i,k]*B[k,j]",
        "Y[i,j] = sum[k]((A[i,k]-B[k,j])^2); Z[i,j] = Y[i,j]/sum[k](Y[i,k])",
        "T[i,j] = A[i,j] + B[i-1,j]; Y[i,j] = T[i+1,j] + T[i-1,j] where i in 0:24",
    ],
)
def test_the_rows_are_those_of_the_whole(text: str) -> None:
    program = ed.parse(text, dtypes="float64", A=(24, 24), B=(24, 24))
    given = {t: torch.randn(t.shape, dtype=torch.float64) for t in program.inputs}
    roots = program.roots()
    parts = pieces(roots)
    assert len(parts) > 2
    whole = gathered([lower_all(root)(given) for root in roots], parts)
    found = torch.cat([lower_all(piece.scope)(given).reshape(-1) for piece in parts])
    torch.testing.assert_close(found, torch.cat(whole))


@pytest.mark.usefixtures("dear")
def test_operands_are_copied_to_the_host_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many rows are confirmed: from a GPU this takes longer than all else."""
    copied: list[tuple[int, ...]] = []
    cpu = torch.Tensor.cpu

    def counted(tensor: torch.Tensor) -> torch.Tensor:
        copied.append(tuple(tensor.shape))
        return cpu(tensor)

    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    program = ed.parse("Y[i,j] = A[i-1,j] where i in 0:41", A=(40, 8))
    assert len(reference(program, "cpu").parts) > 2
    assert copied.count((40, 8)) == 1


@pytest.mark.usefixtures("dear")
def test_a_wrong_border_row_is_refused() -> None:
    program = ed.parse("Y[i,j] = A[i-1,j] where i in 0:41", A=(40, 8))
    expected = reference(program, "cpu")
    assert expected.parts

    def run(inputs: Any, wrong: int | None = None) -> tuple[torch.Tensor]:
        (a,) = inputs.values()
        found = torch.cat([torch.zeros(1, 8), a])
        if wrong is not None:
            found[wrong] += 1
        return (found,)

    assert expected.error_of(run) < 1e-6
    for row in (0, 1, 40):
        assert expected.error_of(lambda inputs, row=row: run(inputs, row)) > 0.1
    assert expected.error_of(lambda inputs: (run(inputs)[0][:5],)) == float("inf")


def test_what_is_cheap_is_compared_as_a_whole() -> None:
    assert not pieces(ed.parse("Y[i,j] = A[i,k]*B[k,j]", A=(64, 64), B=(64, 64)).roots())
    assert pieces(ed.parse("Y[i,j] = A[i,j]", A=(4096, 4096)).roots())


def test_products_of_many_factors_cost_what_their_pairs_cost() -> None:
    shapes: Any = dict.fromkeys("ABCD", (64, 64))
    (root,) = ed.parse("Y[i,m] = A[i,j]*B[j,k]*C[k,l]*D[l,m]", **shapes).roots()
    assert seconds([root]) > 100 * seconds([equally_cheap(root)])
    assert visited([root], 2) == 2 * 64**3
    assert visited([equally_cheap(root)], 2) < visited([root], 2)
    given = {
        t: torch.randn(t.shape, dtype=torch.float64)
        for t in ed.parse("Y[i,m] = A[i,j]*B[j,k]*C[k,l]*D[l,m]", **shapes).inputs
    }
    wanted = torch.linalg.multi_dot(list(given.values()))
    torch.testing.assert_close(lower_all(equally_cheap(root))(given), wanted)


@pytest.mark.parametrize(
    "text",
    [
        "Y = A[i]*B[k]",
        "Y[j] = max[i,k](A[i+j] - B[k]) where j in 0:3, i in 0:4000, k in 0:5000",
    ],
)
def test_of_a_very_long_sum_a_part_is_confirmed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = ed.parse(text, A=(5000,), B=(5000,))
    (root,) = program.roots()
    assert visited([root], 1) > accept.MOST_ALONE
    part = fewer_terms(root, 10**5)
    assert 10**5 / 4 < visited([part], 1) <= 10**5
    assert [side.hi for side in part.sums] == [side.hi for side in root.sums]
    reference(program, "cpu")

    def wrong(scope: Scope) -> Any:
        return lambda given: lower_all(scope)(given) + 1

    monkeypatch.setattr(accept, "lower_all", wrong)
    with pytest.raises(BuildError, match="disagrees with the exact interpreter"):
        reference(program, "cpu")


def test_what_cancels_is_confirmed_beside_its_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "m[t] = max[s](where(s <= t, p[s], -inf)); d[t] = 1 - p[t]/m[t]; y = max[t](d[t])"
    program = ed.parse(text, p=(1,), dtypes="float64")
    assert reference(program, "cpu").outputs[0] == 0

    def wrong(scope: Scope) -> Any:
        return lambda given: lower_all(scope)(given) + 1e-6

    monkeypatch.setattr(accept, "lower_all", wrong)
    with pytest.raises(BuildError, match="disagrees with the exact interpreter"):
        reference(program, "cpu")
