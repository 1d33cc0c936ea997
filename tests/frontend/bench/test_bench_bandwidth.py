"""The benchmark of bandwidth by size, and its pictures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from einderive.frontend.bench.kernels.picture import svg
from einderive.frontend.cli.main import main

Capture = pytest.CaptureFixture[str]
NAMESPACE = "{http://www.w3.org/2000/svg}"


def places(line: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in line.attrib["points"].split())
    return [(float(x), float(y)) for x, y in pairs]


def test_a_picture_is_true_to_scale() -> None:
    text = svg("a < b", "n", "GB/s", {"one": [(1e3, 10), (1e4, 20), (1e5, 40)], "two": [(1e5, 0)]})
    root = ElementTree.fromstring(text)
    one, two = (places(line) for line in root.iter(NAMESPACE + "polyline"))
    assert one[1][0] - one[0][0] == pytest.approx(one[2][0] - one[1][0], abs=0.2)  # powers of ten
    foot = two[0][1]
    heights = [foot - y for _, y in one]
    assert heights[2] == pytest.approx(4 * heights[0], abs=0.5)
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.5)
    names = [element.text for element in root.iter(NAMESPACE + "text")]
    assert {"a < b", "one", "two", "1,000", "0", "40"} <= {*names}


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
