"""Reads replaced by the bodies of what they read: only where these are what is read."""

from __future__ import annotations

import pytest

from einderive.derivations.checker import not_equal, unfolding
from einderive.derivations.checker.unfolding import MOST, same_by_definition
from einderive.derivations.checker.zeros import is_zero
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import nested_scopes, substitute, walk
from tests.amount import first
from tests.derivations.checker.identities import SHAPES
from tests.derivations.seeds import read

SIDE = 9
AT = affine.iterator(0)
START = expr.access(expr.tensor("A", (SIDE,)), [AT])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{L[i:0:9] {L[j:0:9] A[j] + 1}[i]*B[i]}", "{L[i:0:9] (A[i] + 1)*B[i]}"),
        ("{L[i:0:4] {L[j:2:9] A[j] + 1}[i+2]*B[i]}", "{L[i:0:4] (A[i+2] + 1)*B[i]}"),
        ("{L[i:0:9] {L[j:0:9] {L[j:0:9] -A[j]}[j] + 1}[i]*B[i]}",
         "{L[i:0:9] ({L[j:0:9] 1 - A[j]}[i])*B[i]}"),
        # beyond the border both are 0
        ("{L[i:0:9] {L[j:0:9] A[j] + A[j]*B[j]}[i+1]*B[i]}",
         "{L[i:0:9] (A[i+1] + A[i+1]*B[i+1])*B[i]}"),
        ("{L[i:0:9] {L[j:0:9] A[j]^2}[i-3]*B[i]}", "{L[i:0:9] A[i-3]^2*B[i]}"),
        # what is finite may cancel
        ("{L[i:0:9] {L[j:0:9] A[j] + B[j]}[i] - A[i]}", "{L[i:0:9] B[i]}"),
        # what is infinite may become a power
        ("{L[i:0:9] {L[j:0:9] A{fill=inf}[j-1]}[i]*A{fill=inf}[i-1]}",
         "{L[i:0:9] A{fill=inf}[i-1]^2}"),
        # one read stays, and another of the same stage is written out
        ("{L[i:0:9] {L[j:0:9] tanh(A[j])}[i]*{L[j:0:9] tanh(A[j])}[8-i]}",
         "{L[i:0:9] {L[j:0:9] tanh(A[j])}[i]*tanh(A[8-i])}"),
    ],
)  # fmt: skip
def test_what_is_read_is_written_out(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert one is not other
    assert same_by_definition(one, other)
    assert same_by_definition(other, one)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("{L[i:0:5] {L[j:0:4] A[j] + 1}[i]}", "{L[i:0:5] A[i] + 1}"),
        ("{L[i:0:9] {L[j:1:9] A[j] + 1}[i]}", "{L[i:0:9] A[i] + 1}"),
        # beyond the border the stage is 0, or its fill, and its body is not
        ("{L[i:0:9] {L[j:0:9] A[j] + 1}[i+1]}", "{L[i:0:9] A[i+1] + 1}"),
        ("{L[i:0:9] {L[j:0:9] A[j]*B[j]}{fill=1}[i+1]}", "{L[i:0:9] A[i+1]*B[i+1]}"),
        ("{L[i:0:9] {L[j:0:8] A[j]*B[j]}[i+1]}", "{L[i:0:9] A[i+1]*B[i+1]}"),
        ("{L[i:0:9] {L[j:1:9] A[j]*B[j]}[i-1]}", "{L[i:0:9] A[i-1]*B[i-1]}"),
        # what is infinite would be cancelled
        ("{L[i:0:4] B[i] + {L[j:0:4] A{fill=inf}[j-1]}[i] - A{fill=inf}[i-1]}", "{L[i:0:4] B[i]}"),
        # 1 and -2 would be multiplied by it one by one
        ("{L[i:0:9] inf*{L[j:0:9] A[j] + B[j]}[i]}", "{L[i:0:9] inf*A[i] + inf*B[i]}"),
        # there, its body is 0/0, or 0*inf
        ("{L[i:0:9] {L[j:0:9] A[j]/B[j]}[i+1]}", "{L[i:0:9] A[i+1]/B[i+1]}"),
        ("{L[i:0:9] {L[j:0:9] A[j]*B{fill=inf}[j]}[i+1]}", "{L[i:0:9] A[i+1]*B{fill=inf}[i+1]}"),
        ("{L[i:0:9] {L[j:0:9] A[j]*{L[k:0:9] 1/B[k-1]}[8-j]}[i+1]*B[i]}",
         "{L[i:0:9] A[i+1]*{L[k:0:9] 1/B[k-1]}[7-i]*B[i]}"),
        ("{L[i:0:9] {L[j:0:9] S[k:0:9] C[j,k]}[i]}", "{L[i:0:9] C[i,0]}"),
        ("{L[i:0:9] {L[j:0:9] max[k:0:9] C[j,k]}[i]}", "{L[i:0:9] {L[j:0:9] S[k:0:9] C[j,k]}[i]}"),
    ],
)  # fmt: skip
def test_what_is_read_elsewhere_or_reduced_is_not(left: str, right: str) -> None:
    one, other = read(left, **SHAPES), read(right, **SHAPES)
    assert not same_by_definition(one, other)
    assert not same_by_definition(other, one)


