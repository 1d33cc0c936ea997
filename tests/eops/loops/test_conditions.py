"""Formulas for which a condition of the plan or of its text counts: every plan of them gives what
the interpreter gives."""

from __future__ import annotations

import pytest

from einderive.eops.cpu_kernels.emit import Emitter
from einderive.eops.cpu_kernels.numbers import Numbers
from einderive.eops.loops.arrange import dense, plan, plans
from einderive.eops.loops.drafts.group import Group
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.loops.programs import Shapes, require_right

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "two loops of one total, of which the other total has one": (
        "out S[i] = sum[j,k](X[i,j,k]); T[i,j] = W[i]^2 where j in 0:4; out Z[i] = sum[j](T[i,j])",
        {"X": (3, 4, 5), "W": (3,)},
    ),
    "the window's index is also the inner loop's": (
        "T[i,j] = exp(X[i,j]); Y[k] = T[k,k-1]*T[k,k+1] where k in 0:9",
        {"X": (9, 9)},
    ),
    "the window's other index is the one it moves along": (
        "T[i,j,k] = exp(X[i,j,k]); Y[i,k] = T[i-1,i,k]*T[i+1,i,k] + T[i,i,k]",
        {"X": (9, 9, 5)},
    ),
    "a quotient of several times the step": (
        "Y[i] = X[(2*i + 5)//33] where i in 0:60",
        {"X": (9,)},
    ),
    "each thread's part of what is kept, where steps are done in pairs": (
        "D = sum[j](exp(X[j//2]*W[j])) where j in 0:14; Y[j] = exp(X[j//2]*W[j])/D",
        {"X": (7,), "W": (14,)},
    ),
    "blocks of three steps, which are done in pairs": (
        "Y[i] = sum[j](X[i//2,j]) where i in 0:12",
        {"X": (6, 5)},
    ),
    "two blocks of 65 steps, which are done in pairs": (
        "Y[h,i] = sum[j](X[h,i//2,j]) where i in 0:130",
        {"X": (2, 65, 3)},
    ),
    "seventeen steps with one quotient, which are done in pairs": (
        "Y[i] = X[i//17]*W[i//2] where i in 0:68",
        {"X": (4,), "W": (34,)},
    ),
    "a result where a value is kept, with a function for near operands": (
        "D[i] = sum[j](exp(X[i,j])); Y[i,j] = sin(exp(X[i,j])*D[i])",
        {"X": (4, 7)},
    ),
}


@pytest.mark.parametrize(("text", "shapes"), FORMULAS.values(), ids=FORMULAS)
def test_every_plan_is_right(text: str, shapes: Shapes) -> None:
    require_right(text, shapes)


FAST: dict[str, tuple[str, Shapes, str]] = {
    "a division by the same in all steps": (
        "Y[i,j] = X[i,j]/D[i]",
        {"X": (50, 400), "D": (50,)},
        "divided_float32(",
    ),
    "pairs of steps beside a border": (
        "Y[i] = X[i//2]*W[i-1] where i in 0:64",
        {"X": (32,), "W": (64,)},
        "in range(head, tail):",
    ),
    "a function for near operands": ("Y[i] = sin(X[i])", {"X": (300,)}, "= sin_near_float32("),
}


@pytest.mark.parametrize(("text", "shapes", "said"), FAST.values(), ids=FAST)
def test_what_is_fast_is_written(text: str, shapes: Shapes, said: str) -> None:
    roots = parse(text, shapes, "float32").roots()
    group = Group(stages(*roots), roots)
    made = plan(group, dense(group))
    assert made is not None
    assert said in Emitter(made).source()


def test_for_other_sizes_parts_of_a_sum_are_short() -> None:
    """They may be longer than the one that is planned, whose terms float32 adds as they are."""
    roots = parse("Y[i] = sum[k](X[i,k]^2)", {"X": (3, 100)}, "float32").roots()
    group = Group(stages(*roots), roots)
    sources = [
        Emitter(one, Numbers(open_sizes)).source()
        for open_sizes in (False, True)
        for one in plans(group, dense(group), open_sizes=open_sizes)
        if one.inner is None
    ]
    parts = ["for from_" in source for source in sources if "short0" in source]
    assert {False, True} == {*parts}
