"""The kinds of steps that a rule proposes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache


@cache
def kinds_of_rules() -> Mapping[str, frozenset[str]]:
    """The kinds of the witnesses that each rule proposes on its examples."""
    from einderive.derivations.rule import Rule
    from einderive.derivations.rules import ALL_RULES
    from tests.mutants.witnesses import proposed

    found: dict[str, frozenset[str]] = {}
    for rule in ALL_RULES:
        seeds = range(len(rule.examples)) if isinstance(rule, Rule) else range(2)
        witnesses = [witness for seed in seeds for _, witness in proposed(rule, seed)]
        found[rule.name] = frozenset(type(witness).__name__ for witness in witnesses)
    return found
