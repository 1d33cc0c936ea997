"""The rough profile of the first compile: once, where it can be kept, and only when complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import einderive as ed
from einderive.derivations.matching.cost import CPU
from einderive.eops.cache_folder import VARIABLE as CACHE
from einderive.frontend.machine import first_use
from einderive.frontend.machine.first_use import MOST_ATTEMPTS, VARIABLE, measure_first
from einderive.frontend.machine.measure import Measurement
from einderive.frontend.machine.stored import profile_of

MEASURED = Measurement(replace(CPU, origin="measured", title="this one"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Measurement]:
    """What measuring gives, one after the other."""
    monkeypatch.setenv(CACHE, str(tmp_path))
    monkeypatch.delenv(VARIABLE)
    left: list[Measurement] = []
    monkeypatch.setattr(first_use, "measured", lambda *_: left.pop(0))
    return left


def test_it_is_measured_once(asked: list[Measurement]) -> None:
    asked += [MEASURED]
    assert measure_first()
    assert profile_of("cpu").origin == "measured"
    assert not measure_first()


def test_what_is_incomplete_is_tried_again(asked: list[Measurement]) -> None:
    asked += [replace(MEASURED, missing=("rates",))] * MOST_ATTEMPTS
    assert not any(measure_first() for _ in range(MOST_ATTEMPTS + 1))
    assert not asked
    assert profile_of("cpu") == CPU


def test_where_nothing_is_kept(asked: list[Measurement], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE, "off")
    assert not measure_first()
    monkeypatch.setenv(VARIABLE, "off")
    assert not measure_first()


def test_ctrl_c(asked: list[Measurement]) -> None:
    asked += [replace(MEASURED, interrupted=True)]
    with pytest.raises(KeyboardInterrupt):
        measure_first()
    assert profile_of("cpu") == CPU


def test_the_first_compile_measures_and_is_remembered(asked: list[Measurement]) -> None:
    options = {"A": (4, 3), "effort": 0.1}
    ed.compile("Y[i] = A[i,k]", A=(4, 3), effort="instant")
    ed.compile("Y[i] = A[i,k]", remember=False, **options)
    assert profile_of("cpu") == CPU
    asked += [MEASURED]
    assert ed.compile("Y[i] = A[i,k]", **options).remembered is None
    assert not asked
    assert profile_of("cpu").origin == "measured"
    again = ed.compile("Y[i] = A[i,k]", **options)
    assert again.remembered is not None
