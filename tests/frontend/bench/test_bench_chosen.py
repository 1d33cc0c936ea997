"""The table of chosen programs: its figures, and that it goes on where it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from einderive.frontend.bench import chosen
from einderive.frontend.bench.chosen import Chosen, read, summary
from einderive.frontend.cli.main import main
from einderive.frontend.formulas import FORMULAS

LABELS = ("baseline", "candidate 1", "candidate 2")
WORDS = (("matmul",), ("elementwise",), ("matmul",))


def test_summary() -> None:
    rows = [
        Chosen("one", 8, LABELS, (1.0, 1.02, 0.5), WORDS),
        Chosen("two", 8, LABELS, (1.0, 1.1, 1.0), WORDS),
        Chosen("three", 8, ("a", "a", "b"), (1.04, 2.0, 1.0), (("x",),) * 3),
        Chosen("four", 8, failed="too large"),
    ]
    (_, choices), (_, more) = summary(rows)
    assert choices == {"choices": 3, "close": 2, "within": 1.05, "same": 2}
    assert more == {"median": pytest.approx(1.04), "most": 2.0, "formula": "one"}
    assert not list(summary(rows[3:]))


def test_it_goes_on_where_it_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chosen.jsonl"
    command = ["bench", "chosen", "--formula", "outer", "--size", "8", "--file", str(file)]
    command += ["--effort", "0.1"]
    assert main([*command, "--minutes", "1e-9", "--json"]) == 0
    assert not read(str(file))
    made: list[str] = []

    def compared(formula: chosen.Formula, size: int, effort: float) -> Chosen:
        made.append(formula.name)
        return Chosen(formula.name, size, LABELS, (1.0, 1.0, effort), WORDS)

    with monkeypatch.context() as patch:
        patch.setattr(chosen, "compared", compared)
        assert main([*command, "--json"]) == 0
        found, names = read(str(file)), [*made]
        assert {name for name, _ in found} == {*names}
        whole = file.read_text()
        last = whole.splitlines(keepends=True)[-1]
        file.write_text(whole.removesuffix(last) + last[:20])  # as a killed run leaves it
        capsys.readouterr()
        assert main([*command, "--json"]) == 0
    assert made == [*names, names[-1]]
    rows = json.loads(capsys.readouterr().out)
    assert {row["formula"] for row in rows if "size" in row} == {*names}
    assert read(str(file)) == found


@pytest.mark.campaign
def test_a_formula_is_compiled_three_times() -> None:
    formula = next(one for one in FORMULAS if one.name == "matmul")
    row = chosen.compared(formula, 8, 0.5)
    assert not row.failed
    assert len(row.labels) == len(row.words) == len([t for t in row.seconds if t > 0]) == 3
    assert row.loss >= 1
