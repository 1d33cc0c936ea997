"""Products with few columns by kernels of their own: their numbers, NaN, memory, types, threads."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends.narrow_products import NARROW_PRODUCTS, _multiplied, predicted
from einderive.eops.cache_folder import VARIABLE
from einderive.eops.cpu_kernels.calls.linked import loops
from einderive.eops.cpu_kernels.products import written
from einderive.eops.cpu_kernels.products.along import MOST
from einderive.eops.cpu_kernels.products.kernel import (
    MOST_COLUMNS,
    Form,
    Narrow,
    arranged,
    kernel_for,
    runs_along,
    takes,
)
from einderive.eops.torch_views.contract import NARROW, Operand, contract, narrow_by
from einderive.frontend.running.execute import executable, task_of
from tests.amount import sampled

KEPT = frozenset((0, 1))
PRODUCT = "Y[i,j] = A[i,k]*B[k,j]"


def matrix(rows: int, columns: int, how: str, dtype: torch.dtype) -> torch.Tensor:
    """A matrix of normal numbers, the same ones for each way to lie in memory."""
    whole = torch.randn(rows, columns, dtype=dtype)
    if how == "transposed":
        return whole.T.contiguous().T
    if how == "spaced":
        room = torch.full((2 * rows, 3 * columns), float("nan"), dtype=dtype)
        room[::2, ::3] = whole
        return room[::2, ::3]
    return whole


def multiplied(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    assert takes(x, y)
    y = arranged(x, y)
    (found,) = kernel_for(x, y)(x, y)
    return found


def test_random_products() -> None:
    draw = random.Random(7)
    ways: Counter[bool] = Counter()
    for number in range(20):
        dtype = draw.choice((torch.float32, torch.float64))
        columns = draw.randint(2, MOST_COLUMNS[str(dtype)[6:]] if number % 2 else MOST)
        rows, terms = draw.randint(1, 70), draw.choice((0, 1, 2, 7, 40, 255, 256, 257, 700))
        x = matrix(rows, terms, draw.choice(("dense", "transposed", "spaced")), dtype)
        y = matrix(terms, columns, "dense", dtype)
        found = multiplied(x, y)
        ways[runs_along(x, columns)] += 1
        scale = x.abs().double() @ y.abs().double() + 1
        error = (found.double() - x.double() @ y.double()).abs() / scale
        assert found.dtype == dtype
        assert float(error.max()) <= 8 * torch.finfo(dtype).eps
    assert min(ways[True], ways[False]) > 2


def test_rows_of_y_may_lie_apart() -> None:
    y = torch.randn(30, 12)[:, 3:8]
    x = torch.randn(9, 30)
    torch.testing.assert_close(multiplied(x, y), x @ y)


@sampled(2)
@pytest.mark.parametrize(
    ("terms", "columns"),
    [(6, 2), (6, 3), (6, 5), (6, 10), (6, 17), (6, 31), (71, 2), (64, 3), (79, 6)],
)
def test_nothing_beyond_the_result_is_written_and_nothing_beyond_the_operands_is_read(
    terms: int, columns: int
) -> None:
    rows, room = 11, 64
    x = torch.full((rows * terms + room,), float("nan"))
    x[: rows * terms] = torch.randn(rows * terms)
    x = x[: rows * terms].view(rows, terms)
    y = torch.full((terms * columns + room,), float("nan"))
    y[: terms * columns] = torch.randn(terms * columns)
    given = y[: terms * columns].view(terms, columns)
    if runs_along(x, columns):
        given = y[: terms * columns].view(columns, terms).T
    assert arranged(x, given) is given
    result = torch.full((rows * columns + room,), 7.0)
    kernel = kernel_for(x, given)
    kernel.run(x.data_ptr(), given.data_ptr(), result.data_ptr(), *kernel.numbers)
    torch.testing.assert_close(result[: rows * columns].view(rows, columns), x @ given)
    assert bool((result[rows * columns :] == 7).all())


@pytest.mark.parametrize("terms", [30, 90])
def test_nan_and_infinities_are_where_the_sum_has_them(terms: int) -> None:
    x, y = torch.randn(40, terms), torch.randn(terms, 5)
    x[3, 4], x[17, 0], y[29, 2], y[7, 1] = float("nan"), float("inf"), float("-inf"), 0.0
    found, expected = multiplied(x, y), x.double() @ y.double()
    assert torch.equal(found.isnan(), expected.isnan())
    assert torch.equal(found.isinf(), expected.isinf())
    assert torch.equal(found > 0, expected > 0)


@pytest.mark.parametrize("columns", [5, 12])
def test_threads_do_not_change_the_bits(columns: int) -> None:
    x, y = torch.randn(700, 900), torch.randn(900, columns)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(multiplied(x, y))
    finally:
        torch.set_num_threads(before)
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("columns", [2, 9])
def test_long_sums_keep_their_digits(columns: int) -> None:
    x, y = torch.full((2, 1 << 18), 0.1), torch.ones(1 << 18, columns)
    found = multiplied(x, y)
    assert float(found[0, 0]) == pytest.approx(float(x[0, 0]) * (1 << 18), rel=1e-5)


def test_other_matrices_are_not_taken() -> None:
    x = torch.randn(50, 20)
    for y in (torch.randn(20, 1), torch.randn(20, 33)):
        assert not takes(x, y)
    assert not takes(x, torch.randn(20, 5, dtype=torch.float64))
    assert not takes(x.bfloat16(), torch.randn(20, 5).bfloat16())
    assert not takes(x.double(), torch.randn(20, 17).double())


def test_a_kernel_on_disk_serves_other_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    written.code_of.cache_clear()
    x, y = torch.randn(64, 32), torch.randn(32, 29)
    kernel = Narrow(Form(29, "float32"), (64, 32, 32, 1, 29, 1))
    told: Any = kernel.kept()
    assert told is not None
    again = loops(*told)(x, y)
    written.code_of.cache_clear()
    torch.testing.assert_close(again[0], x @ y)
    loaded = Narrow(Form(29, "float32"), kernel.numbers)
    assert loaded.code.file == kernel.code.file
    torch.testing.assert_close(loaded(x, y)[0], again[0], rtol=0, atol=0)
    written.code_of.cache_clear()


@sampled(2)
@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        (PRODUCT, {"A": (300, 20), "B": (20, 6)}),
        (PRODUCT, {"A": (6, 20), "B": (20, 300)}),
        ("Y[j,i] = 3*A[k,i]*B[j,k]", {"A": (20, 300), "B": (6, 20)}),
        ("Y[i,u,j] = A[i,u,k,l]*B[k,l,j]", {"A": (60, 5, 4, 3), "B": (4, 3, 8)}),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_stage_that_is_a_product_runs_as_such_a_kernel(
    text: str, shapes: dict[str, tuple[int, ...]], dtype: str
) -> None:
    found = ed.derive(text, budget=ed.Budget(states=1), dtypes=dtype, **shapes)
    run = executable(found.unchanged, "cpu", compiled=True)
    assert run.words == (NARROW_PRODUCTS.word,)
    inputs = {t: torch.randn(t.shape, dtype=getattr(torch, dtype)) for t in found.source.inputs}
    plain = executable(found.unchanged, "cpu")
    assert NARROW_PRODUCTS.word not in plain.words
    torch.testing.assert_close(run(inputs)[0], plain(inputs)[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "shapes",
    [
        {"A": (300, 20), "B": (20, NARROW + 1)},
        {"A": (8, 8), "B": (8, 8)},
        {"A": (3, 300, 20), "B": (3, 20, 6)},
    ],
)
def test_other_products_stay_with_the_library_or_loops(shapes: dict[str, tuple[int, ...]]) -> None:
    text = PRODUCT if len(shapes["A"]) == 2 else "Y[b,i,j] = A[b,i,k]*B[b,k,j]"
    found = ed.derive(text, budget=ed.Budget(states=1), **shapes)
    assert NARROW_PRODUCTS.word not in executable(found.unchanged, "cpu", compiled=True).words
    (stage,) = found.unchanged.stages
    assert predicted(task_of(stage, "cpu", compiled=True)) is None


@pytest.mark.parametrize(("size", "stages"), [(100, 3), (80, 1)])
def test_a_product_between_other_stages(size: int, stages: int) -> None:
    """It is a part of their kernels only where it is small."""
    text = "T[i,k] = A[i,k]*where(i == k, 2, 1); P[i,j] = T[i,k]*B[k,j]; Y[i,j] = relu(P[i,j]+c[j])"
    found = ed.derive(text, budget=ed.Budget(states=1), A=(size, size), B=(size, 8), c=(8,))
    run = executable(found.unchanged, "cpu", compiled=True)
    assert run.words.count(NARROW_PRODUCTS.word) == (stages > 1)
    assert len(run.words) == stages
    inputs = {t: torch.randn(t.shape) for t in found.source.inputs}
    a, b, c = (inputs[next(t for t in inputs if t.name == name)] for name in "ABc")
    expected = torch.relu((a * (1 + torch.eye(size))) @ b + c)
    torch.testing.assert_close(run(inputs)[0], expected, rtol=1e-5, atol=1e-5)


def test_chains_of_products_within_a_stage_use_it() -> None:
    calls: list[tuple[int, int]] = []

    def multiply(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        calls.append((len(x), y.shape[1]))
        return x @ y

    left, right = torch.randn(5, 20), torch.randn(300, 20)
    with narrow_by(multiply):
        found, dims = contract(Operand(left, (0, 2)), Operand(right, (1, 2)), KEPT)
    assert calls == [(300, 5)]
    assert dims == (0, 1)
    torch.testing.assert_close(found, left @ right.T)


def test_lazily_negated_operands_are_read_with_their_own_strides() -> None:
    """Carrying the negation out makes a tensor of other strides."""
    x = torch.randn(90, 90, 3, dtype=torch.complex64)[:, :, 0].conj().imag
    y = torch.randn(90, 8, 2, dtype=torch.complex64)[:, :, 1].conj().imag
    assert x.is_neg()
    assert y.is_neg()
    torch.testing.assert_close(_multiplied(x, y), x.resolve_neg() @ y.resolve_neg())
