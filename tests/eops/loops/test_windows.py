"""Windows of stages: what a plan keeps of them, and that it keeps enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.cost import moved, seconds, steps
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.plan import Plan, Window
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import CAMPAIGN, first
from tests.eops.loops.interpreted import SMALL, Values, check, laid_out, run, same, value_of
from tests.eops.loops.programs import data
from tests.fuzz.stencils import stencils_program

CROSS = "{0}[i,j] + {0}[i-1,j] + {0}[i+1,j] + {0}[i,j-1] + {0}[i,j+1] where i in 0:{1}, j in 0:{1}"
EXPONENTIALS = "T[i,j] = exp(X[i,j]); Y[i,j] = T[i-1,j] + T[i,j]*T[i+1,j] + T[i,j-1]"
BLUR = (
    "T[i,j] = sum[r](X[i,j+r]*W[r]) where i in 0:{0}, j in 0:{1}; "
    "Y[i,j] = sum[r](T[i+r,j]*W[r]) where i in 0:{1}, j in 0:{1}"
)

SPACE = "T[i,j,k] = exp(X[i,j,k]);"
HALVES = "T[i,j] = exp(X[i,j]); Y[i,j] = T[2*i,j]*T[2*i+1,j] + T[2*i,j] where i in 0:30, j in 0:60"


def grouped(text: str, **shapes: tuple[int, ...]) -> Group:
    roots = parse(text, shapes, "float32").roots()
    return Group(tuple(stages(*roots)), roots)


def best(group: Group) -> Plan:
    found = plan(group, dense(group))
    assert found is not None
    return found


def steps_of_cross(count: int, size: int) -> str:
    names = ["X", *(f"T{k}" for k in range(count - 1)), "Y"]
    pairs = pairwise(names)
    return "; ".join(
        f"{to} = ".replace(to, f"{to}[i,j]") + CROSS.format(of, size) for of, to in pairs
    )


def test_a_plan_with_a_window_is_read_as_text() -> None:
    assert str(best(grouped(EXPONENTIALS, X=(200, 300)))) == "\n".join(
        [
            "in parallel for i0 in 0:200 by 32, in order, i1 in 0:300 by 300",
            "    for i2 = i0 + 1 in 0:200, i3 in the block, -1:0, in 0:300",
            "        v10 = p0[300 * i2 + i3]",
            "        v11 = exp(v10)",
            "        w0[i2, i3] = v11, 903 of them",
            "    for i1 in the block",
            "        v0 = w0[i0 - 1, i1]",
            "        v2 = v0 where i0 - 1 else 0",
            "        v3 = w0[i0, i1 - 1]",
            "        v4 = v3 where i1 - 1 else 0",
            "        v5 = w0[i0 + 1, i1]",
            "        v6 = v5 where -1 * i0 + 198 else 0",
            "        v7 = w0[i0, i1]",
            "        v8 = v6 * v7",
            "        v9 = v2 + v4 + v8",
            "        out0[300 * i0 + i1] = v9",
        ]
    )


def test_a_chain_of_stencils_is_further_ahead_with_each() -> None:
    found = best(grouped(steps_of_cross(4, 500), X=(500, 500)))
    assert [(w.lead, w.first, w.depth) for w in found.windows] == [
        (3, -3, 3),
        (2, -2, 3),
        (1, -1, 3),
    ]
    assert [(w.beside.lo, w.beside.hi) for w in found.windows if w.beside] == [
        (-3, 3),
        (-2, 2),
        (-1, 1),
    ]
    assert found.ahead == 6
    assert found.stretch == 16 * 6


def test_bytes_and_operations_are_those_of_the_windows() -> None:
    """Each stage is computed about once, and only the first and the last are in memory."""
    group = grouped(steps_of_cross(4, 500), X=(500, 500))
    found, (without, *_) = best(group), plans(group, dense(group))
    assert not without.windows
    assert moved(found) == moved(without) == 2 * 4 * 500 * 500
    alone = steps(best(grouped(steps_of_cross(1, 500), X=(500, 500))))
    assert 4 * alone < steps(found) < 7 * alone
    assert steps(without) > 20 * alone
    assert seconds(found) < seconds(without)


@pytest.mark.parametrize(
    ("text", "shapes", "kept"),
    first(
        3,
        [
            (steps_of_cross(3, 64), {"X": (64, 64)}, 2),
            (BLUR.format(90, 86), {"X": (90, 90), "W": (5,)}, 1),
            (f"{SPACE} Y[i,j,k] = T[i-1,j,k] + T[i,j-1,k]*T[i,j,k-1]", {"X": (9, 20, 30)}, 1),
            (f"{SPACE} Y[i,j,k] = T[i,j-1,k]*T[i,j,k-1]", {"X": (3, 40, 50)}, 1),
            (EXPONENTIALS, {"X": (90, 100)}, 1),
            ("T[i] = exp(X[i]); Y[i] = T[i-1] + T[i]*T[i+1]", {"X": (9000,)}, 1),
            ("T[i,j] = exp(X[i,j]); Y[i] = sum[j](T[i,j]*T[i+1,j-1])", {"X": (60, 70)}, 1),
            (HALVES, {"X": (60, 60)}, 0),
        ],
    ),
)
def test_compiled(text: str, shapes: dict[str, tuple[int, ...]], kept: int) -> None:
    """What a compiled kernel with windows gives is what the interpreter gives; there is none where
    the window had to move by two."""
    group = grouped(text, **shapes)
    inputs = data(group.outputs, Random(text))
    kernel = build(group, dense(group), alike(group, "float32"))
    assert len(kernel.plan.windows) == kept
    operands = [torch.tensor(value_of(source, inputs)).float() for source in group.operands]
    (found,) = kernel(*operands)
    expected = torch.tensor(value_of(group.outputs[0], inputs)).float()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


def explored(seed: object, count: int) -> int:
    """Checks all plans of so many chains of stencils; how many had windows."""
    seen = 0
    for number in range(count):
        random = Random(f"{seed} {number}")
        roots = stencils_program(random)
        group = Group(tuple(stages(*roots)), roots)
        seen += sum(bool(made.windows) for made in check(group, data(roots, random), random))
    return seen


@CAMPAIGN
def test_random_chains(seed: int) -> None:
    assert explored(seed, 200) > 200


def _each(change: Callable[[Window], Window]) -> Callable[[Plan], Plan]:
    return lambda made: replace(made, windows=tuple(map(change, made.windows)))


WRONG: dict[str, Callable[[Plan], Plan]] = {
    "one row fewer": _each(lambda w: replace(w, depth=w.depth - 1)),
    "a row too late": _each(lambda w: replace(w, lead=w.lead - 1)),
    "the first row is left out": _each(lambda w: replace(w, first=w.first + 1)),
    "no column before the block": _each(
        lambda w: replace(w, sides=tuple(s and s._replace(lo=s.lo + 1) for s in w.sides))
    ),
    "no column after the block": _each(
        lambda w: replace(w, sides=tuple(s and s._replace(hi=s.hi - 1) for s in w.sides))
    ),
    "readers first": lambda made: replace(
        made, phases=tuple(sorted(made.phases, key=lambda phase: -(phase.window or 0)))
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_window_is_noticed(name: str) -> None:
    """Every number of a window counts."""
    text = steps_of_cross(3, 7)
    group = grouped(text, X=(7, 7))
    inputs = data(group.outputs, Random(text))
    strides = dense(group)
    moving = [p for p in plans(group, strides, alike(group, "float64"), SMALL) if p.along == 0]
    assert moving
    for made in moving:
        assert not _differs(made, group, inputs)
        assert _differs(WRONG[name](made), group, inputs), made


def _differs(made: Plan, group: Group, inputs: Values) -> bool:
    operands = [
        laid_out(value_of(s, inputs), dense(group)[k]) for k, s in enumerate(group.operands)
    ]
    expected = [value_of(out, inputs) for out in group.outputs]
    try:
        for result, wanted in zip(run(made, operands), expected, strict=True):
            same(result, wanted)
    except (AssertionError, ZeroDivisionError):
        return True
    return False


def test_no_window_is_kept_of_what_reads_a_total() -> None:
    text = (
        "M[i] = max[j](X[i,j]); T[i,j] = exp(X[i,j] - M[i]); "
        "Y[i,j] = T[i,j-1] + T[i,j+1] where j in 0:40"
    )
    group = grouped(text, X=(20, 40))
    assert all(not made.windows for made in plans(group, dense(group)))
