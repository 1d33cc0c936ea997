"""The table of predicted and measured stages: its figures, and that it goes on where it ended."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import pytest

from einderive.frontend.bench.choices.asked import asked_of
from einderive.frontend.bench.choices.choice import (
    Measured,
    Timed,
    median_error,
    rank_correlation,
    ranks,
    row_of,
    summary,
)
from einderive.frontend.bench.kept import Kept
from einderive.frontend.cli.main import main


def test_equal_values_share_a_rank() -> None:
    assert ranks([3.0, 1.0, 3.0, 2.0]) == [2.5, 0.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ([1.0, 2.0, 3.0], [1.0, 10.0, 100.0], 1.0),
        ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], -1.0),
        ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 2.0, 4.0], 0.8),  # 1 - 6*2/(4*15)
    ],
)
def test_rank_correlation(one: list[float], other: list[float], found: float) -> None:
    assert rank_correlation(one, other) == pytest.approx(found)


def test_too_little_for_a_correlation() -> None:
    assert isnan(rank_correlation([1.0, 2.0], [1.0, 2.0]))
    assert isnan(rank_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]))
    assert isnan(median_error([], []))


def test_median_error() -> None:
    assert median_error([1.0, 3.0, 8.0], [2.0, 2.0, 2.0]) == 0.5


def test_summary() -> None:
    stages = tuple(Timed(str(k), "matmul", "", float(k), 2.0 * k) for k in (1, 2, 3))
    rows = [
        Measured("one", 8, stages, ((1.0, 2.0), (2.0, 1.0))),
        Measured("two", 8, (), ((1.0, 1.1), (2.0, 1.0))),
        Measured("three", 8, (), ((1.0, 1.1),)),  # no choice
        Measured("four", 8, failed="too large"),
    ]
    _, (_, every), (_, by_operator), (_, choices) = summary(rows)
    figures = {"count": 3, "rank": pytest.approx(1.0), "error": 0.5, "ratio": 0.5}
    assert every == {"stages": "all", **figures}
    assert by_operator == {"stages": "matmul", **figures}
    assert choices == {"by": "prediction", "choices": 2, "close": 1, "within": 1.25}


def test_it_goes_on_where_it_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "choice.jsonl"
    command = ["bench", "choice", "--formula", "softmax", "--size", "8", "--file", str(file)]
    command += ["--measuring", "0.05"]
    assert main([*command, "--json"]) == 0
    whole = file.read_text()
    found = Kept(str(file), row_of, asked_of).rows
    assert found
    assert all(stage.predicted > 0 for row in found.values() for stage in row.stages)
    last = whole.splitlines(keepends=True)[-1]
    file.write_text(whole.removesuffix(last) + last[:40])  # as a run that was killed leaves it
    capsys.readouterr()
    assert main([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["formula"], row["size"]) for row in rows if "formula" in row} == found.keys()
    assert Kept(str(file), row_of, asked_of).rows.keys() == found.keys()