ONE_STAGE = "{L[j:0:9] A{fill=inf}[j-1]*{L[k:0:9] tanh(B[k])}[j]}[i]"
WRITTEN_OUT = "{L[j:0:9] A{fill=inf}[j-1]*tanh(B[j])}[i]"
INFINITE = "{L[j:0:9] A{fill=inf}[j-1]}[i]"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (f"B[i] + {ONE_STAGE} - {WRITTEN_OUT}", "B[i]"),
        (f"{ONE_STAGE} - 2*{WRITTEN_OUT}", f"-{WRITTEN_OUT}"),
        (f"B[i]*{INFINITE}*{{L[j:0:9] 1/A{{fill=inf}}[j-1]}}[i]", "B[i]"),
    ],
)
def test_what_is_infinite_does_not_cancel(left: str, right: str) -> None:
    """Two stages that become one would be subtracted from each other, or divided."""
    one, other = (read(f"{{L[i:0:9] {side}}}", **SHAPES) for side in (left, right))
    for before, after in ((one, other), (other, one)):
        assert not same_by_definition(before, after)
        assert not_equal(before, after) is not None


def test_what_is_read_as_one_stage_does_not_cancel() -> None:
    """Two stages of one side are one stage of the other, and infinite."""
    product, infinite = "{L[m:0:9] B[m]*A[m]}", "{{L[j:0:9] A{{fill=inf}}[j-1]*{}[j]}}"
    staged = infinite.format(f"{{L[k:0:9] tanh({{L[n:0:9] {product}[n] + 1}}[k])}}")
    partly = infinite.format(f"{{L[k:0:9] tanh({product}[k] + 1)}}")
    whole = infinite.format("{L[k:0:9] tanh(B[k]*A[k] + 1)}")
    one = read(f"{{L[i:0:9] maximum({staged}[i], {{L[j:0:9] B[j]}}[i])}}", **SHAPES)
    for other in (partly, whole):
        same = read(f"{{L[i:0:9] maximum({other}[i], {{L[j:0:9] B[j]}}[i])}}", **SHAPES)
        assert same_by_definition(one, same)
    none = f"{{L[j:0:9] B[j] + {partly}[j] - {whole}[j]}}"
    other = read(f"{{L[i:0:9] maximum({partly}[i], {none}[i])}}", **SHAPES)
    assert not same_by_definition(one, other)
    assert not same_by_definition(other, one)


def chain(count: int, *, without: int | None = None) -> Scope:
    """tanh of tanh of ..., a stage for each but the one that its reader writes out."""
    body: Node = START
    for number in range(count):
        body = expr.apply("tanh", body)
        if number not in (without, count - 1):
            body = expr.access(make_scope([(0, SIDE)], (), body), [AT])
    return make_scope([(0, SIDE)], (), body)


def written_out(count: int) -> Scope:
    body: Node = START
    for _ in range(count):
        body = expr.apply("tanh", body)
    return make_scope([(0, SIDE)], (), body)


def test_deep_expressions_stay_where_they_are() -> None:
    deep = MOST.depth
    assert same_by_definition(chain(deep), written_out(deep))
    assert not same_by_definition(chain(2 * deep), written_out(2 * deep))


