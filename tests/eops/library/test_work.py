"""The work that operators, and stages that none computes, state: units, launches, copies."""

from __future__ import annotations

from typing import Any

import pytest

import einderive as ed
from einderive.derivations.matching.cost import eoperator_work
from einderive.derivations.matching.matcher import Matcher
from einderive.eops.library import by_name
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Work


def scope_of(text: str, ranges: dict[str, tuple[int, int]], **shapes: tuple[int, ...]) -> Scope:
    given: dict[str, Any] = {**shapes}
    dtypes = {name: "int64" for name in shapes if name == "I"}
    (scope,) = ed.parse(text, ranges=ranges, dtypes=dtypes, **given).roots()
    return scope


def work_of(operator: str, scope: Scope) -> Work:
    found = by_name(operator)
    ((_, binding), *_), _, _ = Matcher([found]).matches(scope)
    return found.work(binding)


@pytest.mark.parametrize(
    ("operator", "text", "shapes", "unit"),
    [
        ("conv1d", "Y[n,f,x] = A[n,c,x+r]*K[f,c,r]", ((1, 2, 8), (4, 2, 3)), "convolution1d"),
        (
            "conv1d",
            "Y[n,f,x] = A[n,c,x+r]*K[f,c,r]",
            ((2, 2, 8), (4, 2, 3)),
            "convolution1d of images",
        ),
        ("conv1d", "Y[n,c,x] = A[n,c,x+r]*K[c,r]", ((1, 4, 8), (4, 3)), "depthwise convolution"),
        (
            "conv_transpose1d",
            "Y[n,f,x] = A[n,c,r]*K[f,c,x-2*r]",
            ((1, 2, 3), (2, 2, 2)),
            "transposed convolution",
        ),
    ],
)
def test_convolutions_have_units_of_their_own(
    operator: str, text: str, shapes: tuple[tuple[int, ...], ...], unit: str
) -> None:
    scope = scope_of(text, {"x": (0, 6)}, A=shapes[0], K=shapes[1])
    assert work_of(operator, scope).unit == unit


@pytest.mark.parametrize(
    ("left", "right", "out", "views"),
    [
        ("A[i,k]", "B[k,j]", "Y[i,j]", 0),
        ("A[k,i]", "B[k,j]", "Y[i,j]", 1),
        ("A[k,i]", "B[j,k]", "Y[i,j]", 2),
        ("A[i,l,k]", "B[k,j]", "Y[i,l,j]", 2),  # i and l become one, and two again
    ],
)
def test_products_show_their_operands_as_matrices(
    left: str, right: str, out: str, views: int
) -> None:
    shapes = {"A": (4,) * left.count(",") + (4,), "B": (4, 4)}
    assert work_of("matmul", scope_of(f"{out} = {left}*{right}", {}, **shapes)).views == views


def test_a_product_of_overlapping_windows_copies_them() -> None:
    windows = scope_of(
        "T[i,k] = A[i+k]; Y[i,j] = T[i,k]*B[k,j]", {"i": (0, 8), "k": (0, 3)}, A=(10,), B=(3, 4)
    )
    dense = scope_of("Y[i,j] = T[i,k]*B[k,j]", {}, T=(8, 3), B=(3, 4))
    assert work_of("matmul", windows).bytes_copied == 2 * 8 * 3 * 4
    assert work_of("matmul", dense).bytes_copied == 0


def test_a_copy_of_long_runs_is_mostly_a_dense_one() -> None:
    """Windows of 3 x 3 places and 60 channels: each row of a window is a run of 180."""
    text = "Y[h,w,f] = A[h+r,w+s,c]*K[r,s,c,f]"
    scope = scope_of(text, {"h": (0, 8), "w": (0, 5)}, A=(10, 7, 60), K=(3, 3, 60, 4))
    work = work_of("matmul", scope)
    copied = 2 * (8 * 5) * (3 * 3 * 60) * 4
    assert work.bytes_copied == pytest.approx(copied * 3 / 180)
    assert work.bytes_in_runs == pytest.approx(copied * 177 / 180)


def test_a_gather_whose_index_has_a_loop_of_the_table_copies_the_table() -> None:
    alone = scope_of("Y[n] = E[I[n]]", {}, E=(6,), I=(5,))
    along = scope_of("Y[n] = E[n,I[n]]", {}, E=(5, 6), I=(5,))
    assert work_of("gather", alone).bytes_copied == 0
    assert work_of("gather", along).bytes_copied == 2 * 5 * 6 * 4


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("Y[i] = A[i]*B[i] + 1", "elementwise"),
        ("Y[i] = sum[k](abs(C[i,k]))", "reduction"),
        ("Y[i,j] = C[i,k]*D[k,j]*A[k]", "matmul"),
        ("Y[i] = A[i-1]", "pad_slice"),
        ("Y[n] = A[I[n]]", "gather"),
        ("Y[I[n]] += A[n]", "scatter"),
    ],
)
def test_a_stage_without_an_operator_has_the_launch_of_its_calls(text: str, like: str) -> None:
    shapes = {"A": (4,), "B": (4,), "C": (4, 4), "D": (4, 4), "I": (4,), "Y": (4,)}
    ranges = {"i": (0, 4)} if "A[i-1]" in text else {}
    given = {n: s for n, s in shapes.items() if n in text and (n != "Y" or "+=" in text)}
    work = eoperator_work(scope_of(text, ranges, **given), 4, fused=False)
    assert work.like == like
    assert work.calls >= 1
