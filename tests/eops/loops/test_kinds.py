"""The types of totals and of comparisons."""

from __future__ import annotations

from dataclasses import replace

import pytest

from einderive.eops.loops.kinds import Compared, alike, of_total
from einderive.ta.ir.subst import accesses
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


@pytest.mark.parametrize("default", ["float32", "float64"])
def test_what_float32_holds_is_compared_in_the_default_type(default: str) -> None:
    group = grouped("Y[i] = X[i] + 1", {"X": (5,)})
    typing = replace(alike(group, "float32"), default=default)
    (stage,) = group.stages
    assert Compared(group, typing).kind(accesses(stage.body), stage, "float32") == default
