"""The table of chosen programs: its figures, what is found, and that it goes on where it ended."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

import einderive as ed
from einderive.frontend.bench.choices import chosen
from einderive.frontend.bench.choices.asked import asked, asked_of, is_held_out
from einderive.frontend.bench.choices.chosen import Chosen, is_same, row_of, summary
from einderive.frontend.bench.choices.found import Found, built, find
from einderive.frontend.bench.kept import Kept
from einderive.frontend.cli.main import main
from einderive.frontend.formulas import FORMULAS
from einderive.frontend.timed.trial import Trial

LABELS = ("baseline", "candidate 1", "candidate 2")
SHOWN, HIDDEN = (
    next(one.name for one in FORMULAS if is_held_out(one.name) is part) for part in (False, True)
)


def test_summary() -> None:
    rows = [
        Chosen(SHOWN, 8, LABELS, (1.0, 1.02, 0.5), 2, 2.0, 1.02, 2.0, same=False),
        Chosen(SHOWN, 32, LABELS, (1.0, 1.1, 1.0), 0, 1.0, 1.1, 1.0, same=False),
        Chosen(SHOWN, 64, LABELS, (1.04, 2.0, 1.0), 2, 1.04, 1.9, 1.04, same=True),
        Chosen(SHOWN, 128, failed="too large"),
        Chosen(HIDDEN, 8, LABELS, (1.0, 1.0, 1.0)),
    ]
    (_, choices), (_, more), (_, hidden), _ = summary(rows)
    assert choices == {"held_out": False, "choices": 3, "close": 2, "same": 2}
    assert hidden == {"held_out": True, "choices": 1, "close": 1, "same": 1}
    assert more == {"held_out": False, "most": 2.0, "formula": SHOWN, "size": 8}
    assert not list(summary(rows[3:4]))


def test_the_same_program_is_told_from_others() -> None:
    seen = ed.derive("Y[i,j] = A[i,k]*B[k,j]", budget=ed.Budget(states=1), A=(3, 4), B=(4, 5))
    plan, text = seen.unchanged, "return A @ B"
    one = Trial("candidate 1", plan, ("matmul",), 1e-6, 0.0, "accepted")
    assert is_same(one, replace(one, seconds=2e-6, label="candidate 2"))
    assert not is_same(one, replace(one, words=("eOperator (narrow product)",)))
    line = replace(one, plan=None, label="baseline 1", text=text)
    assert is_same(line, replace(line, label="baseline 3"))
    assert not is_same(line, replace(line, text="return torch.mm(A, B)"))
    assert not is_same(one, line)


def test_a_third_is_held_out() -> None:
    held = sum(is_held_out(one.name) for one in FORMULAS)
    assert 0.25 < held / len(FORMULAS) < 0.42


def test_it_goes_on_where_it_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "chosen.jsonl"
    command = ["bench", "chosen", "--formula", "matmul", "--size", "8", "--file", str(file)]
    assert main([*command, "--minutes", "1e-9", "--json"]) == 0
    assert not Kept(str(file), row_of, asked_of).rows
    found: list[str] = []
    timed: list[str] = []

    def one(formula: chosen.Formula, size: int) -> Found:
        found.append(formula.name)
        return Found(formula.name, size)

    def compared(formula: chosen.Formula, size: int, known: Found) -> Chosen:
        timed.append(formula.name)
        return Chosen(formula.name, size, LABELS, (1.0, 1.0, 2.0))

    with monkeypatch.context() as patch:
        patch.setattr(chosen, "find", one)
        patch.setattr(chosen, "compared", compared)
        assert main([*command, "--part", "time", "--json"]) == 0
        assert not found
        assert main([*command, "--part", "find", "--json"]) == 0
        assert (len(found), timed) == (len({*found}), [])
        assert main([*command, "--held-out", "--json"]) == 0
        assert main([*command, "--part", "time", "--json"]) == 0
        names = [name for name in timed if not is_held_out(name)]
        assert names == [name for name in found if not is_held_out(name)]
        assert any(is_held_out(name) for name in timed)
        whole = file.read_text()
        last = whole.splitlines(keepends=True)[-1]
        file.write_text(whole.removesuffix(last) + last[:20])  # as a killed run leaves it
        capsys.readouterr()
        assert main([*command, "--json"]) == 0
    assert timed[-1] == json.loads(last)["formula"]
    rows = json.loads(capsys.readouterr().out)
    assert {row["formula"] for row in rows if "labels" in row} == {*timed}


@pytest.mark.campaign
def test_what_is_found_is_built_again(tmp_path: Path) -> None:
    formula = next(one for one in FORMULAS if one.name == "k2mm")
    row = find(formula, 8)
    assert not row.failed
    assert row.tried >= len(row.trials) >= 1
    program, inputs = asked(formula, 8)
    data = json.loads(json.dumps(asdict(row)))
    functions = [*built(Found(**{**data, "trials": tuple(data["trials"])}), program)]
    assert len(functions) == len(row.trials)
    results = [function(*inputs.values()) for function in functions]
    for result in results:
        torch.testing.assert_close(result, results[0])
    compared = chosen.compared(formula, 8, row)
    assert not compared.failed
    assert compared.loss >= 1
    assert len(compared.labels) == len(compared.seconds) == 2 + len(functions)
