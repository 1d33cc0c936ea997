"""Effort: how much time goes into a compiled function, and a function without any timing."""

from __future__ import annotations

from dataclasses import astuple
from itertools import pairwise
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.frontend.trial import choose, entrants, races
from einderive.frontend.trial.effort import EFFORTS, NORMAL, effort_of, of_seconds
from einderive.ta.errors import TextError

PRODUCT = ("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", {"A": (40, 40), "B": (40, 40), "C": (40, 2)})
PLAIN = ("Y[i] = A[i,k]*x[k]", {"A": (8, 4), "x": (4,)})
CANCELS = ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (64, 32), "B": (64, 32)})


def test_more_seconds_are_more_of_everything() -> None:
    found = [astuple(of_seconds(t)) for t in (0.01, 0.5, 3.0, 20.0, 60.0, 1e6)]
    for less, more in pairwise(found):
        assert all(a <= b for a, b in zip(less, more, strict=True))
        assert less != more
    assert effort_of("normal") == of_seconds(3) == effort_of(3)
    assert effort_of("high") == of_seconds(60)
    assert not effort_of("instant").measured


def test_what_the_search_took_beyond_its_share_is_missing_afterwards() -> None:
    assert NORMAL.after(0.0) == NORMAL.after(NORMAL.search) == NORMAL
    assert NORMAL.after(NORMAL.search + 0.25).altogether == NORMAL.altogether - 0.25
    assert NORMAL.after(1e3).altogether == NORMAL.altogether / 2
    assert effort_of(NORMAL.after(1e3)) == NORMAL.after(1e3)


@pytest.mark.parametrize("given", ["fast", "", 0, -1.0, float("nan"), float("inf"), True, None, []])
def test_other_efforts_are_refused(given: Any) -> None:
    with pytest.raises(TextError, match="effort is a word or a number"):
        ed.compile(PLAIN[0], **PLAIN[1], effort=given)


@pytest.mark.parametrize(("text", "shapes"), [PRODUCT, PLAIN, CANCELS])
@pytest.mark.parametrize("nan", ["ignore", "strict"])
def test_instant_compares_no_times(
    text: str, shapes: dict[str, Any], nan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("raced, or compiled")

    monkeypatch.setattr(choose, "raced", refuse)
    monkeypatch.setattr(choose, "worth_compiling", refuse)
    monkeypatch.setattr(races, "duel", refuse)
    f = ed.compile(text, **shapes, effort="instant", budget=Budget(states=200), nan=nan)
    operands = [torch.randn(size) for size in shapes.values()]
    wide = [value.double() for value in operands]
    wanted = {
        PRODUCT[0]: lambda a, b, c: a @ b @ c,
        PLAIN[0]: lambda a, x: a @ x,
        CANCELS[0]: lambda a, b: torch.cdist(a, b) ** 2,
    }[text](*wide)
    torch.testing.assert_close(f(*operands).double(), wanted, rtol=1e-3, atol=1e-3)
    assert f.derivation.accuracy == "normwise"
    assert not f.chosen.cancelling
    if text == PRODUCT[0]:
        assert f.chosen.plan is not None  # (B C) first
    if text == PLAIN[0]:
        assert f.chosen.plan is None
    assert "chosen" in str(f)


def test_what_fails_the_check_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    text, shapes = PRODUCT
    derivation = ed.derive(text, **shapes, budget=Budget(states=200))
    assert derivation.compile(effort="instant").chosen.plan is not None
    real = entrants.Judge.judged

    def judged(judge: Any, entrant: Any) -> Any:
        return real(judge, entrant) if entrant.plain else entrant.out("refused: by this test")

    monkeypatch.setattr(entrants.Judge, "judged", judged)
    f = derivation.compile(effort="instant")
    assert f.chosen.plan is None
    assert f.trials[0].verdict == "refused: by this test"


def test_more_effort_tries_more(monkeypatch: pytest.MonkeyPatch) -> None:
    text, shapes = PRODUCT
    derivation = ed.derive(text, **shapes, budget=Budget(states=300))
    asked: list[int] = []
    monkeypatch.setattr(
        choose, "worth_trying", lambda d, w, tried, known: asked.append(tried) or []
    )
    for given in (0.3, "normal", "high"):
        derivation.compile(effort=given, seconds=0.01)  # type: ignore[arg-type]
    assert asked == [effort_of(given).tried for given in (0.3, "normal", "high")]
    assert asked == sorted({*asked})
    derivation.compile(effort="high", seconds=0.01, tried=1)
    assert asked[-1] == 1


def test_ctrl_c_keeps_the_best_so_far() -> None:
    text, shapes = PRODUCT
    derivation = ed.derive(text, **shapes, budget=Budget(states=300))

    def interrupt(words: str) -> None:
        if words.startswith("checking candidate 1"):
            raise KeyboardInterrupt  # a signal is ignored where the shell runs in the background

    f = derivation.compile(effort="high", seconds=0.01, progress=interrupt)
    assert f.interrupted
    a, b, c = (torch.randn(size) for size in shapes.values())
    torch.testing.assert_close(f(a, b, c), a @ b @ c, rtol=1e-3, atol=1e-3)


def test_evaluate_and_the_command_line_take_an_effort(capsys: pytest.CaptureFixture[str]) -> None:
    from einderive.frontend.cli.main import main

    a, x = torch.randn(8, 4), torch.randn(4)
    found = ed.evaluate(PLAIN[0], A=a, x=x, effort="instant")
    torch.testing.assert_close(found, a @ x)
    assert main(["derive", PLAIN[0], "A=8,4", "x=4", "--effort", "instant", "--run"]) == 0
    assert "chosen" in capsys.readouterr().out
    assert main(["derive", PLAIN[0], "A=8,4", "x=4", "--effort", "fast"]) != 0
    assert EFFORTS["normal"] == NORMAL
