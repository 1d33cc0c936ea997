"""The types of totals and of comparisons."""

from __future__ import annotations

import pytest

from einderive.eops.dtypes import Kinds
from einderive.eops.loops.drafts.kinds import Compared, Typing, alike, of_total
from einderive.ta.ir.node import Apply
from einderive.ta.ir.subst import accesses, walk
from tests.eops.loops.programs import grouped


@pytest.mark.parametrize(
    ("kind", "reducer", "total"),
    [
        ("float32", "sum", "float64"),
        ("float32", "prod", "float64"),
        ("float32", "max", "float32"),
        ("float64", "min", "float64"),
        ("int64", "sum", "int64"),
        ("int64", "max", "int64"),
    ],
)
def test_types_of_totals(kind: str, reducer: str, total: str) -> None:
    assert of_total(kind, reducer) == total


def test_groups_of_one_type() -> None:
    group = grouped("M = max[i](X[i]*Z[i]); Y[i] = X[i] - M[]", {"X": (5,), "Z": (5,)})
    own = Kinds("float64", "float64")
    assert alike(group, "float64") == Typing(("float64",) * 2, (own,) * 2, own)


def test_what_is_tested_for_zero_keeps_its_type() -> None:
    group = grouped("Y[i] = X[i] + 1", {"X": (5,)})
    (stage,) = group.stages
    read = accesses(stage.body)
    assert Compared(group, alike(group, "float32")).tested(read, stage) == "float32"
    assert Compared(group, alike(group, "float64")).tested(read, stage) == "float64"


def test_a_stage_of_the_group_is_compared_as_it_is_written() -> None:
    group = grouped("M = max[i](X[i]); N = sum[i](where(X[i] + 1 == M[], 1, 0))", {"X": (5,)})
    half = Kinds("float32", "float16")
    typing = Typing(("float16",), (half, Kinds("int64", "int64")), half)
    last = group.stages[-1]
    (equal,) = (part for part in walk(last.body) if isinstance(part, Apply) and len(part.args) == 2)
    found = Compared(group, typing).operands(equal.args, last)
    assert found.common == "float32"
    assert set(found.owns) == {half}
