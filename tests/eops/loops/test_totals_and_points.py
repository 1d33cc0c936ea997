"""What a kernel does beside the loops of its passes, where random programs seldom need it: its own
memory, how totals begin and end, what is computed at a point.

Formulas run in pure Python with every address checked; the rest is read in the written text."""

from __future__ import annotations

from random import Random

import pytest
import torch

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.plan import Plan
from einderive.eops.loops.sizes import SIZES
from tests.eops.loops.interpreted import SMALL, laid_out, run, same, value_of
from tests.eops.loops.programs import Shapes, data, grouped, require_right

EXP = "Y[i] = exp(X[i])"
SOFTMAX = "Y[i,j] = softmax[j](X[i,j])"


def planned(text: str, shapes: Shapes, *, open_sizes: bool = False) -> tuple[Plan, ...]:
    group = grouped(text, shapes)
    return plans(group, dense(group), open_sizes=open_sizes)


FORMULAS: dict[str, tuple[str, Shapes]] = {
    "the greatest of a function for near operands": (
        "Y[i] = max[j](sin(X[i,j]))",
        {"X": (4, 9)},
    ),
    "an index that the step and a quotient of it move": (
        "Y[i] = X[i + i//3 - 2] where i in 0:20",
        {"X": (21,)},
    ),
    "an operand without elements": (
        "Y[i] = X[i] + W[i] + W[i-1] where i in 0:5",
        {"X": (5,), "W": (0,)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    require_right(text, shapes)


ABREAST: dict[str, tuple[str, Shapes]] = {
    "a pass that leaves nothing for the next one": (
        "out W[j,c] = 2*V[j,c]; D[c] = sum[i](X[i,c]); out Y[k,c] = U[k,c]*D[c]",
        {"V": (13, 3), "X": (41, 3), "U": (17, 3)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), ABREAST.values(), ids=ABREAST)
def test_steps_that_lie_abreast(text: str, shapes: Shapes) -> None:
    group = grouped(text, shapes)
    inputs, strides = data(group.outputs, Random(text)), dense(group)
    made = [one for one in plans(group, strides, sizes=SMALL) if one.abreast > 1]
    assert made
    for one in made:
        operands = [
            laid_out(value_of(source, inputs), own)
            for source, own in zip(group.operands, strides, strict=True)
        ]
        for found, output in zip(run(one, operands), group.outputs, strict=True):
            same(found, value_of(output, inputs), str(one))


@pytest.mark.parametrize("rows", [True, False])
def test_memory_of_an_open_kernel_serves_all_sizes_of_its_plan(rows: bool) -> None:
    """In rows, all that may be kept on the stack, and one number for each row of a batch; in
    columns, one for each of a tile."""
    sizes = set[int]()
    for made in planned(SOFTMAX, {"X": (100, 500)}, open_sizes=True):
        if (made.inner is None) == rows:
            rooms = {room.name: room.size for room in Emitter(made, Numbers(open=True)).rooms}
            sizes |= {*rooms.values()}
            for one in made.kept if made.row is not None else ():
                assert (rooms[f"k{one.value}"] == SIZES.least_batch) == (one.size == 1)
    assert sizes == ({SIZES.kept, SIZES.least_batch} if rows else {SIZES.tile})


def test_what_waits_in_a_result_has_no_memory_of_its_own() -> None:
    waiting = 0
    for made in planned(SOFTMAX, {"X": (100, 500)}):
        names = {room.name for room in Emitter(made).rooms}
        for kept in made.kept:
            assert (f"k{kept.value}" in names) == (kept.output is None)
            waiting += kept.output is not None
    assert waiting


@pytest.mark.parametrize(("text", "loops"), [("Y = sum[i,j](X[i,j]^2)", 0), (SOFTMAX, 1)])
def test_threads_wait_after_a_piece_only_where_another_one_follows(text: str, loops: int) -> None:
    """And for each total once."""
    shared = [made for made in planned(text, {"X": (3, 70_000)}) if made.together]
    assert any(len(made.parallel) == loops for made in shared)
    for made in shared:
        source, several = Emitter(made).source(), bool(made.parallel)
        assert ("for w in range(" in source) == several
        assert source.count("wait_for_all()") == len(made.reductions) + several


def test_other_sizes_of_one_piece_and_of_several_have_one_text() -> None:
    made = [one for n in (5_000, 70_000) for one in planned(EXP, {"X": (n,)}, open_sizes=True)]
    assert {one.blocks for one in made} == {1, 18}
    assert len({Emitter(one, Numbers(open=True)).source() for one in made}) == 1


ONCE: dict[str, tuple[str, Shapes, str]] = {
    "a value outside of the loops of two passes": (
        "S[i] = sum[j](X[i,j]^2*exp(W[i])); Y[i,j] = X[i,j]*S[i] + exp(W[i])",
        {"X": (50, 600), "W": (50,)},
        " = exp_float32(",
    ),
    "an index outside of the loops of two passes": (
        "S[i] = sum[j](X[i,j]^2*W[i-1]); Y[i,j] = X[i,j]*S[i] + W[i-1]",
        {"X": (50, 600), "W": (50,)},
        "n0w = ",
    ),
    "an index of two reads, only where it may miss": (
        "Y[i] = X[i-1]*W[i-1] where i in 0:600",
        {"X": (600,), "W": (600,)},
        "n0w = ",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "written"), ONCE.values(), ids=ONCE)
def test_what_is_known_is_not_computed_again(text: str, shapes: Shapes, written: str) -> None:
    group = grouped(text, shapes)
    made = plan(group, dense(group))
    assert made is not None
    assert made.inner in (None, 0)
    assert Emitter(made).source().count(written) == 1


@pytest.mark.parametrize(("index", "short"), [("e", True), ("I[e]", False)])
def test_terms_of_a_gather_have_the_digits_of_the_total(index: str, *, short: bool) -> None:
    """They are added one after the other, where others are added in several sums side by side."""
    shapes = {"w": (3, 700), "x": (700,)} | ({} if short else {"I": (700,)})
    group = grouped(f"Q[i] = sum[e](w[i,e]*x[{index}])", shapes)
    made = plan(group, dense(group))
    assert made is not None
    assert ("short0" in Emitter(made).source()) == short


def test_whole_numbers_of_32_bits_stay_there() -> None:
    """What numba makes of two of them, or of a function of them, has 64 bits."""
    group = grouped("Y[i] = max[j](abs(I[i,j]) + J[j])", {"I": (50, 600), "J": (600,)})
    typing = typing_of(group, [torch.int16, torch.int16])
    assert typing is not None
    for made in plans(group, dense(group), typing):
        lines = [line.split(" = ")[-1] for line in Emitter(made).source().splitlines()]
        for written in ("abs_int32(", " + v"):
            found = [line for line in lines if written in line and "store" not in line]
            assert found
            assert all(line.startswith("int32(") for line in found)
