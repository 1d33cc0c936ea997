"""The row of an output that is smallest beside the others, where cancellation counts most."""

from __future__ import annotations

import torch

import einderive as ed
from einderive.frontend.accuracy.rows import smallest


def test_the_smallest_row_is_found_and_can_be_computed_alone() -> None:
    program = ed.parse("Y[t,h,w] = A[h,w+k]*B[t,k] where w in 1:5", A=(6, 9), B=(3, 4))
    a, b = torch.ones(6, 9), torch.ones(3, 4)
    a[4] = 1e-3
    values = torch.einsum("hwk,tk->thw", a.unfold(1, 4, 1)[:, 1:5], b)
    (piece,) = smallest(program.roots(), [values])
    assert piece.index[1] == slice(4, 5)
    assert piece.index[2] == slice(0, 4)
    assert piece.scope.shape == (1, 1, 4)


def test_rows_of_about_one_size_have_no_smallest() -> None:
    program = ed.parse("Y[i,j] = 2*A[i,j]; Z[i] = A[i,0]", A=(6, 9))
    values = [torch.ones(6, 9), torch.ones(6)]
    values[0][2] = 0.5
    assert smallest(program.roots(), values) == ()
    values[0][2, 3] = float("nan")
    assert smallest(program.roots(), values) == ()


def test_a_candidate_that_is_wrong_in_few_rows_only_is_refused() -> None:
    """One row of 400 of a template lies where it fits: the rows that are always judged miss it."""
    text = "Y[t,h,w] = (A[h+r,w+s]-T[t,r,s])^2 where h in 0:57, w in 0:57"
    run = ed.compile(text, target="cpu", A=(64, 64), T=(16, 8, 8))
    generator = torch.Generator().manual_seed(3)
    sign = 2.0 * torch.randint(0, 2, (64, 1), generator=generator) - 1
    a = 1000 * sign + torch.randn(64, 64, generator=generator)
    t = 1000 * sign[5:13] + torch.randn(16, 8, 8, generator=generator)
    patches = a.double().unfold(0, 8, 1).unfold(1, 8, 1)
    wanted = ((patches[None] - t.double()[:, None, None]) ** 2).sum((3, 4))[:, 5]
    torch.testing.assert_close(run(a, t)[:, 5].double(), wanted, rtol=1e-5, atol=1e-3)
