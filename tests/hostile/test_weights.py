"""`weights`: whatever holds names is taken, each once, in the order of the formula's tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import NameUnknownError

TEXT = "Y[i,l] = A[i,k]*W[k,j]*V[j,l]"
SHAPES: dict[str, Any] = {"V": (4, 3), "W": (6, 4), "A": (5, 6)}
BUDGET = ed.Budget(states=20)


class Name(str):
    """A subclass that changes nothing."""

    __slots__ = ()


@pytest.mark.parametrize(
    ("weights", "kept"),
    [
        (["V", "W"], ("W", "V")),
        (("W", "V"), ("W", "V")),
        ({"V", "W"}, ("W", "V")),
        (iter("VW"), ("W", "V")),
        ({"V": 1}, ("V",)),
        ("V", ("V",)),
        (["W", "V", "W"], ("W", "V")),
        ([Name("V")], ("V",)),
        (np.array(["V", "W"]), ("W", "V")),
        ([], ()),
        ((), ()),
    ],
    ids=[
        "list",
        "tuple",
        "set",
        "iterator",
        "mapping",
        "one name",
        "repeated",
        "names of a type of their own",
        "array",
        "empty list",
        "empty tuple",
    ],
)
def test_what_holds_names_is_taken(weights: Any, kept: tuple[str, ...]) -> None:
    derivation = ed.derive(TEXT, weights=weights, budget=BUDGET, **SHAPES)
    assert derivation.weights == kept
    assert all(type(name) is str for name in derivation.weights)
    assert derivation.data()["weights"] == list(kept)


@pytest.mark.parametrize(
    "weights",
    ["K", "WV", "A,W", "", [""], ["W", "K"], [1], [None], [["W"]], None, 3, b"W", np.zeros(3)],
    ids=str,
)
@pytest.mark.parametrize("call", [ed.derive, ed.compile])
def test_what_is_no_name_of_a_tensor_is_refused_with_the_names(weights: Any, call: Any) -> None:
    with pytest.raises(NameUnknownError, match=r"its tensors are A, W, V") as caught:
        call(TEXT, weights=weights, budget=BUDGET, **SHAPES)
    assert "A[i,k]*V[j,l]*W[k,j]" in str(caught.value)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(NameUnknownError, match=r"next: did you mean W\? its tensors are A, W, V"):
        ed.derive(TEXT, weights="w", budget=BUDGET, **SHAPES)
