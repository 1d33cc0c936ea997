"""A sum that its operator repairs is claimed as it is written, and as nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from einderive.derivations.checker import not_an_instance
from einderive.derivations.matching.match import match
from einderive.eops.library.repaired import REPAIRED
from einderive.ta.ir.operator import Binding, Window
from tests.derivations.seeds import read

SHAPES = {"A": (4, 3), "B": (5, 3), "C": (4, 3)}
SCOPE = read("{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
OTHER = read("{L[i:0:4,j:0:5] S[k:0:3] (C[i,k] - B[j,k])^2}", **SHAPES)


def bound() -> Binding:
    found = match(REPAIRED, SCOPE)
    assert isinstance(found, Binding)
    return found


def test_the_binding_that_is_found_is_an_instance() -> None:
    assert not_an_instance(SCOPE, REPAIRED, bound()) is None


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (replace(bound(), roles={"b": (1, 0), "k": (2,)}), "in their order"),
        (replace(bound(), roles={"b": (0, 1, 2), "k": ()}), "in their order"),
        (replace(bound(), roles={"b": (0, 1)}), "indices of the definition"),
        (replace(bound(), operands=bound().operands[:1]), "different sums of products"),
        (replace(bound(), operands=bound().operands[::-1]), "not the reads of the body"),
        (replace(bound(), coefficient=Fraction(2)), "no factor"),
        (replace(bound(), windows=(Window(0, 0, 0, 2, 1, 1, 1),)), "no windows"),
        (replace(bound(), scope=OTHER), "of another scope"),
    ],
)
def test_changed_bindings_are_refused(changed: Binding, reason: str) -> None:
    assert reason in str(not_an_instance(SCOPE, REPAIRED, changed))


def test_a_maximum_is_none() -> None:
    scope = read("{L[i:0:4,j:0:5] max[k:0:3] (A[i,k] - B[j,k])^2}", **SHAPES)
    roles = {"b": (0, 1), "k": (2,)}
    (reads,) = [bound().operands]
    reason = not_an_instance(scope, REPAIRED, Binding(scope, reads, roles))
    assert reason == "repaired does not reduce by max"
