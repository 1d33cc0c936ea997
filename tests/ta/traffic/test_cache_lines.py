"""Reads with jumps whose cache lines are gone, by the sizes of columns and of jumps."""

from __future__ import annotations

from dataclasses import replace

import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.profile import from_data, to_data
from einderive.ta.ir.operator import Work
from einderive.ta.traffic.cache_lines import lost_share
from einderive.ta.traffic.walks import walks


def of_column(rows: int, step: int) -> float:
    """The share for a column of a matrix, beside the next ones."""
    return lost_share((0, 1), {0: 1, 1: step}, (step, rows))


@pytest.mark.parametrize(
    ("rows", "step", "share"),
    [
        (1000, 1000, 0),  # 64 KB of lines
        (1000, 1008, 0),
        (1000, 1024, 1),  # all of them compete for one place in 64
        (256, 1024, 0),  # there are places for 512
        (1000, 512, 0.37),  # for 1024
        (4096, 64, 0),
        (4096, 256, 1),
        (4000, 1000, 1),  # in more pages than are known
        (1000, 8, 0),  # the next rows lie in the same line
    ],
)
def test_lines_of_a_column(rows: int, step: int, share: float) -> None:
    assert of_column(rows, step) == pytest.approx(share, abs=0.02)


def test_lines_are_used_again_by_the_innermost_loop_along_them() -> None:
    """Over k in the middle, each line is used again after 32 steps of j, or after all of them."""
    extents = (1024, 16, 32)
    assert lost_share((0, 1, 2), {0: 1 << 15, 1: 1, 2: 1 << 10}, extents) == 0
    assert lost_share((1, 0, 2), {0: 1 << 15, 1: 1, 2: 1 << 10}, extents) == 1


def test_a_loop_that_the_operand_lacks_reads_the_same_lines() -> None:
    assert lost_share((0, 1, 2), {0: 1, 2: 1024}, (8, 1000, 100)) == 0


@pytest.mark.parametrize(("side", "misses"), [(1008, 0), (1024, 1024**2)])
def test_a_transposed_operand(side: int, misses: int) -> None:
    (scope,) = ed.parse("Y[i,j] = A[i,j]*B[j,i]", A=(side, side), B=(side, side)).roots()
    assert walks(scope.body, scope.extents).misses == misses


def test_a_machine_says_what_a_miss_costs() -> None:
    machine = replace(CPU, miss_seconds=1e-8)
    work = Work(0.0, 40.0, jumps=100.0)
    missed = machine.seconds(work._replace(misses=100.0)) - machine.seconds(work)
    assert missed == pytest.approx(1e-6)
    assert from_data(to_data(machine)) == machine
