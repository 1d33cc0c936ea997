"""Inner loops whose steps decide a choice: cut there, so that each part makes it once; beside the
exact interpreter, every address checked."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.cost import segments_of, share_of, steps
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.values import Segment, chosen_with, cut_of, segments
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Condition
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.loops.interpreted import check

CUT = {
    "two halves": "Y[h,w] = where(w < 20, X[h,w+20], X[h,w-20]) where w in 0:40",
    "two halves of a quotient": """
Y[h,w] = X[h,w%20]*where(w < 20, X[h,w+20], X[h,w-20]) where w in 0:40""",
    "inside": "Y[h,w] = where(0 < w < 39, X[h,w-1] + X[h,w+1], X[h,w])",
    "from the end": "Y[h,w] = where(w >= 25, exp(X[h,39-w]), 0) where w in 0:40",
    "two steps at once": "Y[h,w] = where(w < 21, X[h,w//2], 2*X[h,w])",
    "every third": "Y[h,w] = where(3*w < 50, X[h,w+3], 1) where w in 0:37",
    "below the diagonal": "Y[h,w] = where(w <= 5*h, X[h,w], -1)",
    "normalised below the diagonal": "Y[h,w] = softmax[w](where(w <= 5*h+2, X[h,w], -inf))",
    "sum above the diagonal": "Y[h] = sum[w](where(w > 5*h, X[h,w]*X[h,39-w], 0))",
    "of columns": "Y[w] = sum[h](where(w < 12, X[h,w], exp(X[h,w])))",
    "near functions, a border": """
Y[h,w] = where(w <= 5*h, sin(X[h,w-2]), cos(X[h,w+2]))*41 + w where w in 0:40""",
    "three parts, a border": "Y[h,w] = where(w < 9, X[h,w-2], where(w < 30, X[h-1,w], X[h,w+2]))",
}
WHOLE = {
    "of data": "Y[h,w] = where(X[h,w] < 0, exp(X[h,w]), X[h,w])",
    "nothing spared": "Y[h,w] = where(w < 20, 1, 0)*X[h,w]",
    "each other step": "Y[h,w] = where(w%2 == 0, exp(X[h,w]), X[h,w])",
    "four parts": """
