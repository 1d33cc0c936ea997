"""Every elementwise function of the array API, every activation and special function of torch is a
word of the notation, is written otherwise, or is left out for a reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS
from tools.other_names import ACTIVATIONS, ARRAY_API, LEFT_OUT, SPECIAL, WRITTEN

X, Y = np.array([-2.5, -1.0, 0.0, 0.5, 3.0]), np.array([0.5, -1.0, 2.0, 0.0, -3.0])
WORDS = {*FUNCTIONS, *(name for name, _ in DEFINITIONS)}


@pytest.mark.parametrize("name", dict.fromkeys((*ARRAY_API, *ACTIVATIONS, *SPECIAL)))
def test_each_name_has_one_answer(name: str) -> None:
    assert [name in WORDS, name in WRITTEN, name in LEFT_OUT].count(True) == 1


def test_the_names_are_those_of_the_libraries() -> None:
    renamed = {"bitwise_invert", "real", "imag"}
    assert [name for name in ARRAY_API if name not in renamed and not hasattr(torch, name)] == []
    assert [name for name in ARRAY_API if not hasattr(np, name)] == []
    assert [name for name in ACTIVATIONS if not hasattr(torch.nn.functional, name)] == []
    assert [name for name in SPECIAL if not hasattr(torch.special, name)] == []


@pytest.mark.parametrize("name", WRITTEN)
def test_what_stands_for_it_has_its_values(name: str) -> None:
    shapes = {n: (5,) for n in "xy" if f"{n}[" in WRITTEN[name]}
    (root,) = ed.parse(f"Z[i] = {WRITTEN[name]}", **shapes).roots()
    with np.errstate(all="ignore"):
        x = np.abs(X) if name in ("gammaln", "psi") else X
        found = evaluate(root, {"x": x, "y": Y}, RealField())
        if name == "normalize":
            expected = torch.nn.functional.normalize(torch.from_numpy(X), dim=0).numpy()
        elif name in SPECIAL:
            expected = getattr(torch.special, name)(torch.from_numpy(x)).numpy()
        else:
            expected = getattr(np, name)(*(X, Y)[: len(shapes)])
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float))
