"""What a kernel of rows writes, and what it leaves out where the plan does not need it."""

from __future__ import annotations

import re

import pytest

from einderive.eops.triton_kernels.emit_loops import decode
from einderive.eops.triton_kernels.emit_rows import emit_rows
from einderive.eops.triton_kernels.rows import LONGEST
from einderive.ta.ir.affine import Range
from tests.eops.triton_rows_runner import LAYER_NORM, SOFTMAX, Case

MOMENTS = "P[i] = X[i,k]; Q[i] = X[i,k]^2"


def source(text: str, **shapes: tuple[int, ...]) -> str:
    return emit_rows(Case("", text, shapes).plan())


@pytest.mark.parametrize(
    ("length", "masked"), [(64, False), (63, True), (2 * LONGEST, False), (2 * LONGEST - 1, True)]
)
def test_lanes_are_masked_where_a_row_has_fewer_places(length: int, masked: bool) -> None:
    made = source(SOFTMAX, X=(5, length))
    assert ("inside" in made) == masked
    assert "live" in made


@pytest.mark.parametrize(
    ("read", "rows", "guards"),
    [
        ("X[i-1,k+2]", 6, ["i0 - 1 >= 0", "j1 + 2 < 20"]),
        ("X[i-1,2*k]", 7, ["i0 - 1 >= 0", "2 * j1 < 20"]),
    ],
)
def test_only_what_bounds_leave_open_is_guarded(read: str, rows: int, guards: list[str]) -> None:
    text = f"M[i] = max[k]({read}) where i in 0:{rows}, k in 0:20; Y[i,k] = Z[i,k]-M[i]"
    made = source(text, X=(6, 20), Z=(rows, 20))
    assert re.findall(r"\(([^()]*[ij]\d[^()]* (?:>=|<) \d+)\)", made) == guards


def test_an_operand_along_the_row_is_read_along_the_row_alone() -> None:
    made = source(LAYER_NORM, X=(7, 300), G=(300,), B=(300,))
    assert "tl.load(a1 + (j1), mask=inside, other=0.0)" in made


def test_each_value_is_computed_once_where_a_row_fits() -> None:
    made = source(LAYER_NORM, X=(7, 300), G=(300,), B=(300,))
    names = re.findall(r"^ +(v\d+) = ", made, re.MULTILINE)
    assert len(names) > 8
    assert len(names) == len({*names})


def test_after_the_last_chunk_there_are_no_places() -> None:
    _, after = source(MOMENTS, X=(3, LONGEST + 1)).split("    t0 = ")
    assert "place" not in after
    assert "start" not in after


def test_a_result_of_the_row_is_written_once_a_row() -> None:
    """Also where it has a loop of its own, of one place."""
    scaled = "M[i] = max[j](X[i,j]); Y[i,k] = M[i]*B[k]"
    for made in (source("M[i] = max[j](X[i,j])", X=(6, 20)), source(scaled, X=(6, 20), B=(1,))):
        (where, mask) = re.findall(r"tl\.store\(out0 \+ \((.*?)\), .*mask=(.*)\)", made)[0]
        assert where in ("i0", "i0 + 0")
        assert mask == "live"
        assert "tl.broadcast_to(" not in made


def test_what_is_the_same_for_all_places_is_spread_where_it_is_written() -> None:
    text = "M[i] = max[j](X[i,j]); Y[i,j] = M[i] where j in 0:20"
    made = source(text, X=(6, 20))
    assert (
        made.count("tl.broadcast_to(") == made.count("tl.broadcast_to(t0, [BLOCK, BLOCK_R])") == 1
    )
    assert "tl.broadcast_to(" not in source(SOFTMAX, X=(6, 20))


def test_arithmetic_of_constants_alone_is_of_the_kernels_type() -> None:
    """Without an operand of that type, Triton would choose another one."""
    text = "T[i] = 2 where i in 0:6; M[i] = max[j](X[i,j]); "
    made = source(text + "Y[i,j] = X[i,j]*exp(T[i]+0.1) - M[i] + 3/M[i]", X=(6, 20))
    assert "tl.full([], 2.0, tl.float32) + 0.1\n" in made
    assert "tl.div_rn(tl.full([], 3.0, tl.float32), t0)" in made
    root = source("S[i] = sum[j](X[i,j]^2); Y[i,j] = X[i,j]*sqrt(S[i])", X=(6, 20))
    assert "tl.sqrt_rn(t0)" in root  # in float32 rounded to the nearest


def test_a_flat_index_is_split_into_iterators() -> None:
    """The last one fastest; one of a single value is a literal."""
    domain = [Range(0, 3), Range(5, 6), Range(-2, 2), Range(0, 1), Range(-3, -2), Range(7, 9)]
    lines, names = decode("index", range(6), domain)
    assert lines == ["i0 = index // 8", "i2 = index // 2 % 4 - 2", "i5 = index % 2 + 7"]
    assert names == {0: "i0", 1: "5", 2: "i2", 3: "0", 4: "(-3)", 5: "i5"}
    assert decode("index", (3, 0), domain)[0] == ["i0 = index"]
