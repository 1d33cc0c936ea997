"""Every kernel of every show-case agrees with the exact interpreter, compiled for a CPU and in
Triton's interpreter, and it is a kernel that ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from einderive.ta.ir.subst import stages
from tests.amount import sampled
from tests.prepared import interpreted
from tests.showcases import kernels
from tests.showcases.kernels import DTYPES, SHOWCASES, kernels_on_a_cpu, programs

PARTS = 20
"""A process of Triton's interpreter runs one part of the cases."""


@sampled(27)
@pytest.mark.parametrize("name", SHOWCASES)
def test_on_a_cpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    asked, ran = kernels_on_a_cpu(name)
    assert asked >= sum(len(stages(*roots)) for roots in programs(name))
    assert ran == asked


@sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_in_triton(part: int, tmp_path: Path) -> None:
    names = [*SHOWCASES][part::PARTS]
    told = interpreted(kernels.__file__, *names, EINDERIVE_CACHE=tmp_path)
    found = [json.loads(line) for line in told.splitlines()]
    assert [(one["case"], one["dtype"]) for one in found] == [
        (name, dtype) for name in names for dtype in DTYPES
    ]
    for one in found:
        assert len(one["alone"]) == sum(len(stages(*roots)) for roots in programs(one["case"]))
        assert min(one["alone"]) >= 1, one
        assert {*one["together"]} <= {1}, one
