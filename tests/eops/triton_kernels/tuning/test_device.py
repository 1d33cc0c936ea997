"""What a device takes: programs on multiprocessors, and operations of functions by their text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from einderive.eops.triton_kernels.tuning.device import H100, Demand, Occupancy, parts
from einderive.eops.triton_kernels.tuning.operations import (
    DIVISION,
    SPECIAL,
    operations_of,
)
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.helper import Precision

DEMAND = Demand(
    moved=28e6,
    asked=28e6,
    operations=3e9,
    compute="float32",
    products=0.0,
    factors="",
    steps=2.0,
)


def test_a_full_gpu_reaches_its_rates() -> None:
    where = Occupancy(programs=132 * 16 * 3, warps=4, registers=32)
    assert where.slots(H100) == 16  # 2048 threads
    assert where.rounds(H100) == 3
    assert where.used(H100) == 1.0
    found = parts(DEMAND, where, H100)
    assert found["memory"] == pytest.approx(28e6 / 2.8e12)
    assert found["cache"] == pytest.approx(28e6 / 1e13)
    assert found["arithmetic"] == pytest.approx(3e9 / 3e13)
    assert found["waits"] == pytest.approx(3 * 2 * H100.wait)


@pytest.mark.parametrize(
    ("warps", "registers", "slots"),
    [(1, 16, 32), (4, 32, 16), (4, 128, 4), (16, 128, 1), (16, 9999, 1), (8, 64, 4)],
)
def test_programs_that_a_multiprocessor_holds(warps: int, registers: int, slots: int) -> None:
    assert Occupancy(1, warps, registers).slots(H100) == slots


def test_few_programs_have_a_share() -> None:
    one = parts(DEMAND, Occupancy(1, 4, 32), H100)
    half = parts(DEMAND, Occupancy(66, 4, 32), H100)
    whole = parts(DEMAND, Occupancy(132, 4, 32), H100)
    assert one["memory"] == pytest.approx(132 / H100.alone * whole["memory"])
    assert half["memory"] == whole["memory"]  # half of them ask for as much as memory gives
    assert one["arithmetic"] == pytest.approx(132 * whole["arithmetic"])
    assert half["arithmetic"] == pytest.approx(2 * whole["arithmetic"])


def test_one_program_more_than_a_round_takes_another() -> None:
    full = Occupancy(132, 16, 128)
    more = replace_programs(full, 133)
    assert parts(DEMAND, more, H100)["waits"] == 2 * parts(DEMAND, full, H100)["waits"]
    assert more.used(H100) == pytest.approx(133 / 264)


def replace_programs(where: Occupancy, programs: int) -> Occupancy:
    return where._replace(programs=programs)


def test_products_without_matrix_instructions_want_warps() -> None:
    products = DEMAND._replace(operations=0.0, products=1e9, factors="float32")
    few, many = Occupancy(132, 4, 32), Occupancy(132 * 3, 4, 32)
    busy = replace(H100, busy_warps=4)
    assert parts(products, few, H100)["arithmetic"] == pytest.approx(3e9 / 4.5e13)
    assert parts(products, many, H100)["arithmetic"] == pytest.approx(1e9 / 4.5e13)
    assert parts(products, few, busy)["arithmetic"] == pytest.approx(1e9 / 4.5e13)
    halves = products._replace(factors="float16")
    assert parts(halves, few, H100)["arithmetic"] == pytest.approx(1e9 / 6.4e14)


@pytest.mark.parametrize(
    ("function", "precision", "count"),
    [
        ("abs", "narrow", 1),
        ("relu", "narrow", 2),  # a comparison and a choice
        ("pi", "narrow", 0),
        ("bitwise_invert", "wide", 1),
        ("sqrt", "narrow", DIVISION),
        ("sqrt", "wide", SPECIAL),
        # t, and a product of it; fma and its sign, a product, a sum; exp2; two comparisons and
        # their conjunction; two products, a sum, a choice
        ("exp", "narrow", 5 + SPECIAL + 3 + 4),
        ("silu", "narrow", DIVISION + 2 + (5 + SPECIAL + 3 + 4)),
        ("exp", "short", 1 + SPECIAL),
        ("sigmoid", "narrow", DIVISION + 2 + (5 + SPECIAL + 3 + 4)),
    ],
)
def test_operations_of_a_function(function: str, precision: Precision, count: float) -> None:
    assert operations_of(function, precision) == count


def test_every_function_has_operations() -> None:
    for name, known in FUNCTIONS.items():
        if known.arity and not known.imaginary and not known.part:
            assert 0 < operations_of(name, "narrow") < 400
            assert 0 < operations_of(name, "wide") < 800
            assert 0 < operations_of(name, "short") <= operations_of(name, "narrow")


def test_a_loop_counts_its_steps() -> None:
    """`lgamma` moves its operand in six steps."""
    text = FUNCTIONS["lgamma"].triton_helper
    assert text is not None
    assert "static_range(6)" in text.triton("narrow")
    assert operations_of("lgamma", "narrow") > 6 * 5
