"""`einderive bench backward` on one small formula."""

from __future__ import annotations

import pytest

from einderive.frontend.bench import backward
from einderive.frontend.bench.backward import Row, bench_backward, line_of
from einderive.frontend.bench.rows import Rows
from einderive.frontend.trial.timing import Timing
from tests.amount import CAMPAIGN


def row(own: float, torch: float, kept: int = 8) -> Row:
    times = [Timing(seconds, 1e-6) for seconds in (own, torch, torch)]
    return Row("name", 8, *times, 1, kept, 8, "derived")


def test_verdicts() -> None:
    assert "ok" in line_of(row(1e-4, 1e-4))
    assert "ok" in line_of(row(1.1e-4, 1e-4))  # 10 us are allowed
    assert "SLOWER" in line_of(row(1.2e-4, 1e-4))
    assert "MORE KEPT" in line_of(row(1e-4, 1e-4, kept=16))
    assert row(1e-4, 3e-4).ratio == pytest.approx(3)


@CAMPAIGN
def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real = backward.compile_formula
    monkeypatch.setattr(
        backward, "compile_formula", lambda *a, **k: real(*a, budget=0.05, seconds=0.01, **k)
    )
    with Rows() as rows:
        bench_backward(["leaky_relu, by a condition"], [], rows, seconds=0.02, largest=True)
        bench_backward(["greater"], [], rows, seconds=0.02)  # has no gradient
    (found,) = rows.found
    assert found["kept"] <= found["plain_kept"]
    printed = capsys.readouterr().out
    assert "1 measured" in printed
    assert "0 measured" in printed
