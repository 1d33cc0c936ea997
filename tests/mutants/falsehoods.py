"""What the checker must not accept: two scopes that differ, a binding of another stage.

A true step with its right side changed in one place, or exchanged for another's, is false where the
two sides differ at a point; a binding that computes a stage does not compute a stage that differs
from it, unless the call does.  All of this is found by evaluation, not by the checker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from einderive.derivations.matching.match import match
from einderive.derivations.rule import Rule
from einderive.derivations.rules import RULES
from einderive.derivations.steps import kernel
from einderive.eops.library import OPERATORS
from einderive.ta.errors import RuleRefused
from einderive.ta.exact.interp import uses_order
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.ir.subst import stages
from tests.derivations.seeds import points, seeded
from tests.eops.instances import TABLE, instance
from tests.eops.operator_cases import RECOGNISED, scope_of
from tests.fuzz.judge import Judge
from tests.fuzz.variants import variants
from tests.mutants.claims import Claimed
from tests.mutants.instances import GIVES
from tests.mutants.instances import wrong as wrongly_computed

MOST_POINTS = 4000
TRIED = 24
"""Variants of a scope that are looked at."""


def collect(seeds: int) -> tuple[Claimed, ...]:
    """From the first `seeds` scopes of each rule, and from each operator's instances."""
    return (*dict.fromkeys(_steps(seeds)), *_bindings(max(1, seeds // 3)))


def _steps(seeds: int) -> Iterator[Claimed]:
    judge = Judge()
    for rule in RULES:
        for seed in range(seeds):
            before = seeded(rule, seed)
            if points(before) <= MOST_POINTS:
                for witness in islice(rule.propose(before), 2):
                    yield from _around(judge, rule, before, witness)


def _around(judge: Judge, rule: Rule, before: Scope, witness: Any) -> Iterator[Claimed]:
    try:
        after = kernel.apply(before, witness, exact=False)
    except RuleRefused:
        return
    if after is before or rule.laws or rule.proved:
        return
    for wrong in _different(judge, before, after):
        yield Claimed(False, before, wrong, witness)


def _different(judge: Judge, before: Scope, after: Scope) -> Iterator[Scope]:
    """Variants of `after` that are another tensor than `before`, on the same loops."""
    found = list(islice(variants(after), 4 * TRIED))
    step = max(1, len(found) // TRIED)
    for wrong in found[::step]:
        if wrong.loops != before.loops or points(wrong) > MOST_POINTS:
            continue
        if not _exists(judge, wrong):
            continue
        if judge.difference(before, wrong) is not None:
            yield wrong


def _exists(judge: Judge, scope: Scope) -> bool:
    """Has it finite values only?  Nothing is said of where it has none."""
    if not any(map(uses_order, stages(scope))):
        return True
    with np.errstate(all="ignore"):
        values = judge.pairs(scope, scope)
        return all(bool(np.all(abs(left) < float("inf"))) for _, left, _ in values)


def _bindings(seeds: int) -> Iterator[Claimed]:
    judge = Judge()
    for operator, scope in _instances(seeds):
        found = match(operator, scope)
        if isinstance(found, Binding) and points(scope) <= MOST_POINTS:
            for wrong in _different(judge, scope, scope):
                claimed = replace(found, scope=wrong)
                if wrong.domain == scope.domain and wrongly_computed(operator, claimed).startswith(
                    GIVES
                ):
                    yield Claimed(False, scope, wrong, None, operator, claimed)
            if judge.difference(scope, _doubled(scope)) is not None:
                twice = replace(found, coefficient=2 * found.coefficient)
                yield Claimed(False, scope, scope, None, operator, twice)


def _doubled(scope: Scope) -> Scope:
    body = expr.mul(expr.const(2), scope.body)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _instances(seeds: int) -> Iterator[tuple[Operator, Scope]]:
    for operator in TABLE:
        for seed in range(seeds):
            yield operator, instance(operator, seed)
    for operator in OPERATORS:
        for case in RECOGNISED.get(operator.name, ()):
            yield operator, scope_of(case)
