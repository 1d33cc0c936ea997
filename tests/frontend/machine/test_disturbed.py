"""Figures that were measured while the machine was busy are found, and slow ones are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from einderive.derivations.matching.cost import CPU, MACHINES
from einderive.derivations.matching.machine import ANY, Machine, Table
from einderive.frontend.machine.disturbed import SLOW_LAUNCH, SLOW_WORK, disturbed

SIZES = (1e3, 1e6)
LAUNCHES = {ANY: 5e-6, "matmul": 2e-6, "conv1d": 8e-6, "attention": 3e-5}


def measured(**changes: Any) -> Machine:
    """A profile in which all figures are as they should be, and the changes."""
    return replace(
        CPU,
        **({"launches": LAUNCHES, "bandwidth": {"dense": Table((SIZES,), (1e10, 2e9))}} | changes),
    )


@pytest.mark.parametrize("machine", [measured(), *MACHINES.values()], ids=lambda m: m.title)
def test_what_is_as_it_should_be(machine: Machine) -> None:
    assert not [*disturbed(machine)]


@pytest.mark.parametrize(("factor", "found"), [(0.9, []), (1.1, ["launch of softmax"])])
def test_a_launch_of_milliseconds(factor: float, found: list[str]) -> None:
    launches = LAUNCHES | {"softmax": factor * SLOW_LAUNCH * 8e-6}  # 8e-6: the median of the five
    assert [*disturbed(measured(launches=launches))] == found


@pytest.mark.parametrize(("factor", "found"), [(1.1, []), (0.9, ["bandwidth of dense"])])
def test_larger_copies_that_are_far_slower(factor: float, found: list[str]) -> None:
    table = Table((SIZES,), (1e10, factor * 1e10 / SLOW_WORK))
    assert [*disturbed(measured(bandwidth={"dense": table}))] == found


def test_all_neighbours_of_a_point_count() -> None:
    """Of four points, the last one is slow beside one of its two neighbours only."""
    near, far = 1e9, 1e9 * SLOW_WORK * 1.1
    for values in ((near, near, far, near), (near, far, near, near)):
        rates = dict(CPU.rates) | {"matmul": Table((SIZES, SIZES), values)}
        assert [*disturbed(measured(rates=rates))] == ["rate of matmul"]
