"""Random programs have all that the notation has, and equal seeds give equal programs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from einderive.derivations.rules import RULES
from einderive.ta.exact.interp import input_tensors
from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.scattered import scattered
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Apply, Const, Mul, Power, Scope, Select, Tensor
from einderive.ta.ir.subst import stages, walk
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.show import show, tensors_of
from tests.amount import sampled
from tests.derivations.seeds import points
from tests.fuzz.explore import difference
from tests.fuzz.generator import BINARY, MOST_POINTS, UNARY, program
from tests.fuzz.judge import Judge
from tests.fuzz.typed import DIGITS, PARTS, typed_program
from tests.strategies import programs

PROGRAMS = 500


def features(roots: tuple[Scope, ...]) -> Iterator[str]:
    all_stages = stages(*roots)
    if len(roots) > 1:
        yield "two outputs"
    if len(all_stages) > 2:
        yield "several statements"
    for stage in all_stages:
        if stage.sums:
            yield stage.reducer
        for lo, hi in stage.domain:
            yield "empty range" if lo == hi else "size 1" if hi - lo == 1 else "range"
            if lo < 0:
                yield "negative start"
        reads = [node for node in walk(stage.body) if isinstance(node, Access)]
        read_tensors = Counter(a.source for a in reads if isinstance(a.source, Tensor))
        if read_tensors and max(read_tensors.values()) > 1:
            yield "repeated tensor"
        for node in walk(stage.body):
            if isinstance(node, Apply):
                yield node.function
            elif isinstance(node, Select):
                yield "mask"
            elif isinstance(node, Power):
                yield "power" if node.exponent > 0 else f"power {node.exponent}"
            elif isinstance(node, Const) and isinstance(node.value, float):
                yield "infinite number"
            if isinstance(node, Select) and isinstance(node.then, Mul) and stage.reducer == "sum":
                yield "masked product in a sum" if stage.sums else "masked product"
        if one_term(stage):
            yield "gather"
        if scattered(stage):
            yield "scatter"
        selects = [node for node in walk(stage.body) if isinstance(node, Select)]
        if any(
            isinstance(inner, Select)
            for node in selects
            for inner in walk(node.then)
            if inner is not node
        ):
            yield "mask within a mask"
        for access in reads:
            if access.fill:
                yield "infinite fill" if math.isinf(access.fill) else "fill"
                if math.isinf(access.fill) and stage.sums:
                    yield f"infinite fill, {stage.reducer}"
            for row, bound in zip(access.rows, access.source.ranges, strict=True):
                if row.floors:
                    yield "div or mod"
                if any(abs(a) > 1 for _, a in row.terms):
                    yield "stride"
                if len(row.terms) > 1:
                    yield "window"
                if not stage.empty:
                    low, high = affine.bounds(row, stage.domain)
                    if low < bound.lo or high >= bound.hi:
                        yield "padding"


@pytest.fixture(scope="module")
def drawn() -> list[tuple[Scope, ...]]:
    return [program(Random(seed)) for seed in range(PROGRAMS)]


def test_programs_have_every_feature(drawn: list[tuple[Scope, ...]]) -> None:
    found = Counter(feature for roots in drawn for feature in set(features(roots)))
    wanted = {*REDUCERS, "two outputs", "several statements", "empty range", "size 1", "fill"}
    wanted |= {"negative start", "repeated tensor", "mask", "power", "infinite fill"}
    wanted |= {"power -1", "power -2", "power -3", "infinite number", "mask within a mask"}
    wanted |= {"infinite fill, sum", "infinite fill, max"}
    wanted |= {"masked product in a sum", "gather", "scatter", "floor_divide", "remainder"}
    wanted |= {"div or mod", "stride", "window", "padding", "relu", "exp", "maximum", "abs"}
    assert {feature: found[feature] for feature in wanted if found[feature] < PROGRAMS // 100} == {}


def test_programs_have_every_function() -> None:
    missing = {*UNARY, *BINARY}
    for seed in range(4 * PROGRAMS):
        missing -= {
            node.function
            for stage in stages(*program(Random(seed)))
            for node in walk(stage.body)
            if isinstance(node, Apply)
        }
    assert not missing


def test_equal_seeds_give_equal_programs(drawn: list[tuple[Scope, ...]]) -> None:
    again = [program(Random(seed)) for seed in range(50)]
    assert again == drawn[:50]
    assert len(set(drawn)) > 0.95 * PROGRAMS


def test_programs_are_small(drawn: list[tuple[Scope, ...]]) -> None:
    for roots in drawn[:150]:
        assert sum(map(points, roots)) <= MOST_POINTS


def test_a_name_stands_for_one_tensor(drawn: list[tuple[Scope, ...]]) -> None:
    for roots in drawn:
        names = [tensor.name for tensor in input_tensors(*roots)]
        assert len(names) == len(set(names))


def test_typed_programs_have_every_word_of_digits_and_parts() -> None:
    made = [typed_program(Random(f"typed {seed}")) for seed in range(PROGRAMS // 2)]
    every = [node for roots in made for stage in stages(*roots) for node in walk(stage.body)]
    found = Counter(node.function for node in every if isinstance(node, Apply))
    assert not [name for name in (*DIGITS, *PARTS, "1j", "abs") if found[name] < 3]


@sampled(80)
@pytest.mark.parametrize("seed", range(0, 2400, 20))
def test_all_stages_read_back_from_both_forms(seed: int) -> None:
    for each in range(seed, seed + 20):
        _read_back(program(Random(each)))
        _read_back(typed_program(Random(f"typed {each}")))


def _read_back(roots: tuple[Scope, ...]) -> None:
    for stage in stages(*roots):
        for unicode in (False, True):
            text = show(stage, unicode=unicode)
            assert parse_expression(text, tensors_of(stage)) is stage, text


@given(roots=programs())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_steps_on_programs_that_hypothesis_draws_hold(roots: tuple[Scope, ...]) -> None:
    judge = Judge()
    for scope in stages(*roots):
        for rule in RULES:
            for step in rule.steps(scope):
                laws = (*rule.laws, *rule.proved)
                assert difference(judge, scope, step.after, laws) == "", (rule.name, show(scope))
