"""The benchmark of bandwidth by size, and its pictures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from einderive.frontend.cli.main import main

Capture = pytest.CaptureFixture[str]
NAMESPACE = "{http://www.w3.org/2000/svg}"


def test_it_runs_and_draws(tmp_path: Path, capsys: Capture) -> None:
    command = ["bench", "bandwidth", "--power", "12", "--power", "13", "--seconds", "0.01"]
    assert main([*command, "--picture", str(tmp_path)]) == 0
    assert "row softmax" in capsys.readouterr().out
    pictures = sorted(path.name for path in tmp_path.iterdir())
    assert pictures == ["bandwidth-addition-cpu.svg", "bandwidth-row-softmax-cpu.svg"]
    for path in tmp_path.iterdir():
        assert len([*ElementTree.fromstring(path.read_text()).iter(NAMESPACE + "polyline")]) == 3


def test_rates_are_given_as_data(capsys: Capture) -> None:
    assert main(["bench", "bandwidth", "--power", "12", "--seconds", "0.01", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [point["elements"] for point in data] == [4096, 4096]
    assert all(rate > 0 for point in data for rate in point["gigabytes"].values())
