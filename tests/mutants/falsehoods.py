"""What the checker must not accept: two scopes that differ, a binding of another stage.

A true step with its right side changed in one place, or exchanged for another's, is false where the
two sides differ at a point; a binding that computes a stage does not compute a stage that differs
from it, unless the call does.  All of this is found by evaluation, not by the checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from derivations import kernel
from derivations.checker import not_an_instance, not_shown
from derivations.match import match
from derivations.rule import Rule
from derivations.rules import RULES
from eops.library import OPERATORS
from ta import expr
from ta.canon import scope as make_scope
from ta.errors import RuleRefused
from ta.interp import uses_order
from ta.node import Scope
from ta.operator import Binding, Operator
from ta.subst import stages
from tests.derivations.seeds import points, seeded
from tests.eops.test_library import RECOGNISED, TABLE, instance, scope_of
from tests.fuzz.judge import Judge
from tests.fuzz.variants import variants
from tests.mutants.instances import GIVES
from tests.mutants.instances import wrong as wrongly_computed

MOST_POINTS = 4000
TRIED = 60
"""Variants of a scope that are looked at."""


class Falsehood(NamedTuple):
    """`before` and `after` differ; or `binding` is none of the stage `after`."""

    before: Scope
    after: Scope
    kind: str
    fields: tuple[tuple[str, Any], ...]
    operator: str = ""
    binding: Binding | None = None


def collect(seeds: int) -> tuple[Falsehood, ...]:
    """From the first `seeds` scopes of each rule, and from each operator's instances."""
    return (*dict.fromkeys(_steps(seeds)), *_bindings(max(1, seeds // 3)))


def _steps(seeds: int) -> Iterator[Falsehood]:
    judge = Judge()
    for rule in RULES:
        for seed in range(seeds):
            before = seeded(rule, seed)
            if points(before) <= MOST_POINTS:
                for witness in islice(rule.propose(before), 2):
                    yield from _around(judge, rule, before, witness)


def _around(judge: Judge, rule: Rule, before: Scope, witness: Any) -> Iterator[Falsehood]:
    try:
        after = kernel.apply(before, witness, exact=False)
    except RuleRefused:
        return
    if after is before or rule.laws:
        return
    data = tuple((item.name, getattr(witness, item.name)) for item in fields(witness))
    for wrong in _different(judge, before, after):
        yield Falsehood(before, wrong, type(witness).__name__, data)


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
        return all(bool((abs(left) < float("inf")).all()) for _, left, _ in values)


def _bindings(seeds: int) -> Iterator[Falsehood]:
    judge = Judge()
    for operator, scope in _instances(seeds):
        found = match(operator, scope)
        if isinstance(found, Binding) and points(scope) <= MOST_POINTS:
            for wrong in _different(judge, scope, scope):
                claimed = replace(found, scope=wrong)
                if wrong.domain == scope.domain and wrongly_computed(operator, claimed).startswith(
                    GIVES
                ):
                    yield Falsehood(scope, wrong, "", (), operator.name, claimed)
            if judge.difference(scope, _doubled(scope)) is not None:
                twice = replace(found, coefficient=2 * found.coefficient)
                yield Falsehood(scope, scope, "", (), operator.name, twice)


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


BY_NAME = {operator.name: operator for operator in OPERATORS}


def accepted(falsehood: Falsehood) -> str:
    """What the checker says of it that is wrong; nothing where it refuses."""
    try:
        if falsehood.binding is not None:
            operator = BY_NAME[falsehood.operator]
            reason = not_an_instance(falsehood.after, operator, falsehood.binding)
        else:
            witness = kernel.WITNESSES[falsehood.kind](**dict(falsehood.fields))
            reason = not_shown(falsehood.before, falsehood.after, witness)
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return "" if reason else f"accepts {falsehood.operator or falsehood.kind}"


def first_fault(questions: Sequence[Falsehood], order: Sequence[int]) -> tuple[int, str] | None:
    for number in order:
        shows = accepted(questions[number])
        if shows:
            return number, f"{shows}: {questions[number].before} and {questions[number].after}"
    return None
