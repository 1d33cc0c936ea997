"""Spans of whole numbers beside all values that they may hold, and what is counted in 32 bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, product
from math import inf, prod
from typing import Any

import pytest
import torch

from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.bodies import Reduction
from einderive.eops.loops.drafts.draft import drafted, merged
from einderive.eops.loops.drafts.kinds import alike
from einderive.eops.loops.drafts.narrow import (
    EXACT,
    GREATEST,
    LEAST,
    NARROW,
    NOWHERE,
    Span,
    _of_constant,
    _of_operation,
    _of_total,
    narrowed,
)
from einderive.eops.loops.drafts.values import Operation
from tests.eops.loops.programs import grouped

SPANS = [Span(low, high) for low in range(-3, 3) for high in range(low, 4)]
JOINED: dict[str, Callable[[Sequence[int]], int]] = {
    "+": sum,
    "*": prod,
    "maximum": max,
    "minimum": min,
}


def values(span: Span) -> range:
    return range(span.low, span.high + 1)


@pytest.mark.parametrize("word", JOINED)
def test_the_span_of_an_operation_is_that_of_its_values(word: str) -> None:
    some = SPANS[::2]
    for spans in [*product(SPANS, SPANS), *product(some[::2], some[::3], some[::2])]:
        found = [JOINED[word](each) for each in product(*map(values, spans))]
        assert _of_operation(word, spans) == Span(min(found), max(found))


@pytest.mark.parametrize("span", SPANS)
def test_the_span_of_a_function(span: Span) -> None:
    below, above = span.low, span.high
    assert _of_operation("abs", [span]) == Span(0, max(abs(below), abs(above)))
    assert _of_operation("relu", [span]) == Span(0, max(0, above))
    assert _of_operation("sign", [span]) == Span(-1, 1)
    assert _of_operation("floor", [span]) == span
    assert _of_operation("exp", [span]) is None


@pytest.mark.parametrize("span", SPANS)
def test_the_span_of_a_total_holds_all_parts_of_it(span: Span) -> None:
    def total(reducer: str, far: Any = None) -> Span | None:
        return _of_total(Reduction(reducer, 0, "int64", (0,)), span._replace(far=far), 3)

    parts = [part for terms in product(values(span), repeat=3) for part in accumulate(terms)]
    assert total("sum") == Span(min(0, *parts), max(0, *parts))
    assert total("max") == total("min") == span
    assert total("prod") == (Span(-1, 1) if span.low >= -1 and span.high <= 1 else None)
    assert total("sum", 2**40) is total("prod", 2**40) is None
    assert (total("max", 2**40), total("min", -(2**40))) == (None, None)
    assert total("min", 2**40) == span._replace(far=2**40)
    assert total("max", -(2**40)) == span._replace(far=-(2**40))


def test_what_fits() -> None:
    assert Span(LEAST, GREATEST).fits
    assert not Span(LEAST - 1, 0).fits
    assert not Span(0, GREATEST + 1).fits
    assert Span(LEAST + 1, GREATEST - 1, inf).fits  # its mark is no other value
    assert not Span(LEAST, 0, -inf).fits
    assert not Span(0, GREATEST, inf).fits
    assert (Span(0, 1, inf).mark, Span(0, 1, -inf).mark) == (GREATEST, LEAST)


def test_constants() -> None:
    assert _of_constant(Fraction(1, 2)) is None
    assert _of_constant(Fraction(GREATEST)) == Span(GREATEST, GREATEST)
    assert _of_constant(Fraction(LEAST)) == Span(LEAST, LEAST)
    for far in (Fraction(GREATEST + 1), Fraction(LEAST - 1), inf, -inf):
        assert _of_constant(far) == Span(*NOWHERE, far)


def test_united_spans() -> None:
    assert Span(1, 2).united(Span(-5, 1)) == Span(-5, 2)
    assert Span(1, 2).united(Span(*NOWHERE, inf)) == Span(1, 2, inf)
    assert Span(1, 2, inf).united(Span(0, 1, inf)) == Span(0, 2, inf)
    assert Span(1, 2, inf).united(Span(0, 1, -inf)) is None


@pytest.mark.parametrize(
    ("term", "steps", "narrow"),
    [
        ("where(X[i,j] > 2, 1, 0)", 1000, True),
        ("where(X[i,j] > 2, 2147483, 0)", 1000, True),
        ("where(X[i,j] > 2, 2147484, 0)", 1000, False),
        ("where(X[i,j] > 2, 0, -2147484)", 1000, False),
        ("where(X[i,j] > 2, 1/2, 0)", 1000, False),
        ("(X[i,j] > 2)", 1000, True),
        ("where(X[i,j] > 2, j, 0)", 1000, True),
        ("where(X[i,j] > 2, j, 0)", 100_000, False),
        ("where(X[i,j] > 2, I[i,j], 0)", 65535, True),  # up to 2^15 each
        ("where(X[i,j] > 2, I[i,j], 0)", 65537, False),
        ("where(j > i, I[i,j], 3)", 1000, True),
        ("X[i,j]", 1000, False),
    ],
)
def test_what_is_counted_in_32_bits(term: str, steps: int, narrow: bool) -> None:
    shapes = {name: (3, steps) for name in ("X", "I") if f"{name}[" in term}
    group = grouped(f"N[i] = sum[j]({term})", shapes)
    operands = tuple("int16" if one.label == "I" else "float32" for one in group.operands)
    typing = replace(alike(group, "float32"), operands=operands)
    draft = drafted(group, dense(group), typing)
    assert draft is not None
    (made,) = narrowed(merged(draft)).reductions
    assert (made.kind == NARROW) == narrow


@pytest.mark.parametrize(("shift", "narrow"), [(0, True), (EXACT - 99, True), (EXACT - 98, False)])
def test_positions_in_float32_are_exact(shift: int, narrow: bool) -> None:
    text = f"K[i] = min[j](where(X[i,j] > 2, j + {shift}, 2^53))"
    group = grouped(text, {"X": (3, 100)})
    draft = drafted(group, dense(group), alike(group, "float32"))
    assert draft is not None
    (made,) = narrowed(merged(draft)).reductions
    assert (made.kind == NARROW) == narrow


@pytest.mark.parametrize(
    ("whole", "narrow"), [("512*I[i,j]", True), ("512*I[i,j] - 1", False), ("513*I[i,j]", False)]
)
def test_whole_numbers_as_float32_are_exact(whole: str, narrow: bool) -> None:
    """I holds what 16 bits do: -512*2^15 is -2^24, which float32 holds."""
    group = grouped(f"M[i] = max[j]({whole})", {"I": (3, 100)})
    typing = typing_of(group, [torch.int16])
    assert typing is not None
    draft = drafted(group, dense(group), typing)
    assert draft is not None
    (made,) = draft.reductions
    *terms, total = draft.values
    values = (*terms, Operation("float32", (made.value,), "float32"), total)
    made = replace(made, value=len(terms), kind="float32")
    outputs = tuple(replace(out, value=len(terms) + 1) for out in draft.outputs)
    draft = replace(draft, values=values, reductions=(made,), outputs=outputs)
    (found,) = narrowed(draft).reductions
    assert (found.kind == NARROW) == narrow


def test_operands_of_arithmetic_have_its_kind() -> None:
    text = "N[i] = sum[k](where(X[i,k] > 2, 1, 0)); Y[i,j] = X[i,j]*N[i] + i*j"
    group = grouped(text, {"X": (3, 100)})
    draft = drafted(group, dense(group), alike(group, "float32"))
    assert draft is not None
    found = narrowed(draft)
    assert NARROW in {one.kind for one in found.values}
    arithmetic = [v for v in found.values if isinstance(v, Operation) and v.word in ("+", "*")]
    assert len(arithmetic) >= 2
    for value in arithmetic:
        assert {found.values[arg].kind for arg in value.args} == {value.kind}
