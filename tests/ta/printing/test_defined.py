"""Scopes as text with definitions: of linear length, and read back as the same object."""

from __future__ import annotations

import pytest

from einderive.ta.errors import TextError
from einderive.ta.exact.interp import input_tensors
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from einderive.ta.printing.defined import MOST_BRACKETS, parse_defined, show_defined
from einderive.ta.printing.show import show
from einderive.ta.printing.written import nested_length, written
from einderive.ta.syntax.layout import nesting
from tests.amount import sampled
from tests.derivations.seeds import read

BODIES = {
    "doubling": "{p}[i]*{p}[i]+{p}[i]",
    "not growing": "2*{p}[i]+1",
    "with a function": "relu({p}[i]+1)+{p}[i]",
    "read outside": "{p}{{fill=-inf}}[i-1]+0*{p}[i]+exp({p}[i])",
    "reduced": "{p}[i]*sum[k]({p}[k])",
}


def chained(body: str, count: int) -> Scope:
    lines = [f"Y{n + 1}[i] = {body.format(p=f'Y{n}' if n else 'X')}" for n in range(count)]
    return parse("\n".join(lines), {"X": (10,)}).roots()[0]


@sampled(12)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 60, 300])
def test_the_text_reads_back_and_grows_linearly(name: str, count: int) -> None:
    scope = chained(BODIES[name], count)
    text = show_defined(scope)
    assert parse_defined(text, {t.name: t for t in input_tensors(scope)}) is scope
    assert len(text) < 120 * (count + 10) + 40 * 100
    assert nesting(text) <= MOST_BRACKETS


def test_short_scopes_are_one_line() -> None:
    scope = chained(BODIES["doubling"], 3)
    assert show_defined(scope) == show(scope)
    assert nested_length(scope) == 8
    assert written(scope.body).length == 2


def test_definitions_are_named_apart_from_tensors() -> None:
    lines = ["Y1[i] = X[i]*X[i]+T1[i]"]
    lines += [f"Y{n + 1}[i] = Y{n}[i]*Y{n}[i]+T1[i]*Y{n}[i]" for n in range(1, 9)]
    (scope,) = parse("\n".join(lines), {"X": (4,), "T1": (4,)}).roots()
    text = show_defined(scope)
    assert text.startswith("T2 = {")
    assert parse_defined(text, {t.name: t for t in input_tensors(scope)}) is scope


def test_loops_that_do_not_begin_at_0_keep_their_ranges() -> None:
    scope = read("{L[i:-3:4] {L[i:-3:4] X[i+3]^2}[i]*{L[i:-2:3] X[i+2]}[i]}", X=(7,))
    here = affine.iterator(0)
    for _ in range(7):
        at, beside = (expr.access(scope, [row]) for row in (here, affine.shift(here, -1)))
        scope = make_scope([(-3, 4)], (), expr.add(expr.mul(at, beside), at))
    text = show_defined(scope)
    assert text.count("\n") >= 7
    assert parse_defined(text, {t.name: t for t in input_tensors(scope)}) is scope


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("T1 {L[i:0:4] X[i]}\n{L[i:0:4] T1[i]}", "defines no scope"),
        ("X = {L[i:0:4] X[i]}\n{L[i:0:4] X[i]}", "already in use"),
        ("T1 = {L[i:0:4] X[i]}\nT1 = {L[i:0:4] X[i]}\n{L[i:0:4] T1[i]}", "already in use"),
        ("T1 = {L[i:0:4] T2[i]}\n{L[i:0:4] T1[i]}", "T2 has no shape"),
        ("T1 = {L[i:0:4] X[i]}\n{L[i:0:4] T1[i,i]}", "T1 is read with 2 indices"),
        ("T1 = {L[i:0:4] X[i]}[0]\n{L[i:0:4] T1[i]}", "no scope"),
    ],
)
def test_wrong_definitions_are_refused(text: str, message: str) -> None:
    scope = chained(BODIES["doubling"], 1)
    tensors = {t.name: t for t in input_tensors(scope)}
    with pytest.raises(TextError, match=message):
        parse_defined(text, tensors)