def test_what_both_sides_hold_stays() -> None:
    long = 2 * MOST.depth
    for without in (0, MOST.depth // 2, MOST.depth, long - 2):
        assert same_by_definition(chain(long), chain(long, without=without))
        assert same_by_definition(chain(long, without=without), chain(long))


@pytest.mark.parametrize("length", first(3, (4, MOST.depth, 2 * MOST.depth, 8 * MOST.depth)))
def test_both_sides_are_written_out(length: int) -> None:
    """From some depth on in several stages."""
    one, other = chain(length, without=0), chain(length, without=2)
    assert one is not other
    assert same_by_definition(one, other)
    assert not same_by_definition(one, chain(length + 1))


def doubling(count: int) -> tuple[Scope, Scope]:
    """y[i] = x[i+1]*x[i] + x[i], so many times, in as many stages and in one: 3^count reads."""

    def longer(source: Scope | None) -> Node:
        reads = [
            expr.access(source or expr.tensor("A", (SIDE,)), [affine.shift(AT, by)])
            for by in (1, 0)
        ]
        return expr.add(expr.mul(*reads), reads[1])

    body = longer(None)
    staged = make_scope([(0, SIDE)], (), body)
    for _ in range(count - 1):
        staged = make_scope([(0, SIDE)], (), longer(staged))
        body = expr.add(expr.mul(substitute(body, [affine.shift(AT, 1)]), body), body)
    return staged, make_scope([(0, SIDE)], (), body)


def test_doubling_chains_with_borders_are_compared() -> None:
    staged, flat = doubling(20)
    assert not nested_scopes(flat)
    assert same_by_definition(staged, flat)
    assert not same_by_definition(staged, make_scope([(0, SIDE)], (), expr.mul(flat.body, START)))


def test_what_has_more_than_so_many_terms_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is not equal is refused in seconds, not in minutes."""
    staged, flat = doubling(12)
    read = len(walk(doubling(11)[1].body))
    monkeypatch.setattr(unfolding, "MOST_TERMS", read)
    assert same_by_definition(staged, flat)
    monkeypatch.setattr(unfolding, "MOST_TERMS", read - 1)
    assert not same_by_definition(staged, flat)


def in_fives(count: int, here: str) -> tuple[Scope, Scope]:
    """y[i] = tanh(x[i+1])*x[i], so many times.  Then the same, where what is read at i + 1 is
    written out over five stages, and what is read at i goes through `here`."""

    def stage(ahead: Node, read: Node) -> Scope:
        shifted = substitute(ahead, [affine.shift(AT, 1)])
        return make_scope([(0, SIDE)], (), expr.mul(expr.apply("tanh", shifted), read))

    plain, other = stage(START, START), stage(START, START)
    for number in range(1, count):
        read = expr.access(other, [AT])
        through = expr.apply(here, read) if here else read
        other = stage(other.body if number % 5 else read, through)
        plain = stage(expr.access(plain, [AT]), expr.access(plain, [AT]))
    return plain, other


def test_a_stage_is_kept_at_one_place_and_written_out_at_another() -> None:
    plain, grouped = in_fives(MOST.depth // 2 + 20, "")  # so often that not all is written out
    assert same_by_definition(plain, grouped)
    assert same_by_definition(grouped, plain)
    assert not same_by_definition(*in_fives(12, "relu"))


@pytest.mark.parametrize(
    ("body", "values", "zero"),
    [
        ("A[i]*B[j]", (9, 20), True),
        ("A[i]*B[j]", (-3, 0), True),
        ("A[i]*B[j]", (8, 20), False),
        ("A[i]*B[j]", (-3, 1), False),
        ("A[8-i]*B[j]", (9, 20), True),
        ("A[8-i]*B[j]", (8, 20), False),
        ("A[i+j]*B[j]", (9, 20), False),
        ("A[i] + B[j]", (9, 20), False),
        ("A[i] + A[i]*B[j]", (9, 20), True),
        ("A[i]^2", (9, 20), True),
        ("(A[i] + B[j])^2", (9, 20), False),
        ("exp(A[i])", (9, 20), False),
        ("A{fill=1}[i]", (9, 20), False),
        ("where(i < j, A[i], B[j]*A[i+1])", (9, 20), True),
        ("where(i < j, A[i], B[j])", (9, 20), False),
        ("where(i < j, B[j], A[i])", (9, 20), False),
        ("where(i < j, A[i], 0)", (9, 20), True),
        ("where(i < j, A[i], 2)", (9, 20), False),
    ],
)
def test_where_an_expression_is_zero(body: str, values: tuple[int, int], zero: bool) -> None:
    scope = read(f"{{L[i:-3:20,j:0:9] {body}}}", **SHAPES)
    assert is_zero(scope.body, 0, Range(*values)) == zero
