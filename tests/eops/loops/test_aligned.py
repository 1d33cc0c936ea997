"""What a group's stages read, which of them are views, and how their iterators correspond."""

from __future__ import annotations

import pytest

from einderive.eops.loops.drafts.group import aligned, is_view
from einderive.ta.ir.positions import INDEX
from tests.eops.loops.programs import grouped


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("Y[i,j] = X[j,i]", True),
        ("Y[i] = X[i,2]", True),
        ("Y[i] = X[i,5-i]", True),  # 5*i + 5
        ("Y[i] = X[5-i,i]", False),  # backwards
        ("Y[i,j] = X[i,j+1] where j in 0:6", False),  # misses
        ("Y[i,j] = X[i,j//2] where j in 0:12", False),
        ("Y[i] = sum[j](X[i,j])", False),
        ("Y[i,j] = 2*X[i,j]", False),
    ],
)
def test_views(text: str, view: bool) -> None:
    (stage,) = grouped(text, {"X": (6, 6)}).stages
    assert is_view(stage) == view


def test_each_read_counts_once_and_positions_are_none() -> None:
    text = "T[i,j] = X[i,j]*j; Y[i,j] = T[i,j] + T[i,j]^2 + X[i,j] + T[i,j-1] + i"
    group = grouped(text, {"X": (5, 6)})
    (last,) = group.outputs
    found = [*group.reads(last)]
    assert INDEX not in {source for source, _ in found}
    assert len(found) == len({*found}) == 2


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("M[i] = max[j](X[i,j]); Y[i,j] = X[i,j] - M[i]", {(0, 1)}),
        ("M[j] = max[i](X[i,j]); Y[i,j] = X[i,j] - M[j]", {(0, 1), (1, 0)}),
        ("S[i] = sum[j](X[i,j]); T[i] = sum[j](X[j,i]); Y[i] = S[i]*T[i]", None),
        ("M[i] = max[k](Z[i,k]); Y[j,i] = X[j,i] - M[i]", {(0, 1), (1, 0)}),
        ("S[b] = sum[c](W[b,c]); Y[b,c,h] = S[b]*X[c,h]", {(0, 1), (0, 1, 2)}),
        ("S[i] = sum[j](X[i,j]); T[j] = sum[i](X[i,j])", None),  # rows and columns
        ("S[i] = sum[j](X[i,j]); Y[i] = S[i] + S[0]", None),  # a total at another place
    ],
)
def test_iterators_that_correspond(text: str, places: set[tuple[int, ...]] | None) -> None:
    shapes = {"X": (6, 6), "Z": (6, 6), "W": (3, 6)}
    found = aligned(grouped(text, {name: shapes[name] for name in shapes if f"{name}[" in text}))
    assert (found and {*found.places.values()}) == places
