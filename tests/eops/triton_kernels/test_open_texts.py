"""The text of open kernels: which numbers are arguments, and in which order operands stand."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from einderive.eops.loops.drafts.ordered import SMALL
from einderive.eops.triton_kernels.build import text_of
from einderive.eops.triton_kernels.plan import plan
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.eops.triton_rows_runner import SOFTMAX, Case

Shape = tuple[int, ...]


def stage(text: str, dtype: str = "float32", **shapes: Shape) -> Scope:
    (root,) = parse(text, shapes, dtype).roots()
    return root


def text(formula: str, dtype: str = "float32", **shapes: Shape) -> tuple[str, tuple[int, ...]]:
    return text_of(plan(stage(formula, dtype, **shapes), open_beyond=SMALL))


def statements(source: str) -> list[str]:
    """The lines of the kernel."""
    lines = source.partition("def eop")[2].splitlines()
    return [line.strip() for line in lines[1:]]


def test_an_open_source_reads_well() -> None:
    source, numbers = text("Y[b,i,j] = X[b,i,j]*W[j] + 1/40", X=(7, 5, 20), W=(20,))
    assert source == OPEN
    assert numbers == (20, 100, 1020054733, 100, 20, 700)


OPEN = """\
# a0 = W, float32
# a1 = X, float32
# c0, c1, ... = extents, strides and numbers of the size that it runs for
# program p computes outputs p*BLOCK ... (p+1)*BLOCK - 1 of the flattened output

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["c2"])
def eop(a0, a1, out, c0, c1, c2, c3, c4, c5, BLOCK: tl.constexpr):
    fc2 = c2.to(tl.float32, bitcast=True)
    zero = tl.full([], 0, tl.int32)
    pid = zero + tl.program_id(0)
    index = pid * BLOCK + tl.arange(0, BLOCK)
    live = index < c5
    i0 = index // c1
    i1 = index // c0 % 5
    i2 = index % c0
    v0 = tl.load(a0 + (i2), mask=live, other=0.0)
    v1 = tl.load(a1 + (c3 * i0 + c4 * i1 + i2), mask=live, other=0.0)
    v2 = v0 * v1
    v3 = fc2 + v2
    result = v3
    result = tl.broadcast_to(result, [BLOCK])
    tl.store(out + index, result.to(tl.float32), mask=live)
"""


def test_operands_of_functions_are_arguments() -> None:
    source, numbers = text("Y[i] = max(X[i], 1/40)", X=(50,))
    assert "v1 = fc0" in source
    assert numbers == (1020054733, 50)


def test_integers_of_the_formula_are_arguments() -> None:
    source, numbers = text("Y[i] = where(X[i] > 40, X[i], 3*X[i])", "int64", X=(50,))
    assert "v0 = tl.full([], c0, tl.int64)" in source
    assert "bitcast" not in source
    assert "3 * v1" in source
    assert numbers == (40, 50)


def test_real_numbers_of_rows_are_arguments() -> None:
    made = Case("", "M[i] = mean[j](X[i,j]); Y[i,j] = X[i,j] - M[i]", {"X": (40, 50)}).plan()
    source, numbers = text_of(replace(made, open_beyond=SMALL))
    (bits,) = struct.unpack("<i", struct.pack("<f", 1 / 50))
    assert bits in numbers
    assert ".to(tl.float32, bitcast=True)" in source
    assert "0.02" not in source
    assert "0.02" in text_of(made)[0]


def test_rows_of_an_open_kernel_are_masked() -> None:
    """Another row is shorter than the lanes."""
    for open_beyond, masked in ((0, False), (SMALL, True)):
        made = replace(Case("", SOFTMAX, {"X": (40, 64)}).plan(), open_beyond=open_beyond)
        source, _ = text_of(made, "a formula of 64")
        assert ("inside" in source) == masked
        assert ("64" in source) != masked
        assert ("a formula of" in source) != masked


@pytest.mark.parametrize(
    "formula",
    [
        "Y[i] = exp(A[i]) + sin(A[i]) + exp(B[i])*A[i] + cos(A[i]*B[i])",
        "Y[i] = exp(A[i]) * sin(A[i]) * cos(A[i]*B[i])",
        "Y[i] = hypot(exp(A[i]), sin(A[i])) + B[i]",
        "Y[i] = where(exp(A[i]) == sin(A[i]), B[i], 2)",
    ],
)
def test_operands_stand_in_one_order_for_all_sizes(formula: str) -> None:
    """Hashes of shapes order them otherwise where the kernel has its sizes in the text."""
    sizes = range(40, 56)
    found = [stage(formula, A=(n,), B=(n,)) for n in sizes]
    assert len({text_of(plan(one, open_beyond=SMALL))[0] for one in found}) == 1
    closed = [
        text_of(plan(one))[0].replace(str(n), "n") for n, one in zip(sizes, found, strict=True)
    ]
    assert [*map(statements, closed)] != [statements(closed[0])] * len(closed)


@pytest.mark.parametrize(
    ("number", "dtype"),
    [("1e300", "float32"), ("-1e300", "float32"), ("1e-320", "float64"), ("1e400", "float64")],
)
def test_numbers_that_no_argument_holds_are_in_the_text(number: str, dtype: str) -> None:
    """Infinite in the type; or with so few bits that Triton takes them for an integer of 32."""
    source, numbers = text(f"Y[i] = X[i]*({number})", dtype, X=(400,))
    assert numbers == (400,)
    assert ('float("' in source) == (number != "1e-320")
