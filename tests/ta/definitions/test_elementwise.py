"""Functions that are defined by a formula, against torch's on many numbers, and at those that are
special."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import einderive as ed
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from tests.amount import sampled

INF: Final = np.inf
X: Final = np.concatenate(
    [
        np.linspace(-12, 12, 961),
        *(s * 10.0 ** np.arange(-30, 4, 2) for s in (1, -1)),
        [INF, -INF, np.nan],
    ]
)
FUNCTIONS: Final = [
    found for found in DEFINITIONS.values() if found.torch and not found.binder and not found.folds
]


@sampled(2)
@pytest.mark.parametrize("known", FUNCTIONS, ids=lambda known: known.name)
def test_an_elementwise_definition_is_torchs_function(known: Definition) -> None:
    required = [name for name, default in known.operands.items() if not default]
    options = {name: float(default) for name, default in known.operands.items() if default}
    random = np.random.default_rng(0)
    points = X[np.isfinite(X)] if known.name == "lerp" else X  # torch counts from the nearer end
    values: dict[str, Any] = {required[0]: points}
    values |= {name: random.permutation(points) for name in required[1:]}
    text = f"Y[i] = {known.name}({', '.join(f'{name}[i]' for name in required)})"
    with np.errstate(all="ignore"):
        found = torch.from_numpy(np.asarray(ed.evaluate(text, **values)))
    tensors = {name: torch.from_numpy(value) for name, value in values.items()}
    expected = eval(known.torch, {"torch": torch, "F": F, **tensors, **options})
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-13, equal_nan=True)


@pytest.mark.parametrize(
    "known",
    [each for each in FUNCTIONS if sum(not default for default in each.operands.values()) == 2],
    ids=lambda known: known.name,
)
def test_two_operands_that_are_special_give_what_torch_gives(known: Definition) -> None:
    special = np.array([np.nan, INF, -INF, 0.0, 1.0, -1.0, 2.5])
    names = [name for name, default in known.operands.items() if not default]
    options = {name: float(default) for name, default in known.operands.items() if default}
    values = dict(zip(names, np.meshgrid(special, special, indexing="ij"), strict=True))
    text = f"Y[i,j] = {known.name}({', '.join(f'{name}[i,j]' for name in names)})"
    found = torch.from_numpy(np.asarray(ed.evaluate(text, **values)))
    tensors = {name: torch.from_numpy(value) for name, value in values.items()}
    expected = eval(known.torch, {"torch": torch, "F": F, **tensors, **options})
    torch.testing.assert_close(found, expected, equal_nan=True)