Y[h,w] = where(w < 9, 1, exp(X[h,w]))*where(w < 20, 1, X[h,39-w])*where(w < 30, 1, X[h,0])""",
}


def group_of(text: str) -> Group:
    roots = parse(text, {"X": (6, 40)}, "float32").roots()
    return Group(tuple(stages(*roots)), tuple(roots))


def choices(text: str, open_sizes: bool = False) -> list[int]:
    """How many choices the source of each plan makes element by element."""
    group = group_of(text)
    made = plans(group, dense(group), alike(group, "float32"), open_sizes=open_sizes)
    numbers = [Numbers(open_sizes, small=1) for _ in made]
    sources = [Emitter(one, own).source() for one, own in zip(made, numbers, strict=True)]
    return [source.count("chosen(") for source in sources]


@sampled(4)
@pytest.mark.parametrize("name", [*CUT, *WHOLE])
def test_they_give_what_the_interpreter_gives(name: str) -> None:
    random = Random(name)
    values = np.random.default_rng(5).integers(-9, 9, (6, 40)).astype(float)
    for _ in range(6):
        assert check(group_of({**CUT, **WHOLE}[name]), {"X": values}, random)


@pytest.mark.parametrize("name", [name for name in CUT if "border" not in name])
def test_no_choice_is_left(name: str) -> None:
    assert 0 in choices(CUT[name])


@pytest.mark.parametrize("name", ["two halves", "below the diagonal", "sum above the diagonal"])
def test_nor_where_sizes_are_open(name: str) -> None:
    group = group_of(CUT[name])
    made = plans(group, dense(group), alike(group, "float32"), open_sizes=True)
    assert any("cut = max(" in Emitter(one, Numbers(True, small=1)).source() for one in made)


@pytest.mark.parametrize("name", WHOLE)
def test_other_loops_stay_whole(name: str) -> None:
    assert all(choices(WHOLE[name]))


def operations_of(text: str, extent: int) -> float:
    roots = parse(text, {"X": (extent, extent)}, "float32").roots()
    group = Group(tuple(stages(*roots)), tuple(roots))
    found = plan(group, dense(group))
    assert found is not None
    return steps(found)


@pytest.mark.parametrize(
    ("condition", "part"), [("w <= h", 0.5), ("w < 256", 0.25), ("w > h", 0.5)]
)
def test_each_part_is_predicted_by_itself(condition: str, part: float) -> None:
    """Functions are computed on a part of the places; all are read and written."""
    text = "Y[h,w] = where({}, sin(exp(X[h,w])), {})"
    every = operations_of("Y[h,w] = sin(exp(X[h,w]))", 1024)
    none = operations_of("Y[h,w] = 2*X[h,w]", 1024)
    found = operations_of(text.format(condition, "X[h,w]"), 1024)
    assert found - none == pytest.approx(part * (every - none), rel=0.1)


@pytest.mark.parametrize("name", ["below the diagonal", "of columns", "three parts, a border"])
def test_the_parts_are_the_whole_together(name: str) -> None:
    group = group_of(CUT[name])
    for made in plans(group, dense(group), alike(group, "float32")):
        for number, phase in enumerate(made.phases):
            if not made.order(phase):
                continue
            inner, found = made.order(phase)[-1], segments_of(made, number)
            assert sum(share_of(made, one, inner) for one in found) == pytest.approx(1)


def test_the_part_below_the_diagonal() -> None:
    """w <= 5*h in 6 rows of 40: 1 + 6 + 11 + 16 + 21 + 26 of 240 places."""
    group = group_of(CUT["below the diagonal"])
    made = plans(group, dense(group), alike(group, "float32"))[0]
    inner = made.order(made.phases[0])[-1]
    found = sorted(share_of(made, one, inner) for one in segments_of(made, 0))
    assert found == pytest.approx([81 / 240, 159 / 240])


def test_a_condition_and_its_negation_are_one_row() -> None:
    i, j = affine.iterator(0), affine.iterator(1)
    from_five = affine.shift(i, -5)
    assert cut_of(Condition(">=", from_five), 0) == (from_five, True)
    before_five = affine.shift(affine.scale(i, -1), 4)
    assert cut_of(Condition(">=", before_five), 0) == (from_five, False)
    assert cut_of(Condition("==", from_five), 0) is None
    assert cut_of(Condition(">=", j), 0) is None
    assert cut_of(Condition(">=", affine.add(i, affine.floordiv(i, 2))), 0) is None


def test_the_parts_of_a_loop() -> None:
    i, j = affine.iterator(0), affine.iterator(1)
    at = {n: affine.shift(affine.scale(i, 3), -n) for n in (0, 4, 6, 90)}
    whole = Range(0, 20)
    assert segments([at[4]], 0, whole, True) == (
        Segment(Range(0, 2), {at[4]: False}),
        Segment(Range(2, 20), {at[4]: True}),
    )
    assert [one.steps for one in segments([*at.values()], 0, whole, True)] == [(0, 2), (2, 20)]
    first, _ = segments([at[4], at[90], at[0]], 0, whole, True)
    assert first.holds == {at[4]: False, at[90]: False, at[0]: True}
    other = affine.add(i, j, -1)
    before, after = segments([other], 0, whole, True)
    assert (before.cut, after.cut) == (other, other)
    assert (before.holds[other], after.holds[other]) == (False, True)
    assert segments([at[4]], 0, whole, False)[0].cut == at[4]
    assert segments([at[90]], 0, whole, True) == (Segment(whole),)
    assert segments([at[90], other], 0, whole, True)[0].cut == other
    assert segments([other, j], 0, whole, False) == (Segment(whole),)
    three = [affine.shift(i, -n) for n in (3, 5, 7)]
    assert segments(three, 0, whole, True) == (Segment(whole),)


def test_a_choice_of_several_conditions() -> None:
    """One that fails decides it; all have to hold for the other answer."""
    group = group_of("Y[h,w] = where(0 < w < 39, X[h,w], 0)")
    made = plans(group, dense(group), alike(group, "float32"))[0]
    inner = made.order(made.phases[0])[-1]
    (place,) = (p for p, value in enumerate(made.values) if hasattr(value, "conditions"))
    conditions = made.values[place].conditions
    low, high = (cut_of(c, inner) for c in conditions)
    assert low is not None
    assert high is not None
    yes, no = made.values[place].args

    def chosen(*holds: bool) -> dict[int, int]:
        rows = [low[0], high[0]]
        known = dict(zip(rows, holds, strict=False))
        return chosen_with(made.values, range(len(made.values)), inner, known)

    assert chosen(low[1], high[1]) == {place: yes}
    assert chosen(not low[1], high[1]) == {place: no}
    assert chosen(low[1], not high[1]) == {place: no}
    assert chosen(not low[1]) == {place: no}
    assert chosen(low[1]) == {}
