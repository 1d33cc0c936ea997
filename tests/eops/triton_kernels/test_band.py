"""A band of a matrix product has no tiles as it is written: the search for a GPU blocks it."""

from __future__ import annotations

import pytest

import einderive as ed
from einderive.eops.triton_kernels.plan import plan

BAND = "Y[b,m,w] = A[b,m,k]*B[b,m+{d}*(w-{W}),k] where w in 0:{end}"


@pytest.mark.parametrize(("dilation", "width"), [(1, 64), (4, 32)])
def test_the_search_gives_a_product_of_tiles(dilation: int, width: int) -> None:
    text = BAND.format(d=dilation, W=width, end=2 * width + 1)
    found = ed.derive(text, target="cuda:90", A=(8, 4096, 64), B=(8, 4096, 64))
    (given,) = found.unchanged.stages
    assert plan(given.scope).form == "flat"
    best = found.candidates[0]
    assert [plan(stage.scope).form for stage in best.stages] == ["dot", "loop"]
    assert best.seconds < found.unchanged.seconds / 2
