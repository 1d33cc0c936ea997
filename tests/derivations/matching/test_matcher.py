"""Matching many operators at once says of each what matching it alone says."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from einderive.derivations.matching.cost import H100
from einderive.derivations.matching.match import distance, match
from einderive.derivations.matching.matcher import Matcher
from einderive.derivations.rules import RULES
from einderive.derivations.search.explore import explore
from einderive.derivations.search.graph import Graph
from einderive.derivations.search.strategy import Budget
from einderive.eops.library import OPERATORS
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Mismatch, Operator
from einderive.ta.notation.parse import parse
from tests.amount import sampled

TEXTS = {
    "convolution": (
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:7, w in 0:7",
        {"A": (1, 7, 7, 16), "K": (3, 3, 8, 16)},
    ),
    "transposed": (
        "Y[n,h,f] = A[n,i,c]*K[h+1-2*i,f,c] where h in 0:8",
        {"A": (2, 4, 3), "K": (4, 5, 3)},
    ),
    "pool": (
        "Y[c,h] = max[r](A[c,2*h+r]) where h in 0:6, r in 0:3",
        {"A": (4, 14)},
    ),
    "copy": ("Y[i,h] = A[h,i]", {"A": (4, 6)}),
    "distances": ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (8, 4), "B": (6, 4)}),
    "iterators as values": ("Y[i] = sum[j](i + A[j,i])", {"A": (5, 5)}),
    "maximum of iterators": (
        "T[i] = max[j](j) where i in 0:3, j in 0:2; Y[i] = T[i]*A[i]",
        {"A": (3,)},
    ),
    "chain": ("Y[i,l] = A[i,j]*B[j,k]*C[k,l]", {"A": (3, 4), "B": (4, 5), "C": (5, 6)}),
}


def scopes(name: str) -> list[Scope]:
    text, shapes = TEXTS[name]
    roots = parse(text, shapes).roots()
    graph = Graph(RULES, OPERATORS, H100)
    explore(graph, roots, Budget(states=300))
    return list(graph.stages)


@sampled(2)
@pytest.mark.parametrize("name", TEXTS)
def test_as_each_operator_by_itself(name: str) -> None:
    matcher = Matcher(OPERATORS)
    for scope in scopes(name):
        alone = [(operator, match(operator, scope)) for operator in OPERATORS]
        found = matcher.matches(scope)
        assert found.bindings == tuple((o, r) for o, r in alone if isinstance(r, Binding))
        far = [distance(result) for _, result in alone]
        assert found.distance == min(far), scope
        assert found.nearest == alone[far.index(min(far))][0].name, scope


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_one_operator(operator: Operator) -> None:
    for text, shapes in TEXTS.values():
        (root,) = parse(text, shapes).roots()
        found = match(operator, root)
        bindings = ((operator, found),) if isinstance(found, Binding) else ()
        assert Matcher([operator]).matches(root) == (bindings, distance(found), operator.name)


def test_a_little_nearer_is_nearer() -> None:
    known = OPERATORS[0]
    operators = [
        replace(
            known, name=str(far), recognise=lambda scope, far=far: Mismatch("body", "", (), far)
        )
        for far in (3.0, 2.5, 2.75)
    ]
    (root,) = parse("Y[i] = A[i]", {"A": (3,)}).roots()
    assert Matcher(operators).matches(root) == ((), 2.5, "2.5")


@pytest.mark.parametrize("seed", range(60))
def test_any_operators_in_any_order(seed: int) -> None:
    """Also those that refuse the reducer, and none that is near."""
    random = Random(seed)
    operators = random.sample(OPERATORS, random.randint(1, 4))
    matcher = Matcher(operators)
    for name in TEXTS:
        text, shapes = TEXTS[name]
        (root,) = parse(text, shapes).roots()
        domain = [(0, 0), *root.domain[1:]]
        first = len(root.loops)
        empty = make_scope(domain[:first], domain[first:], root.body, root.reducer)
        other = make_scope(root.loops, root.sums, root.body, "min" if root.sums else "sum")
        for scope in (root, empty, other):
            far = [distance(match(operator, scope)) for operator in operators]
            found = matcher.matches(scope)
            assert found.distance == min(far)
            assert found.nearest == operators[far.index(min(far))].name


def test_an_empty_scope_matches_no_product() -> None:
    (root,) = parse("Y[i,j] = A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}).roots()
    empty = make_scope([(0, 0), (0, 5)], root.sums, root.body)
    assert not Matcher(OPERATORS).matches(empty).bindings


def test_without_operators_nothing_is_near() -> None:
    for text in ("Y[i] = A[i]", "Y[i] = i*A[i]"):
        (root,) = parse(text, {"A": (3,)}).roots()
        assert Matcher(()).matches(root) == ((), float("inf"), "")
