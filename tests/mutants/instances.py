"""Scopes, and which known operators they are instances of.

A binding has to compute what its scope says: the call is made on random numbers and compared with
the interpreter.  Matching many operators at once has to say of each what matching it alone says.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

import numpy as np
import torch

from einderive.derivations.matching.match import distance, match
from einderive.derivations.matching.matcher import Matcher
from einderive.derivations.rules import RULES
from einderive.eops.library import OPERATORS
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.ir.subst import stages
from tests.derivations.seeds import mutate, points, seeded
from tests.eops.instances import TABLE, instance
from tests.eops.operator_cases import RECOGNISED, scope_of
from tests.fuzz.generator import program

MOST_POINTS = 4000
TOLERANCE = 1e-7
GIVES = "the call gives"


class Question(NamedTuple):
    """A scope; `known` are its bindings by the operators' names, as they are without a mutant."""

    scope: Scope
    known: dict[str, Binding]


class Pool(NamedTuple):
    questions: tuple[Question, ...]
    faults: tuple[str, ...]


def collect(seeds: int) -> Pool:
    """Questions from the first `seeds` variations of every operator's and every rule's examples."""
    questions, faults = list[Question](), list[str]()
    for scope in dict.fromkeys(_scopes(seeds)):
        empty = Question(scope, {})
        shows = fault(empty, Matcher(OPERATORS))
        if shows:
            faults.append(f"{scope}: {shows}")
        found = {operator.name: match(operator, scope) for operator in OPERATORS}
        known = {name: one for name, one in found.items() if isinstance(one, Binding)}
        questions.append(Question(scope, known))
    return Pool(tuple(questions), tuple(faults))


def _scopes(seeds: int) -> Iterator[Scope]:
    for operator in TABLE:
        for seed in range(seeds // 2):
            yield (start := instance(operator, seed))
            yield mutate(start, Random(f"{operator.name} {seed}"))
    for name, cases in RECOGNISED.items():
        for number, case in enumerate(cases):
            yield (start := scope_of(case))
            for seed in range(seeds):
                yield mutate(start, Random(f"{name} {number} {seed}"))
            yield from _emptied(start)
    for rule in RULES:
        for seed in range(max(1, seeds // 8)):
            yield from stages(seeded(rule, seed))
    for seed in range(seeds * 2):
        yield from stages(*program(Random(f"instances {seed}")))


def _emptied(scope: Scope) -> Iterator[Scope]:
    """The scope with each range in turn made empty."""
    first = len(scope.loops)
    for place, side in enumerate(scope.domain):
        domain = [*scope.domain[:place], Range(side.lo, side.lo), *scope.domain[place + 1 :]]
        yield make_scope(domain[:first], domain[first:], scope.body, scope.reducer)


def fault(question: Question, matcher: Matcher) -> str:
    """What is wrong with the answers; nothing where they hold."""
    scope = question.scope
    alone: list[tuple[Operator, Any]] = []
    for operator in OPERATORS:
        try:
            found = match(operator, scope)
        except Exception as error:
            return f"{operator.name} raises {type(error).__name__}: {error}"
        alone.append((operator, found))
        if isinstance(found, Binding) and found != question.known.get(operator.name):
            shows = wrong(operator, found)
            if shows:
                return f"{operator.name}: {shows}"
    together = matcher.matches(scope)
    far = [distance(found) for _, found in alone]
    if together.bindings != tuple((o, found) for o, found in alone if isinstance(found, Binding)):
        return "the operators together have other bindings than each alone"
    if together.distance != min(far) or together.nearest != alone[far.index(min(far))][0].name:
        return "the operators together have another distance than each alone"
    return ""


def wrong(operator: Operator, binding: Binding) -> str:
    """How the call differs from the scope, nothing where it agrees."""
    if points(binding.scope) > MOST_POINTS or binding.scope.size == 0:
        return ""
    values, expected = _expected(binding.scope)
    try:
        result = operator.launch(binding)(values).numpy()
    except Exception as error:
        return f"the call raises {type(error).__name__}: {error}"
    if result.shape != expected.shape:
        return f"{GIVES} {result.shape}, not {expected.shape}"
    with np.errstate(all="ignore"):
        close = np.isclose(result, expected, rtol=TOLERANCE, atol=TOLERANCE)
    different = ~close & ~np.isnan(expected)
    return (
        f"{GIVES} {result[different][0]}, not {expected[different][0]}" if different.any() else ""
    )


@lru_cache(maxsize=256)
def _expected(scope: Scope) -> tuple[dict[Any, torch.Tensor], np.ndarray[Any, Any]]:
    """Buffers for the tensors and stages that the scope may read, and its value."""
    generator = np.random.default_rng(0)
    tensors = input_tensors(scope)
    data = {tensor.name: generator.standard_normal(tensor.shape) for tensor in tensors}
    buffers: dict[Any, torch.Tensor] = {t: torch.from_numpy(data[t.name]) for t in tensors}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for stage in stages(scope):
            value = np.asarray(evaluate(stage, data, RealField()), dtype=np.float64)
            buffers[stage] = torch.from_numpy(value.copy())
    return buffers, buffers.pop(scope).numpy()


def first_fault(questions: Sequence[Question], order: Sequence[int]) -> tuple[int, str] | None:
    matcher = Matcher(OPERATORS)
    for number in order:
        shows = fault(questions[number], matcher)
        if shows:
            return number, shows
    return None
