"""Loops in which indices are divided: cut where a quotient changes, or several steps as one; beside
the exact interpreter, every address checked."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.loops.arrange import dense, plans
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.values import lanes, parts
from einderive.ta.ir import affine
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.loops.interpreted import check

LANES, QUOTIENTS = "_1 = ", "rest2 = "
TEXTS = {
    "twice each": ("Y[h,w] = X[h//2,w//2] where h in 0:6, w in 0:38", LANES),
    "twice each, odd": ("Y[h,w] = X[h//2,w//2] where h in 0:6, w in 0:37", LANES),
    "shifted": ("Y[h,w] = X[h,(w+1)//2] where h in 0:6, w in 0:37", LANES),
    "turned": ("Y[h,w] = X[h,(38-w)//3] where h in 0:6, w in 0:37", LANES),
    "from both ends": ("Y[h,w] = X[h,(w+h)//2]*X[h,w%3] where h in 0:6, w in 2:31", LANES),
    "beyond the border": ("Y[h,w] = X[h-1,w//2-3] where h in 0:9, w in 0:50", LANES),
    "shuffled": ("Y[h,w] = X[3*(w%2)+h%2,w//2+h//2] where h in 0:4, w in 0:36", LANES),
    "periodic": ("Y[h,w] = X[h,w] - X[h,(w+39)%40]", QUOTIENTS),
    "periodic, with a border": ("Y[h,w] = X[h,(w+37)%40] - X[h-1,w+2] where w in 0:40", QUOTIENTS),
    "of columns": ("Y[h,w] = X[w//17,w%17] + h where h in 0:5, w in 0:90", QUOTIENTS),
    "of columns, beyond": ("Y[h,w] = X[w//17-1,w%17+25] + h where h in 0:5, w in 0:150", QUOTIENTS),
    "both": ("Y[h,w] = X[w//32,(w//2)%16] where h in 0:5, w in 0:99", QUOTIENTS),
    "reduced": ("Y[h] = sum[w](X[h,w//2]*X[h,(w+30)%32]) where w in 0:61", QUOTIENTS),
    "reduced rows": ("Y[w] = max[h](X[h,w//2]) where w in 0:60", LANES),
    "normalised": ("Y[h,w] = softmax[w](X[h,w//2]) where w in 0:33", LANES),
    "position": ("Y[h,w] = where(w//4 == h, X[h,w//2], w) where h in 0:4, w in 0:37", LANES),
}


def group_of(text: str) -> Group:
    program = parse(text, {"X": (6, 40)}, "float32")
    roots = program.roots()
    return Group(tuple(stages(*roots)), tuple(roots))


@sampled(4)
@pytest.mark.parametrize("name", TEXTS)
def test_they_give_what_the_interpreter_gives(name: str) -> None:
    text, _ = TEXTS[name]
    random = Random(name)
    values = np.random.default_rng(5).integers(-9, 9, (6, 40)).astype(float)
    for _ in range(4):
        assert check(group_of(text), {"X": values}, random)


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_no_read_at_a_quotient_is_left(name: str, open_sizes: bool) -> None:
    text, said = TEXTS[name]
    group = group_of(text)
    made = plans(group, dense(group), alike(group, "float32"), open_sizes=open_sizes)
    sources = [Emitter(one, Numbers(open_sizes)).source() for one in made]
    assert any(said in source for source in sources), "\n".join(sources)


def test_steps_that_are_one() -> None:
    i, j = affine.iterator(0), affine.iterator(1)
    half, third = affine.floordiv(i, 2), affine.floordiv(affine.scale(i, 2), 6)
    assert lanes([half], 0) == 2
    assert lanes([half, third], 0) == 6
    assert lanes([affine.floordiv(affine.add(i, j), 9)], 0) == 1
    assert lanes([half], 1) == 1
    assert lanes([affine.floordiv(affine.scale(i, 4), 6)], 0) == 3


def test_quotients_that_stay() -> None:
    i, j = affine.iterator(0), affine.iterator(1)
    row = affine.add(affine.scale(i, 2), j)
    assert parts([affine.floordiv(row, 32)], 0) == ((row, 32),)
    assert parts([affine.floordiv(row, 31)], 0) == ()
    assert parts([affine.floordiv(affine.scale(i, -1), 64)], 0) == ()
