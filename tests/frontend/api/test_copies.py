"""Programs, derivations and compiled functions as values: hashed, compared, copied; functions are
pickled, the others are not."""

from __future__ import annotations

import copy
import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.node import Node

TEXT = "Y[i] = A[i,k]*x[k]"
SHAPES: dict[str, Any] = {"A": (4, 3), "x": (3,)}
KINDS = ("program", "derivation", "compiled", "node", "stage")


@cache
def compiled() -> ed.CompiledFunction:
    return ed.compile(
        ed.parse(TEXT, **SHAPES), target="cpu", budget=ed.Budget(states=9), seconds=0.001
    )


def value(kind: str) -> Any:
    derivation = compiled().derivation
    return {
        "program": derivation.source,
        "derivation": derivation,
        "compiled": compiled(),
        "node": derivation.source.inputs[0],
        "stage": derivation.source.roots()[0],
    }[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_a_key(kind: str) -> None:
    assert {value(kind): kind}[value(kind)] == kind


def test_programs_that_say_the_same_are_equal() -> None:
    one, same = (ed.parse(TEXT, **SHAPES) for _ in range(2))
    assert one == same
    assert len({one, same}) == 1
    assert one != ed.parse(TEXT, A=(5, 3), x=(3,))
    assert one != ed.parse("Y[i] = 2*A[i,k]*x[k]", **SHAPES)
    assert one != ed.parse("Z[i] = A[i,k]*x[k]", **SHAPES)


def test_a_derivation_is_equal_to_itself_alone() -> None:
    one, other = (
        ed.derive(TEXT, target="cpu", budget=ed.Budget(states=9), A=(4, 3), x=(3,))
        for _ in range(2)
    )
    assert one == one
    assert one != other
    assert len({one, other}) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_the_value_itself(kind: str) -> None:
    for way in (copy.copy, copy.deepcopy):
        assert way(value(kind)) is value(kind)
    assert copy.deepcopy({"a": [value(kind)]})["a"][0] is value(kind)


def test_what_holds_a_program_is_copied() -> None:
    held = {"program": value("program"), "data": [1, 2]}
    found = copy.deepcopy(held)
    assert found == held
    assert found["data"] is not held["data"]


def test_a_copied_function_computes() -> None:
    a, x = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    np.testing.assert_array_equal(copy.deepcopy(compiled())(a, x), [3, 3, 3, 3])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "compiled"])
def test_pickling_says_what_to_do(kind: str, protocol: int) -> None:
    step = {"program": "str(program)", "derivation": "save(path)"}
    with pytest.raises(EinderiveError, match="is not pickled") as caught:
        pickle.dumps([value(kind)], protocol)
    assert isinstance(caught.value, TypeError), "what Python raises for values that it cannot"
    assert step.get(kind, "str(node)") in str(caught.value).partition("next: ")[2]
    assert not isinstance(value(kind), Node) or kind in ("node", "stage")


def test_a_pickled_function_is_built_anew() -> None:
    found = pickle.loads(pickle.dumps({"f": compiled()}))["f"]
    assert found is not compiled()
    assert found.derivation.source == compiled().derivation.source
    assert found.options == compiled().options
    a, x = np.ones((4, 3), np.float32), np.ones(3, np.float32)
    np.testing.assert_array_equal(found(a, x), [3, 3, 3, 3])
