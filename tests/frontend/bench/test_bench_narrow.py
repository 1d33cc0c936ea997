"""The benchmark of narrow products prints a row for each size."""

from __future__ import annotations

import pytest
import torch

from einderive.frontend.bench import narrow_products


def test_each_size_has_a_row(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrow_products, "SIZES", ((40, 8, 3), (30, 7, 2)))
    monkeypatch.setattr(narrow_products, "race", raced)
    threads = torch.get_num_threads()
    assert narrow_products.main() == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if " us " in line]
    assert [row[:3] for row in rows][:2] == [["40", "8", "3"], ["30", "7", "2"]]
    assert {len(row) for row in rows} == {3 + 4 * 2}
    assert torch.get_num_threads() == threads


def raced(runs: list[object], **options: object) -> list[narrow_products.Timing]:
    return [narrow_products.Timing(1e-6 * (k + 1), 0.0) for k, _ in enumerate(runs)]
