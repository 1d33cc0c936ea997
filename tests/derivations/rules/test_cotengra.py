"""Orders by cotengra: for many factors alone, beside those of opt_einsum, where it is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import einderive as ed
from einderive.derivations.rules import RULES, contraction_order
from einderive.derivations.rules.contraction_order import CONTRACTION_ORDER, thorough
from einderive.derivations.steps.kernel import apply
from einderive.ta.equality.compare import compare
from einderive.ta.ir.node import Scope


def chain(factors: int) -> Scope:
    """A product of so many matrices."""
    letters = "abcdefghijklm"[: factors + 1]
    names = [f"T{number}" for number in range(factors)]
    reads = [f"{n}[{i},{j}]" for n, i, j in zip(names, letters, letters[1:], strict=False)]
    text = f"Y[{letters[0]},{letters[-1]}] = {'*'.join(reads)}"
    (root,) = ed.parse(text, **dict.fromkeys(names, (2, 2))).roots()
    return root


def test_two_orders_of_many_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def from_the_left(
        inputs: Sequence[str], output: str, sizes: Mapping[str, int]
    ) -> list[tuple[int, int]]:
        asked.append(len(inputs))
        return [(0, 1)] + [(0, left - 1) for left in range(len(inputs) - 1, 1, -1)]

    monkeypatch.setattr(contraction_order, "find_spec", lambda name: name)
    monkeypatch.setattr(contraction_order, "_by_cotengra", from_the_left)
    rules = thorough(RULES)
    assert [rule.name for rule in rules] == [rule.name for rule in RULES]
    more = rules[RULES.index(CONTRACTION_ORDER)]
    assert len([*more.propose(chain(4))]) == 1
    whole = chain(9)
    found = [*more.propose(whole)]
    assert (len(found), asked) == (2, [9])
    for witness in found:
        assert compare((whole,), (apply(whole, witness),)).equal


def test_without_cotengra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contraction_order, "find_spec", lambda name: None)
    assert thorough(RULES) == RULES
