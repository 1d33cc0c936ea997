"""Quotients by what inner loops do not change, as products with reciprocals."""

from __future__ import annotations

import pytest

import einderive as ed
from einderive.derivations.search.reciprocals import with_reciprocals
from einderive.frontend.derived import Derived
from einderive.frontend.machine.empty_graph import empty_graph
from einderive.ta.ir.node import Power
from einderive.ta.ir.subst import stages, walk

SOFTMAX = "M[i] = max[k](X[i,k]); E[i,k] = exp(X[i,k]-M[i]); Y[i,k] = E[i,k]/sum[j](E[i,j])"


def derived(text: str, **shapes: tuple[int, ...]) -> Derived:
    return ed.derive(text, budget=ed.Budget(states=1), **shapes)


def reciprocals(derivation: Derived) -> list[tuple[int, ...]]:
    """The shapes of the stages that are one reciprocal, after the program was checked."""
    roots = derivation.source.roots()
    plan = with_reciprocals(empty_graph(derivation, roots), derivation.unchanged)
    if plan is None:
        return []
    assert {step.rule for step in plan.steps} == {"materialise"}
    report = derivation.check_plan(plan)
    assert report, str(report)
    return [s.shape for s in stages(*plan.roots) if isinstance(s.body, Power)]


@pytest.mark.parametrize(
    ("text", "shapes", "found"),
    [
        (SOFTMAX, {"X": (5, 9)}, [(5,)]),
        ("Y[i,j] = A[i,j]/B[i]", {"A": (5, 9), "B": (5,)}, [(5,)]),
        ("Y[i,j] = A[i,j]/B[j]", {"A": (9, 5), "B": (5,)}, [(5,)]),
        ("Y[i,j] = A[i,j]/(B[i]*C[j])", {"A": (9, 9), "B": (9,), "C": (9,)}, [(9,), (9,)]),
        ("Y[i,j] = A[i,j]/sqrt(B[i] + 1)", {"A": (5, 9), "B": (5,)}, [(5,)]),
        ("Y[i] = sum[j](A[i,j]/B[j])", {"A": (9, 5), "B": (5,)}, [(5,)]),
        ("Y[i,j] = A[i,j]/B[i,j]", {"A": (5, 9), "B": (5, 9)}, []),  # another one for each
        ("Y[i,j] = A[i,j]/B[i]", {"A": (9, 4), "B": (9,)}, []),  # few for each
        ("Y[i,j] = A[i,j]/7", {"A": (9, 9)}, []),
        ("Y[i,j] = A[i,j]*B[i]^2", {"A": (9, 9), "B": (9,)}, []),  # no quotient
    ],
)
def test_reciprocals(
    text: str, shapes: dict[str, tuple[int, ...]], found: list[tuple[int, ...]]
) -> None:
    assert reciprocals(derived(text, **shapes)) == found


def test_nothing_is_divided_twice() -> None:
    derivation = derived(SOFTMAX, X=(5, 9))
    graph = empty_graph(derivation, derivation.source.roots())
    plan = with_reciprocals(graph, derivation.unchanged)
    assert plan is not None
    assert with_reciprocals(graph, plan) is None
    assert not [
        node
        for stage in stages(*plan.roots)
        for node in walk(stage.body)
        if isinstance(node, Power) and node is not stage.body
    ]
