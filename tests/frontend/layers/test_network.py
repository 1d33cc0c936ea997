"""The network of three formulas in the docs, at a small size."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from tests.amount import CAMPAIGN

SCRIPT = Path(__file__).parents[3] / "docs" / "train_formulas.py"
OPTIONS: dict[str, Any] = {"effort": "instant", "budget": ed.Budget(states=5)}


@CAMPAIGN  # some seconds, for six programs
def test_it_trains_as_the_plain_one_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[str] = []
    real = ed.nn.Formula.forward

    def noted(layer: ed.nn.Formula, **operands: torch.Tensor) -> Any:
        result = real(layer, **operands)
        result.grad_fn.register_hook(lambda *_: derived.append(result.grad_fn.name()))
        return result

    monkeypatch.setattr(ed.nn.Formula, "forward", noted)
    torch.manual_seed(0)
    theirs, ours = runpy.run_path(str(SCRIPT))["main"](3, 12, OPTIONS)
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ours[-1] < ours[0]
    assert len(derived) == 9  # three layers in three steps, by the nodes of derived gradients
    assert {*derived} <= {"NodeBackward", "LinkedBackward"}
    assert "a step of torch" in capsys.readouterr().out


def test_a_layer_of_several_statements() -> None:
    layer = ed.nn.Formula(
        "S[i] = W[i,k]*X[k]; Y[i] = tanh(S[i])", W=(3, 2), options={"effort": "instant"}
    )
    assert layer.operands == ("X",)
    x = torch.randn(2)
    torch.testing.assert_close(layer(x), torch.tanh(layer.W @ x))
