"""Whether two scopes are equal, where the laws that the rules between them rest on hold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from einderive.derivations.rules import RULES
from einderive.ta.equality.compare import compare
from einderive.ta.equality.laws import EXP_SUM
from einderive.ta.exact.fields import Array, RealField, random_values
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.node import Scope
from tests.oracle import equal

LAWS = {rule.name: rule.laws for rule in RULES}
PROVED = {rule.name: rule.proved for rule in RULES}
DRAWS = 8


def same(before: Scope, after: Scope, rules: Iterable[str] = ()) -> bool:
    """Equal at every position where both have a value, by exact evaluation, given the laws of
    these rules."""
    if any(EXP_SUM in LAWS.get(rule, ()) for rule in rules):
        outcome = compare([before], [after], exp_sum=True)
        return outcome.equal or outcome.reason == "value"
    if equal(before, after) is None:
        return True
    return any(PROVED.get(rule) for rule in rules) and _agree(before, after)


def _agree(before: Scope, after: Scope) -> bool:
    """Equal up to rounding at every position where both have a value, for real numbers of either
    sign and of both."""
    field = RealField(1e-6)
    for seed in range(DRAWS):
        data = random_values(input_tensors(before, after), field, seed)
        values = {name: _signed(entries, seed % 3) for name, entries in data.items()}
        with np.errstate(all="ignore"):
            left, right = (evaluate(side, values, field) for side in (before, after))
        here = np.isfinite(left) & np.isfinite(right)
        if np.any(field.differs(left, right) & here):
            return False
    return True


def _signed(entries: Array, kind: int) -> Array:
    return np.asarray(entries if kind == 0 else abs(entries) + 0.1 if kind == 1 else -abs(entries))
