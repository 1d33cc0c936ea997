"""The loops of a pass: where each begins and ends, and in which form it is written.

One formula for each part of a pass's text that few programs have.  Every plan of it gives what the
interpreter gives.  Where the slower form would be as right, the text is read.
"""

from __future__ import annotations

from random import Random

import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.group import Group
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.interpreted import check
from tests.eops.loops.programs import data

Shapes = dict[str, tuple[int, ...]]

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "the outer step decides where the inner loop is cut": (
        "Y[i,j] = where(2*j <= i + 1, X[i,j], W[j]^2)",
        {"X": (5, 9), "W": (9,)},
    ),
    "pairs of steps, all of them even, beside a border": (
        "Y[i] = X[i//2]*W[i-1] where i in 0:64",
        {"X": (32,), "W": (64,)},
    ),
}


def grouped(text: str, shapes: Shapes) -> Group:
    roots = parse(text, shapes, "float32").roots()
    return Group(stages(*roots), roots)


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    group = grouped(text, shapes)
    inputs = data(group.outputs, Random(text))
    for number in range(4):
        assert check(group, inputs, Random(f"{number} {text}"))


FAST: dict[str, tuple[str, Shapes, str]] = {
    "several rows of columns that are added up": (
        "Y[j] = sum[i](X[i,j])",
        {"X": (40, 300)},
        "for b1 in range(0, 40, 4):",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "said"), FAST.values(), ids=FAST)
def test_what_is_fast_is_written(text: str, shapes: Shapes, said: str) -> None:
    group = grouped(text, shapes)
    made = plan(group, dense(group))
    assert made is not None
    assert said in Emitter(made).source()


PLAIN: dict[str, tuple[str, Shapes, str]] = {
    "nothing may miss": ("Y[i] = X[i]^2", {"X": (300,)}, "side"),
    "steps are done one by one beside a border": (
        "Y[i] = X[i-1]^2 where i in 0:300",
        {"X": (300,)},
        "head",
    ),
}


@pytest.mark.parametrize(("text", "shapes", "left_out"), PLAIN.values(), ids=PLAIN)
def test_what_nothing_needs_is_left_out(text: str, shapes: Shapes, left_out: str) -> None:
    group = grouped(text, shapes)
    made = plan(group, dense(group))
    assert made is not None
    assert left_out not in Emitter(made).source()


OPEN: dict[str, str] = {
    "part of a vector": "Y[i] = X[i] where i in {n}:{m}",
}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_one_text_serves_other_sizes(text: str) -> None:
    """No number of the sizes stands in it."""
    found = set[str]()
    for n, m in ((300, 900), (407, 1011)):
        group = grouped(text.format(n=n, m=m), {"X": (m,)})
        made = plan(group, dense(group), open_sizes=True)
        assert made is not None
        found.add(Emitter(made, Numbers(open=True)).source())
    assert len(found) == 1, found
