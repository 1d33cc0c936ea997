"""What plans for a GPU choose: forms, blocks, parts, indices; by the plan, no kernel runs."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

import einderive as ed
from einderive.eops.triton_kernels.contraction import by_stride, contraction
from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import plan
from einderive.eops.triton_kernels.rows import LONGEST, row_plan
from einderive.eops.triton_kernels.split import split
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Scope
from tests.eops.fused_products import MATRICES, PRODUCT, Product
from tests.eops.triton_rows_runner import SOFTMAX, Case
from tests.eops.triton_runner import row

Shapes = dict[str, tuple[int, ...]]


def stage(text: str, shapes: Shapes, dtype: str = "float32") -> Scope:
    return ed.parse(text, dtypes=dtype, **shapes).roots()[0]


@pytest.mark.parametrize(
    ("shape", "blocks"),
    [
        ((9, 50), [(8, 64, 1), (16, 64, 2), (16, 64, 1)]),
        ((1, 300), [(1, 512, 1)]),
        ((5, 2), [(8, 2, 1)]),
        ((4096, 4096), [(1, 4096, 8), (1, 4096, 4), (2, 4096, 16), (2, 4096, 8)]),
        ((4096, LONGEST), [(1, LONGEST, 16)]),
        ((3, LONGEST // 2), [(1, 8192, 16), (1, 8192, 8), (2, 8192, 16)]),
        ((64, 1 << 16), [(1, 4096, 8), (2, 4096, 16)]),
        (
            (300, 1024),
            [(2, 1024, 4), (2, 1024, 2), (1, 1024, 2), (1, 1024, 1), (4, 1024, 8), (4, 1024, 4)],
        ),
        (
            (256, 1024),
            [(2, 1024, 4), (2, 1024, 2), (1, 1024, 2), (1, 1024, 1), (4, 1024, 8), (4, 1024, 4)],
        ),
        ((10**6, 3), [(512, 4, 4), (512, 4, 2), (1024, 4, 8), (1024, 4, 4), (128, 4, 1)]),
    ],
)
def test_blocks_of_rows(shape: tuple[int, int], blocks: list[tuple[int, int, int]]) -> None:
    """Rows, places and warps: first as many rows as fill the lanes, if that keeps a GPU busy; a
    whole row also on half of the warps; longer rows in chunks."""
    made = Case("", SOFTMAX, {"X": shape}).plan()
    found = [(c.block("BLOCK"), c.block("BLOCK_R"), c.num_warps) for c in made.configs]
    assert found == blocks
    assert made.passes == (((0,), ()), ((1,), ()), ((), (0,)))


@pytest.mark.parametrize(
    ("read", "shape", "wide"),
    [
        ("X[i,j]", (2**15, 2**15), False),
        ("X[i,j]", (2**16, 2**15), True),  # so many elements
        ("X[3*i,j]", (100, 20), False),
        ("X[30000000*i,j]", (6, 20), False),
        ("X[40000000*i,j]", (6, 20), True),  # beyond the elements, before a guard is asked
    ],
)
def test_indices_of_rows_that_leave_32_bits(read: str, shape: tuple[int, int], wide: bool) -> None:
    rows = f" where i in 0:3, j in 0:{shape[1]}" if "*" in read else ""
    text = f"M[i] = max[j]({read}){rows}; Y[i,j] = M[i] - Z[i,j]"
    made = Case("", text, {"X": shape, "Z": (3 if rows else shape[0], shape[1])}).plan()
    assert made.wide == wide


@pytest.mark.parametrize(
    ("text", "size", "wide"),
    [
        ("Y[i] = X[i]", 2**31 - 2**20, False),
        ("Y[i] = X[i]", 2**31 - 2**19, True),  # with the last block's lanes
        ("Y[i] = X[-((i-5)//3000000000)] where i in 0:9", 2, True),  # raised before it is divided
        ("Y[i] = X[-((i-5)//300)] where i in 0:9", 2, False),
    ],
)
def test_indices_that_leave_32_bits(text: str, size: int, wide: bool) -> None:
    made = plan(stage(text, {"X": (size,)}))
    assert made.wide == wide
    assert ("tl.int64" in emit(made)) == wide


@pytest.mark.parametrize(("step", "wide"), [(2_000_000, False), (200_000_000, True)])
def test_conditions_after_a_product_that_leave_32_bits(step: int, wide: bool) -> None:
    text = f"{PRODUCT}; out Y[i,j] = where({step}*j <= i, C[i,j], -1)"
    assert Product(text, MATRICES).plan.wide == wide


def test_where_nothing_runs_along_a_line_of_memory_one_output_may_be_alone() -> None:
    text = "Y[i] = sum[j](X[2*i,2*j]) where i in 0:64, j in 0:8192"
    made = plan(stage(text, {"X": (128, 16384)}))
    assert made.form == "flat"
    assert min(config.block("BLOCK") for config in made.configs) == 1


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("M[b] = max[c,h](X[b,c,h]); Y[b,c] = M[b]*B[c]", {"X": (6, 2, 20), "B": (2,)}),
        ("M[i] = max[j](X[i,j]); Y[i,j] = X[i,j] < M[i]", {"X": (6, 20)}),  # truth values
        ("S[i] = sum[j](X[i,j] < 1/2); Y[i] = S[i] + 1", {"X": (6, 20)}),  # whole numbers
        (SOFTMAX, {"X": (0, 5)}),
        ("M[i] = max[j](X[i,j]); Y[i,k] = M[i] where k in 0:0", {"X": (6, 5)}),
        ("M[i] = max[j](X[i,j]); Y[i,j] = M[i] - Z[i,j]", {"X": (6, 5), "Z": (6, 0)}),
    ],
)
def test_groups_that_are_no_rows(text: str, shapes: Shapes) -> None:
    group = Case("", text, shapes).group()
    assert row_plan(group, ("float32",) * len(group.operands)) is None


@pytest.mark.parametrize(
    ("text", "shapes", "parts"),
    [
        ("S = sum[i](X[i])", {"X": (8191,)}, 0),
        ("S = sum[i](X[i])", {"X": (8192,)}, 2),
        ("S = sum[i](X[i])", {"X": (1 << 22,)}, 256),
        ("S = sum[i](X[i])", {"X": (16411,)}, 4),  # no part of the others' length
        ("S = sum[i](X[i])", {"X": (0,)}, 0),
        ("S[j] = sum[i](X[i,j])", {"X": (1 << 20, 0)}, 0),
        ("S[j] = sum[i](X[j,i])", {"X": (100, 1 << 20)}, 2),
        ("S[j] = sum[i](X[i,j])", {"X": (1 << 20, 100)}, 512),
        ("S[j] = sum[i](X[i,j])", {"X": (2048, 100)}, 4),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (64, 1 << 20), "B": (1 << 20, 65)}, 512),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (640, 2048), "B": (2048, 640)}, 4),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (640, 1 << 16), "B": (1 << 16, 640)}, 8),
        ("S[j] = sum[i](abs(X[j,i]-W[j]))", {"X": (100, 1 << 20), "W": (100,)}, 2),
        ("S = sum[i](X[i])", {"X": (30000,)}, 6),  # of at most 7, so that all are equally long
        ("Y[b,i,j] = A[b,i,k]*B[b,k,j]", {"A": (8, 64, 8192), "B": (8, 8192, 64)}, 16),
        ("S = prod[i](X[i])", {"X": (1 << 20,)}, 0),
    ],
)
def test_parts_of_long_reductions(text: str, shapes: Shapes, parts: int) -> None:
    found = split(stage(text, shapes))
    assert (found[1].sums[0].extent if found else 0) == parts


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [("float16", "float16", 2), ("float32", "float16", 8), ("float32", "float32", 8)],
)
def test_products_without_matrix_instructions_have_more_parts(
    left: str, right: str, parts: int
) -> None:
    shapes = {"A": (640, 1 << 16), "B": (1 << 16, 640)}
    program = ed.parse("Y[i,j] = A[i,k]*B[k,j]", dtypes={"A": left, "B": right}, **shapes)
    found = split(program.roots()[0])
    assert found is not None
    assert found[1].sums[0].extent == parts


FACTORS = "A[i,k]*B[k,j]*C[k]*D[i]*E[j]"
SIDES: Shapes = {"A": (20, 40), "B": (40, 20), "C": (40,), "D": (20,), "E": (20,)}


@pytest.mark.parametrize(
    ("text", "shapes", "form"),
    [
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (20, 40), "B": (40, 20)}, "dot"),
        ("Y[i,j] = max[k](A[i,k]*B[k,j])", {"A": (20, 40), "B": (40, 20)}, "flat"),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (20, 40), "B": (40, 15)}, "flat"),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (16, 16), "B": (16, 16)}, "dot"),
        ("Y[i,j] = A[i,k]*B[k,j]", {"A": (16, 15), "B": (15, 16)}, "loop"),
        (f"Y[i,j] = {FACTORS}*F[i,k]", {**SIDES, "F": (20, 40)}, "dot"),
        (f"Y[i,j] = {FACTORS}*F[i,k]*G[k,j]", {**SIDES, "F": (20, 40), "G": (40, 20)}, "flat"),
        ("Y[i,j] = sum[k](where(k < 30, A[i,k]*B[k,j], 0))", {"A": (20, 40), "B": (40, 20)}, "dot"),
        ("Y[i,j] = sum[k](where(k < i, A[i,k]*B[k,j], 0))", {"A": (20, 40), "B": (40, 20)}, "flat"),
        (
            "Y[i,j] = sum[k](where(k < 30 and k < j, A[i,k]*B[k,j], 0))",
            {"A": (20, 40), "B": (40, 20)},
            "flat",
        ),
        ("Y[i,j] = X[j,i]", {"X": (40, 50)}, "tile"),
        ("Y[i,j] = X[j,i]", {"X": (40, 15)}, "loop"),
        ("Y[i,j] = X[i,j]+X[i+1,j] where i in 0:39", {"X": (40, 50)}, "tile"),
        ("Y[i,j,l] = X[j,i]*W[l]", {"X": (40, 50), "W": (2,)}, "loop"),
        ("Y[i,j] = X[i,j]+X[i+1,2*j] where i in 0:39, j in 0:50", {"X": (40, 100)}, "loop"),
        ("Y[i] = sum[j](X[i,j])", {"X": (6, 31)}, "loop"),
        ("Y[i] = sum[j](X[i,j])", {"X": (6, 32)}, "flat"),
        ("Y[i] = sum[j](X[i,j])", {"X": (1 << 17, 32)}, "flat"),
        ("Y[i] = sum[j](X[j,i])", {"X": (32, 1 << 17)}, "loop"),
        ("Y[i,j] = sum[k](abs(X[i,k]-W[j]))", {"X": (1 << 17, 32), "W": (2,)}, "loop"),
    ],
)
def test_forms(text: str, shapes: Shapes, form: str) -> None:
    assert plan(stage(text, shapes)).form == form


def test_roles_of_iterators() -> None:
    """The largest matrices of several, and columns that lie side by side in the result."""
    given: Shapes = {"A": (40, 20), "B": (20, 20), "D": (40, 50, 20)}
    found = contraction(stage("Y[i,j,l] = A[i,k]*B[j,k]*D[i,l,k]", given))
    assert found is not None
    assert (found.batch, found.m, found.n, found.k) == ((), (1,), (0, 2), (3,))
    given = {"A": (5, 5, 20), "B": (5, 5, 20)}
    found = contraction(stage("Y[a,b,c,d] = A[a,d,k]*B[b,c,k]", given))
    assert found is not None
    assert (found.m, found.n) == ((1, 2), (0, 3))
    found = contraction(stage("Y[j,i] = A[i,k]*B[k,j]", {"A": (20, 30), "B": (30, 16)}))
    assert found is not None
    assert (found.m, found.n) == ((0,), (1,))


@pytest.mark.parametrize("factor", ["2", "3/7", "1"])
def test_a_factor_below_a_condition_counts(factor: str) -> None:
    text = f"Y[i,j] = sum[k](where(k < 30, {factor}*A[i,k]*B[k,j], 0))"
    found = contraction(stage(text, {"A": (20, 40), "B": (40, 20)}))
    assert found is not None
    assert found.coefficient == Fraction(factor)


def test_iterators_by_falling_stride() -> None:
    """The least stride counts that is not 0; an iterator of no offset comes last."""
    rows = [row(5, x1=5, x3=1), row(x2=7, x1=-100), row(x2=-7)]
    assert by_stride((0, 3, 1, 2), rows) == (2, 1, 3, 0)
    assert by_stride((2, 1), [row(x1=3, x2=-3)]) == (1, 2)


def test_what_depends_on_no_sum_is_computed_before_the_loop() -> None:
    made = emit(plan(stage("Y[i] = sum[j](abs(W[i] - X[i,j]))", {"W": (6,), "X": (6, 70)})))
    assert re.search(r"tl\.load\(a0 .*\n    for start", made)


def test_a_product_is_not_multiplied_by_one() -> None:
    shapes = {"A": (20, 30), "B": (30, 20)}
    made = emit(plan(stage("Y[i,j] = sum[k](A{fill=2}[i,k]*B[k,j])", shapes)))
    assert "acc *" not in made
    assert "tl.where(live_k" not in made
    assert "(acc * 2.0)" in emit(plan(stage("Y[i,j] = sum[k](2*A[i,k]*B[k,j])", shapes)))


def test_a_guard_tests_only_what_bounds_leave_open() -> None:
    made = emit(plan(stage("Y[i] = X[i-1] where i in 0:6", {"X": (6,)})))
    assert "mask=live & (i0 - 1 >= 0), other" in made


def test_powers_and_helpers_as_text() -> None:
    made = emit(plan(stage("Y[i] = X[i]^9 + exp(X[i])", {"X": (6,)})))
    assert len(re.findall(r"v\d+ \* v\d+", made)) == 3  # by squaring
    assert "_exp(v0)" in made
    text, types = "Y[i] = where(exp(D[i]) < 3, exp(X[i]), 0)", {"D": "float64", "X": "float32"}
    compared = emit(plan(ed.parse(text, dtypes=types, D=(6,), X=(6,)).roots()[0]))
    assert "_exp_wider(v0)" in compared
    assert "_exp(v" in compared
    made = emit(plan(stage("Y[i] = X[i] < i/3 + exp(X[i])", {"X": (6,)})))
    assert "_exp(v0)" in made


def test_an_integer_is_tested_as_one() -> None:
    text, types = "Y[i] = where(C[i], X[i], 0)", {"C": "int64", "X": "float32"}
    made = emit(plan(ed.parse(text, dtypes=types, C=(6,), X=(6,)).roots()[0]))
    assert "tl.load(a0 + (i0), mask=live, other=0)\n" in made
    assert "tl.where(v0 != 0, v1, " in made


@pytest.mark.parametrize(("index", "half"), [("k", "float16"), ("k+1", "")])
def test_sides_of_halves_stay_so_where_no_fill_is_read(index: str, half: str) -> None:
    text = f"Y[i,j] = sum[k](A{{fill=2}}[i,{index}]*B[k,j])"
    assert plan(stage(text, {"A": (20, 30), "B": (30, 20)}, "float16")).half == half


def test_a_dividend_that_is_raised_counts() -> None:
    """Triton rounds towards zero: (i - 5)//n is written (i - 5 + n)//n - 1."""
    inner, n = Row(-5, ((0, 1),), ()), 3_000_000_000
    assert affine.magnitude(Row(0, (), ((inner, n, 1),)), (Range(0, 9),)) >= n
