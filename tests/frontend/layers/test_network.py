"""The network of three formulas in the docs, at a small size."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.frontend.autograd.node import Node
from tests.amount import CAMPAIGN

SCRIPT = Path(__file__).parents[3] / "docs" / "train_formulas.py"
OPTIONS: dict[str, Any] = {"effort": "instant", "budget": ed.Budget(states=5)}


@CAMPAIGN  # some seconds, for six programs
def test_it_trains_as_the_plain_one_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    derived: list[object] = []
    real = Node.backward
    monkeypatch.setattr(Node, "backward", lambda *given: derived.append(given) or real(*given))
    torch.manual_seed(0)
    theirs, ours = runpy.run_path(str(SCRIPT))["main"](3, 12, OPTIONS)
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert ours[-1] < ours[0]
    assert len(derived) == 9  # three layers in three steps
    assert "a step of torch" in capsys.readouterr().out


def test_a_layer_of_several_statements() -> None:
    layer = ed.nn.Formula(
        "S[i] = W[i,k]*X[k]; Y[i] = tanh(S[i])", W=(3, 2), options={"effort": "instant"}
    )
    assert layer.operands == ("X",)
    x = torch.randn(2)
    torch.testing.assert_close(layer(x), torch.tanh(layer.W @ x))
