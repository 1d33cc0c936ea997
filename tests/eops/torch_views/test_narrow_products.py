"""A narrow product in either form: the same numbers, the form measured once, and in a fixed form
where nothing may be timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
import torch

from einderive.eops import timed as narrow
from einderive.eops.timed import fastest, is_timed, untimed
from einderive.eops.torch_views.contract import MEASURED, Operand, contract
from einderive.frontend.call.record import record

KEPT = frozenset((0, 1, 2))


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    narrow._KNOWN.clear()
    yield
    narrow._KNOWN.clear()


def operands(
    batch: int, rows: int, columns: int, summed: int, dtype: torch.dtype = torch.float32
) -> tuple[Operand, Operand]:
    left = Operand(torch.randn(batch, rows, summed, dtype=dtype), (0, 1, 3))
    right = Operand(torch.randn(batch, summed, columns, dtype=dtype).mT, (0, 2, 3))
    return left, right


def taken(monkeypatch: pytest.MonkeyPatch, number: int) -> list[int]:
    """From now on this form counts as the fastest one.  Each measurement adds to the list."""
    measured: list[int] = []

    def choose(forms: object, gain: float) -> int:
        measured.append(number)
        return number

    monkeypatch.setattr(narrow, "measured", choose)
    return measured


@pytest.mark.parametrize("form", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "sizes", [(1, 200, 3, 20), (1, 3, 200, 20), (4, 100, 5, 7), (4, 5, 100, 7)]
)
def test_both_forms_are_the_product(
    monkeypatch: pytest.MonkeyPatch,
    sizes: tuple[int, int, int, int],
    dtype: torch.dtype,
    form: int,
) -> None:
    measured = taken(monkeypatch, form)
    left, right = operands(*sizes, dtype)
    for _ in range(2):
        result, dims = contract(left, right, KEPT)
        assert dims == (0, 1, 2)
        torch.testing.assert_close(result, left.tensor @ right.tensor.mT)
    assert measured == [form]  # once for these layouts


def test_the_forms_store_their_results_in_different_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, right = operands(1, 200, 3, 20)
    orders = []
    for form in (0, 1):
        narrow._KNOWN.clear()
        taken(monkeypatch, form)
        orders.append(contract(left, right, KEPT).tensor.stride()[1:])
    assert orders == [(3, 1), (1, 200)]


@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [
        ((1, 200, 1, 20), torch.float32),
        ((1, 200, 100, 20), torch.float32),
        ((1, 2000, 100, 2), torch.float32),
        ((1, 200, 3, 20), torch.bfloat16),
        ((1, 200, 3, 20), torch.complex64),
    ],
)
def test_other_products_are_not_measured(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, int, int, int], dtype: torch.dtype
) -> None:
    measured = taken(monkeypatch, 1)
    left, right = operands(*sizes, dtype)
    contract(left, right, KEPT)
    assert not measured


def test_nothing_is_measured_where_bits_have_to_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = taken(monkeypatch, 1)
    left, right = operands(1, 200, 3, 20)
    with untimed():
        result = contract(left, right, KEPT).tensor
    assert not measured
    assert result.stride()[1:] == (3, 1)
    assert is_timed(left.tensor, right.tensor)


def test_a_recorder_sees_the_chosen_product_alone() -> None:
    left, right = operands(1, 200, 3, 20)

    def run(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return [contract(Operand(tensors[0], left.dims), Operand(tensors[1], right.dims), KEPT)[0]]

    trace, _ = record(run, [left.tensor, right.tensor])  # type: ignore[arg-type]
    assert len(narrow._KNOWN) == 1
    assert sum(call.function is torch.mm for call in trace.calls) == 1


def test_the_faster_form_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(narrow, "perf_counter", lambda: now)

    def taking(seconds: float) -> None:
        nonlocal now
        now += seconds

    def ran(*seconds: float) -> int:
        narrow._KNOWN.clear()
        return fastest("key", lambda: [lambda s=s: taking(s) for s in seconds])  # type: ignore[misc]

    assert ran(1e-4, 5e-5) == 1
    assert ran(1e-4, 9.5e-5) == 0  # no clear gain
    assert ran(5e-5, 1e-4) == 0
    assert fastest("key", list) == 0  # known


def test_a_long_product_runs_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    now, runs = 0.0, 0
    monkeypatch.setattr(narrow, "perf_counter", lambda: now)

    def run() -> None:
        nonlocal now, runs
        now, runs = now + 0.02, runs + 1

    fastest("key", lambda: [run, run])
    assert runs == 2 * (1 + narrow.LEAST_ROUNDS)


def test_of_a_long_product_a_piece_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def measured(make: Callable[[], Sequence[partial[Operand]]], gain: float) -> int:
        for form in make():
            result = form().tensor
            made.append(result.numel() // 3 * 1000)
        return 1

    monkeypatch.setattr(narrow, "measured", measured)
    left, right = operands(1, 6000, 3, 1000)
    result = contract(left, right, KEPT).tensor
    torch.testing.assert_close(result, left.tensor @ right.tensor.mT, rtol=1e-4, atol=1e-4)
    assert len(made) == 2
    assert all(MEASURED / 3 * 0.9 < each <= MEASURED / 3 for each in made)


def test_under_a_transformation_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = taken(monkeypatch, 1)
    left, right = operands(1, 200, 3, 20)

    def product(x: torch.Tensor) -> torch.Tensor:
        return contract(Operand(x, left.dims), right, KEPT).tensor

    torch.func.vmap(product)(torch.stack([left.tensor, left.tensor]))
    assert not measured
