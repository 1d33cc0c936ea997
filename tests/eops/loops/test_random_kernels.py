"""Random groups of stages in float32 and float16: what compiled kernels give, on a CPU and in
Triton's interpreter, is what the exact interpreter gives."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.amount import CAMPAIGN
from tests.eops import random_kernels
from tests.eops.random_kernels import explored, on_a_cpu
from tests.prepared import interpreted

PARTS, PART = 20, 100
FEW = 2
"""Fewer of a kind would be a fault of the drawing; of the rarest kind about 17 are drawn."""


@CAMPAIGN
@pytest.mark.parametrize("part", range(PARTS))
def test_on_a_cpu(part: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EINDERIVE_CACHE", "off")
    seen = explored(f"{seed} {part}", PART, on_a_cpu)
    for dtype in ("float32", "float16"):
        for kind in ("one stage", "several"):
            assert seen[f"{dtype}, {kind}"] > FEW, seen


def in_the_interpreter(seed: object, count: int, cache: Path) -> Counter[str]:
    """How many groups ran, by kind of kernel."""
    told = interpreted(random_kernels.__file__, str(seed), str(count), EINDERIVE_CACHE=cache)
    return Counter(json.loads(told.splitlines()[-1]))


def test_a_few_in_triton(tmp_path: Path) -> None:
    seen = in_the_interpreter("few", 12, tmp_path)
    assert min(seen[f"{dtype}, rows"] for dtype in ("float32", "float16")) > 0, seen


@CAMPAIGN
@pytest.mark.parametrize("part", range(PARTS))
def test_in_triton(part: int, seed: int, tmp_path: Path) -> None:
    seen = in_the_interpreter(f"{seed} {part}", PART, tmp_path)
    for kind in ("float32, rows", "float16, rows", "float32, stages", "float16, stages"):
        assert seen[kind] > FEW, seen
    assert seen["float32, tiles"] + seen["float16, tiles"], seen  # products, one in twenty
