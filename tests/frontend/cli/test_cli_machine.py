"""`einderive machine`: what it shows, and that what it measures is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from einderive.derivations.matching.cost import CPU, MACHINES
from einderive.derivations.matching.machine import Machine
from einderive.derivations.matching.profile import to_data
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.cli.main import main
from einderive.frontend.machine.measure import Measurement

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def measuring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Measurement]:
    """What is measured, from now on; the last one is given."""
    found = [Measurement(replace(CPU, origin="measured", call_seconds=4.25e-5))]
    monkeypatch.setenv(VARIABLE, str(tmp_path))

    def measured(base: Machine, *rest: Any, **options: Any) -> Measurement:
        return found[-1]

    monkeypatch.setattr("einderive.frontend.machine.measure.measured", measured)
    return found


def run(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(["machine", *words])
    return (code, *capsys.readouterr())


def test_it_shows_the_default(capsys: Capture) -> None:
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert out.startswith("cpu: two cores of a server\n  figures  default\n")
    assert "dense" in out


@pytest.mark.parametrize("target", MACHINES)
def test_it_shows_each_profile(capsys: Capture, target: str) -> None:
    code, out, _ = run(capsys, "--target", target, "--json")
    assert code == 0
    assert json.loads(out) == to_data(MACHINES[target]) | {"problem": ""}


def test_what_is_measured_is_kept(capsys: Capture, measuring: list[Measurement]) -> None:
    code, out, _ = run(capsys, "--measure")
    assert code == 0
    assert "measured" in out
    assert "42.5 us" in out
    assert run(capsys)[1] == out


def test_figures_that_are_missing_are_named(capsys: Capture, measuring: list[Measurement]) -> None:
    measuring.append(Measurement(CPU, ("rates",)))
    code, out, _ = run(capsys, "--rough", "--json")
    assert code == 1
    assert json.loads(out)["problem"] == "as before: rates"


def test_an_interruption_keeps_what_is_known(capsys: Capture, measuring: list[Measurement]) -> None:
    measuring.append(replace(measuring[0], missing=("rates",), interrupted=True))
    assert run(capsys, "--measure")[0] == 130
    assert "42.5 us" in run(capsys)[1]


def test_a_profile_that_cannot_be_kept(
    capsys: Capture, measuring: list[Measurement], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    code, out, _ = run(capsys, "--measure")
    assert code == 1
    assert "the profile cannot be kept" in out


def test_a_gpu_is_not_measured(capsys: Capture) -> None:
    code, _, err = run(capsys, "--measure", "--target", "cuda:90")
    assert code == 2
    assert "only cpu is measured" in err
    assert run(capsys, "--target", "abacus")[0] == 2


def test_the_memory_lists_no_profile(capsys: Capture, measuring: list[Measurement]) -> None:
    run(capsys, "--measure")
    assert main(["cache", "list"]) == 0
    assert capsys.readouterr().out == "nothing is remembered\n"
