"""`einderive bench backward` on one small formula."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from einderive.frontend.bench.kept import Kept
from einderive.frontend.bench.rows import Rows
from einderive.frontend.bench.training import backward
from einderive.frontend.bench.training.backward import (
    LeftOut,
    Row,
    bench_backward,
    key_of,
    line_of,
    row_of,
    summary,
)
from einderive.frontend.timed.timing import Timing
from tests.amount import CAMPAIGN


def row(own: float, torch: float, kept: int = 8) -> Row:
    times = [Timing(seconds, 1e-6) for seconds in (own, own, torch, torch)]
    return Row("name", 8, *times, 1, kept, 8, "derived")


def test_verdicts() -> None:
    assert "ok" in line_of(row(1e-4, 1e-4))
    assert "ok" in line_of(row(1.1e-4, 1e-4))  # 10 us are allowed
    assert "SLOWER" in line_of(row(1.2e-4, 1e-4))
    assert "ok" in line_of(row(1e-4, 1e-4, kept=4104))  # a page is allowed
    assert "MORE KEPT" in line_of(row(1e-4, 1e-4, kept=4105))
    assert row(1e-4, 3e-4).ratio == pytest.approx(3)


def test_what_differs_from_itself_is_noise() -> None:
    noisy = replace(row(1.4e-4, 1e-4), own=Timing(1.0e-4, 1e-6))
    assert noisy.seconds == pytest.approx(1.2e-4)
    assert noisy.noise == pytest.approx(4e-5)
    assert not noisy.slower


def test_a_refused_line_is_told() -> None:
    alone = replace(row(1e-3, 1e-4), refusal="its gradients at ties", alone=True)
    assert not alone.slower
    assert "all lines refused" in line_of(alone)
    *refused, total, improved = summary([alone, replace(row(1e-4, 2e-4), forward=3.0)])
    assert refused == ["name, 8: a line is refused: its gradients at ties"]
    assert "0 slower" in total
    assert improved.startswith("1 whose call alone")
    assert "geometric mean 2.00, of the call alone 3.00" in improved


def test_a_table_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "table.jsonl"
    rows = [row(1e-4, 1e-4), LeftOut("other", 4, "no line")]
    table = Kept(str(file), row_of, key_of)
    for each in rows:
        table.add(each)
    assert [*Kept(str(file), row_of, key_of).rows.values()] == rows


@CAMPAIGN
def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real = backward.compile_formula
    monkeypatch.setattr(
        backward, "compile_formula", lambda *a, **k: real(*a, budget=0.05, seconds=0.01, **k)
    )
    with Rows() as rows:
        words = ["leaky_relu, by a condition"]
        bench_backward(rows, words=words, seconds=0.02, largest=True)
        bench_backward(rows, words=["greater"], seconds=0.02)  # has no gradient
    (found,) = rows.found
    assert found["kept"] <= found["plain_kept"]
    printed = capsys.readouterr().out
    assert "1 measured" in printed
    assert "0 measured" in printed
