"""Drafts: which loops are one in memory, and which divisions are by the parts of the divisor."""

from __future__ import annotations

from random import Random

import pytest

from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.draft import Draft, divided, drafted, merged
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.values import DIVIDED, Operation
from einderive.eops.loops.windows import with_windows
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import check
from tests.eops.loops.programs import data

Shapes = dict[str, tuple[int, ...]]


def grouped(text: str, shapes: Shapes) -> Group:
    roots = parse(text, shapes, "float32").roots()
    return Group(tuple(stages(*roots)), roots)


def draft_of(group: Group) -> Draft:
    found = drafted(group, dense(group), alike(group, "float32"))
    assert found is not None
    return found


MERGED: dict[str, tuple[str, Shapes, list[int]]] = {
    "rows of a matrix": ("Y[i,j] = exp(X[i,j])", {"X": (5, 8)}, [40]),
    "three loops": ("Y[i,j,k] = exp(X[i,j,k])", {"X": (5, 8, 3)}, [120]),
    "a transposed read": ("Y[i,j] = X[i,j]*W[j,i]", {"X": (5, 8), "W": (8, 5)}, [5, 8]),
    "a read that may miss": ("Y[i,j] = X[i,j]*X[i-1,j] where i in 0:5", {"X": (5, 8)}, [5, 8]),
    "a position": ("Y[i,j] = X[i,j]*i", {"X": (5, 8)}, [5, 8]),
    "a total": ("Y = sum[i,j](X[i,j]^2)", {"X": (5, 8)}, [40]),
    "a shared loop and one of a total": (
        "D[i] = sum[j](X[i,j]); Y[i,j] = X[i,j]/D[i]",
        {"X": (5, 8)},
        [5, 8],
    ),
    "one of two loops of a total": (
        "out S[i] = sum[j,k](X[i,j,k]); T[i,j] = W[i]^2 where j in 0:4; out Z[i] = sum[j](T[i,j])",
        {"X": (3, 4, 5), "W": (3,)},
        [3, 4, 5],
    ),
    "ranges that begin elsewhere": (
        "Y[i,j] = exp(X[i,j]) where i in 2:5, j in 0:8",
        {"X": (5, 8)},
        [24],
    ),
}


@pytest.mark.parametrize(("text", "shapes", "extents"), MERGED.values(), ids=MERGED)
def test_loops_that_are_one_in_memory(text: str, shapes: Shapes, extents: list[int]) -> None:
    group = grouped(text, shapes)
    found = [side.extent for side in merged(draft_of(group)).domain]
    assert [extent for extent in found if extent > 1] == extents
    assert 0 not in found
    assert check(group, data(group.outputs, Random(text)), Random(text))


WINDOWS: dict[str, tuple[str, Shapes, list[int]]] = {
    "loops that the window is not read at": (
        "T[i,m] = exp(X[i,m]); Y[i,j,k] = T[i,0]*T[i,1]*W[j,k]",
        {"X": (5, 2), "W": (4, 3)},
        [5, 12, 2],
    ),
    "loops of a total": (
        "T[k,m] = exp(X[k,m]); Y[k] = sum[i,j](T[k,0]*T[k,1]*W[i,j])",
        {"X": (5, 2), "W": (4, 3)},
        [5, 12, 2],
    ),
    "those of the window stay": (
        "T[i,j] = exp(X[i,j]); Y[k] = T[k,k-1]*T[k+1,k] where k in 0:5",
        {"X": (5, 8)},
        [5, 5, 5],
    ),
}


@pytest.mark.parametrize(("text", "shapes", "extents"), WINDOWS.values(), ids=WINDOWS)
def test_loops_beside_a_window(text: str, shapes: Shapes, extents: list[int]) -> None:
    (group, *_) = with_windows(grouped(text, shapes))
    assert [side.extent for side in merged(draft_of(group)).domain if side.extent > 1] == extents


DIVISIONS: dict[str, tuple[str, int, int]] = {
    "by what a loop of this length does not change": ("Y[i,j] = X[i,j]/D[i]", 40, 1),
    "by what a shorter loop does not change": ("Y[i,j] = X[i,j]/D[i]", 41, 0),
    "by what every step changes": ("Y[i,j] = X[i,j]/X[i,j]^2 + 1/X[i,j]", 1, 0),
    "by a power of two": ("C[i] = 4 where i in 0:5; Y[i,j] = X[i,j]/C[i]", 40, 0),
    "by another number": ("C[i] = 3 where i in 0:5; Y[i,j] = X[i,j]/C[i]", 40, 1),
    "none": ("Y[i,j] = exp(X[i,j])*D[i]", 40, 0),
}


@pytest.mark.parametrize(("text", "long", "count"), DIVISIONS.values(), ids=DIVISIONS)
def test_divisions_by_parts(text: str, long: int, count: int) -> None:
    draft = draft_of(grouped(text, {"X": (5, 40), "D": (5,)} if "D" in text else {"X": (5, 40)}))
    found = divided(draft, long)
    words = [isinstance(value, Operation) and value.word for value in found.values]
    assert words.count(DIVIDED) == count
    assert (found is draft) == (count == 0)
