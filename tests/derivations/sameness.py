"""Whether two scopes are equal, where the laws that the rules between them rest on hold."""

from __future__ import annotations

from collections.abc import Iterable

from einderive.derivations.rules import RULES
from einderive.ta.equality.compare import compare
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.ir.node import Scope
from tests.oracle import equal

LAWS = {rule.name: rule.laws for rule in RULES}


def same(before: Scope, after: Scope, rules: Iterable[str] = ()) -> bool:
    """Equal at every position where both have a value, by exact evaluation, given the laws of
    these rules."""
    if any(EXP_SUM in LAWS.get(rule, ()) for rule in rules):
        outcome = compare([before], [after], exp_sum=True)
        return outcome.equal or outcome.reason == "value"
    return equal(before, after) is None
