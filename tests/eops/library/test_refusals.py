"""Near misses: scopes that differ from an instance of an operator in one respect, and the reason
for which they are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from einderive.derivations.matching.match import MOST_OPERANDS, match
from einderive.eops.library import OPERATORS, by_name
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Scope, Select
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.instances import TABLE, instance
from tests.eops.operator_cases import RECOGNISED, scope_of

Shapes = Mapping[str, Sequence[int]]
Ranges = Mapping[str, tuple[int, int]]

A1: Shapes = {"A": (6,)}
A2: dict[str, Sequence[int]] = {"A": (4, 5)}
AB: Shapes = {"A": (6,), "B": (6,)}
WINDOW: Ranges = {"h": (0, 4), "r": (0, 3)}
CONVOLVED: Shapes = {"A": (2, 9), "K": (3, 2, 3)}
INFINITE = "an infinite factor cannot leave the sum"
PLAIN = "not at lone iterators"
DIFFERENCE = "not a product with a difference of two reads"
ROWS: Shapes = {"A": (4, 5), "B": (3, 5)}
SIGNAL: Shapes = {"A": (12,)}
BINS: dict[str, tuple[int, int]] = {"k": (0, 12)}
COS = "cos(2*pi*k*n/12)"
NO_WAVE = "no product of a read and a wave"
AT: dict[str, tuple[int, int]] = {"v": (0, 4)}
PLACED: Shapes = {"A": (5,), "I": (5,)}
NO_PLACE = "no equality with data says where"
TABLE_AT: Shapes = {"E": (6,), "I": (5,)}
NO_RANGES = "not between ranges of one loop"
NO_EXTREME = "not the first index of an extreme"
ARGMIN = "min[k](where(A[i,k] == min[m](A[i,m]) or isnan(A[i,k]), k, 2^53))"

NEAR: list[tuple[str, str, Shapes, Ranges, str]] = [
    ("view", "Y[i] = sum[k](A[i,k])", A2, {}, "the scope reduces"),
    ("view", "Y[i] = 2*A[i]", A1, {}, "not a single read"),
    ("view", "Y[i] = A[i//2]", A1, {"i": (0, 9)}, "index with //"),
    ("view", "Y[i] = A[i-1]", A1, {"i": (0, 6)}, "leaves its source"),
    ("view", "Y[i] = A[i]", A1, {"i": (0, 7)}, "leaves its source"),
    ("pad_slice", "Y[i] = A[i]", A1, {}, "it is a view"),
    ("pad_slice", "Y[i] = A[i+1]", A1, {"i": (0, 5)}, "it is a view"),
    ("pad_slice", "Y[i] = sum[k](A[i,k])", A2, {"i": (0, 7)}, "the scope reduces"),
    ("pad_slice", "Y[i] = 2*A[i]", A1, {"i": (0, 7)}, "not a single read"),
    ("pad_slice", "Y[i] = A[i//2]", A1, {"i": (0, 19)}, "index with //"),
    ("elementwise", "Y[i] = sum[k](A[i,k]*A[i,k])", A2, {}, "the scope reduces"),
    ("elementwise", "Y[i] = A[i]", A1, {}, "a view or a copy"),
    ("elementwise", "Y[i] = exp(A[i])*B[i+1]", AB, {"i": (0, 5)}, PLAIN),
    ("elementwise", "Y[i] = exp(A[i])*B[2*i]", AB, {"i": (0, 3)}, PLAIN),
    ("elementwise", "Y[i] = exp(A[i//2])", A1, {"i": (0, 8)}, PLAIN),
    ("elementwise", "Y[i] = exp(A[i,i])", A2, {"i": (0, 4)}, PLAIN),
    ("elementwise", "Y[i] = exp(A[i])", A1, {"i": (0, 7)}, PLAIN),
    ("elementwise", "Y[i] = exp(A[i])", A1, {"i": (-1, 5)}, PLAIN),
    ("elementwise", "Y[i,j] = exp(A[i+j])", A1, {"i": (0, 3), "j": (0, 3)}, PLAIN),
    ("reduction", "Y[i] = A[i]", A1, {}, "nothing is reduced"),
    ("reduction", "Y[i] = sum[k](A[i,k]*B[k])", A2 | {"B": (5,)}, {}, "not a single read"),
    ("reduction", "Y[i] = prod[k](2*A[i,k])", A2, {}, "factor cannot leave"),
    ("reduction", "Y[i] = sum[k](inf*A[i,k])", A2, {}, "factor cannot leave"),
    ("reduction", "Y[i] = max[k](-inf*A[i,k])", A2, {}, "factor cannot leave"),
    ("reduction", "Y[i] = sum[k](A[i+k])", A1, {"i": (0, 3), "k": (0, 3)}, PLAIN),
    ("reduction", "Y[i] = sum[k](A[i,k])", A2, {"k": (0, 6)}, PLAIN),
    ("reduction", "Y[] = sum[k](A[k,k])", A2, {"k": (0, 4)}, PLAIN),
    ("repaired", "Y[i,j] = (A[i]-B[j])^2", AB, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = A[i,k]*B[j,k]", ROWS, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = max[k]((A[i,k]-B[j,k])^2)", ROWS, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = sum[k](2*(A[i,k]-B[j,k]))", ROWS, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = sum[k]((A[i,k]-B[j,k])^-2)", ROWS, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = sum[k](exp(A[i,k])*(A[i,k]-B[j,k]))", ROWS, {}, DIFFERENCE),
    ("repaired", "Y[i,j] = (A[i,k]-B[j,k])^2", ROWS, {"k": (0, 7)}, PLAIN),
    ("max_pool1d", "Y[h] = A[h]", A1, {}, "0 windowed dimensions"),
    ("max_pool1d", "Y[h] = max[r](1e400*A[h+r])", A1, WINDOW, "cannot leave the maximum"),
    ("matmul", "Y[e,i] = A[i,k]*B[k]", A2 | {"B": (5,)}, {"e": (0, 2)}, "loop 0 is held"),
    ("matmul", "Y[i] = sum[k,l](A[i,k]*B[k,l])", A2 | {"B": (5, 3)}, {}, "reduction iterator 2 is"),
    ("matmul", "Y[i] = A[i,k]^3", A2, {}, "not a product of 2 reads"),
    ("matmul", "Y[i] = A[i,k]*A[i,k]*A[i,k]", A2, {}, "not a product of 2 reads"),
    ("matmul", "Y[i,j] = A[i]*B[j]", AB, {}, "elementwise product"),
    ("matmul", "Y[b] = A[b,k]*B[b,k]", {"A": (3, 4), "B": (3, 4)}, {}, "without m and n"),
    ("matmul", "Y[i,j] = inf*A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, {}, INFINITE),
    ("matmul", "Y[i,j] = -inf*A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, {}, INFINITE),
    ("matmul", "Y[i,j] = 1e400*A[i,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, {}, INFINITE),
    ("conv1d", "Y[f,h] = inf*A[c,h+r]*K[f,c,r]", CONVOLVED, {"h": (0, 7)}, INFINITE),
    ("conv1d", "Y[f,h] = -inf*A[c,h-r]*K[f,c,r]", CONVOLVED, {"h": (0, 7)}, INFINITE),
    ("conv1d", "Y[f,h] = 1e400*A[c,h+r]*K[f,c,r]", CONVOLVED, {"h": (0, 7)}, INFINITE),
    ("conv_transpose1d", "Y[f,h] = inf*A[c,i]*K[f,c,h-2*i]", CONVOLVED, {"h": (0, 7)}, INFINITE),
    ("conv_transpose1d", "Y[f,h] = 1e400*A[c,i]*K[f,c,h-i]", CONVOLVED, {"h": (0, 7)}, INFINITE),
    ("matmul", "Y[i,j] = A[i//2,k]*B[k,j]", {"A": (3, 4), "B": (4, 5)}, {"i": (0, 6)}, "with //"),
    ("matmul", "Y[i,j] = A[i,k]*B[k//2,j]", {"A": (3, 4), "B": (2, 5)}, {}, "with //"),
    (
        "conv1d",
        "Y[f,h] = A[c//2,h+r]*K[f,c,r]",
        {"A": (2, 9), "K": (2, 4, 3)},
        {"h": (0, 7)},
        "with //",
    ),
    (
        "conv1d",
        "Y[f,h] = A[c,h+r]*K[f,c//2,r]",
        {"A": (4, 9), "K": (2, 2, 3)},
        {"h": (0, 7)},
        "with //",
    ),
    (
        "conv1d",
        "Y[f,h] = A[c,h+r+c//2]*K[f,c,r]",
        {"A": (4, 9), "K": (2, 4, 3)},
        {"h": (0, 7)},
        "0 windowed dimensions",
    ),
    (
        "conv_transpose1d",
        "Y[n,f,h] = A[n,i,c]*K[f,c//2,h+1-2*i]",
        {"A": (2, 5, 4), "K": (4, 2, 4)},
        {"h": (0, 10)},
        "with //",
    ),
    (
        "conv_transpose1d",
        "Y[n,f,h] = A[n,i,c]*K[f,c,h+2*i]",
        {"A": (2, 3, 3), "K": (4, 3, 9)},
        {"h": (0, 5)},
        "plain convolution",
    ),
    (
        "conv_transpose1d",
        "Y[n,f,h] = A[n,i,c]*K[f,c,h+i]",
        {"A": (2, 3, 3), "K": (4, 3, 9)},
        {"h": (0, 5)},
        "plain convolution",
    ),
    (
        "conv_transpose1d",
        "Y[n,f,h] = A[n,i,c]*K[f,c,3*h-2*i+4]",
        {"A": (2, 3, 3), "K": (4, 3, 9)},
        {"h": (0, 5)},
        "strided",
    ),
    ("avg_pool1d", "Y[h] = sum[r](A[h+2*r])", A1, {"h": (0, 2), "r": (0, 3)}, "no dilation"),
    ("avg_pool1d", "Y[h] = sum[r](inf*A[h+r-1])", A1, WINDOW, INFINITE),
    ("avg_pool1d", "Y[h] = sum[r](-inf*A[h+r])", A1, WINDOW, INFINITE),
    ("avg_pool1d", "Y[h] = sum[r](1e400*A[h+r])", A1, WINDOW, INFINITE),
    ("avg_pool1d", "Y[h] = sum[r](A[h-2*r+4])", A1, {"h": (0, 2), "r": (0, 3)}, "no dilation"),
    (
        "avg_pool1d",
        "Y[b,h] = sum[r](A[b//2,h+r])",
        A2,
        {"b": (0, 8), "h": (0, 3), "r": (0, 3)},
        "//",
    ),
    (
        "max_pool1d",
        "Y[b,h] = max[r](A[b//2,h+r])",
        A2,
        {"b": (0, 8), "h": (0, 3), "r": (0, 3)},
        "//",
    ),
    ("max_pool1d", "Y[h] = max[r](-2*A[h+r])", A1, {"h": (0, 4), "r": (0, 3)}, "a negative factor"),
    ("max_pool1d", "Y[h] = max[r](inf*A[h+r])", A1, WINDOW, "an infinite factor"),
    ("max_pool1d", "Y[h] = max[r](-inf*A[h+r])", A1, WINDOW, "a negative factor"),
    ("max_pool1d", "Y[h] = max[r](1e400*A[h+r])", A1, WINDOW, "an infinite factor"),
    ("max_pool1d", "Y[h] = max[r](-A[h+r]/2)", A1, {"h": (0, 4), "r": (0, 3)}, "a negative factor"),
    ("gather", "Y[n] = sum[v](where(I[n] == v, E[v]^2, 0))", TABLE_AT, {}, "is not a read"),
    ("gather", "Y[n] = sum[v](where(I[n]^2 == v, E[v], 0))", TABLE_AT, {}, "is not a read"),
    ("fft_real", f"Y[k] = sum[n](A[n]*{COS})", SIGNAL, BINS | {"n": (1, 12)}, NO_WAVE),
    ("fft_real", f"Y[k] = sum[n](A[n]*{COS})", SIGNAL, BINS | {"n": (-1, 12)}, NO_WAVE),
    ("fft_real", f"Y[b,k] = sum[n](A[b]*{COS})", SIGNAL, BINS | {"n": (0, 12)}, NO_WAVE),
    ("fft_real", f"Y[k] = sum[n](exp(A[n])*A[n]*{COS})", SIGNAL, BINS, NO_WAVE),
    ("fft_real", f"Y[k] = sum[n](A[n]*A[11-n]*{COS})", SIGNAL, BINS, NO_WAVE),
    ("scatter", "Y[v] = max[n](where(I[n] == v, A[n], -inf))", PLACED, AT, NO_PLACE),
    (
        "scatter",
        "Y[v,a] = sum[n](where(I[n] == v, A[n], 0))",
        PLACED,
        AT | {"a": (0, 2)},
        "held by neither",
    ),
    (
        "scatter",
        "Y[u,v] = sum[n](where(I[n] == v, where(A[n] == u, A[n], 0), 0))",
        PLACED,
        AT | {"u": (0, 3)},
        NO_PLACE,
    ),
    ("bincount", "Y[v] = max[n](I[n] == v)", {"I": (5,)}, AT, "no sum of an equality"),
    (
        "bincount",
        "Y[v,a] = sum[n](I[n] == v)",
        {"I": (5,)},
        {"v": (0, 4), "a": (0, 2)},
        "held by neither",
    ),
    ("concat", "Y[i] = A[i]", A1, {}, "does not choose"),
    ("concat", "Y[i] = sum[k](where(i < 3, A[i,k], 2*A[i,k]))", A2, {}, "does not choose"),
    ("concat", "Y[i,j] = where(i < j, A[i], B[j])", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i < 3, A[i//2], B[i])", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i < 3, A[i], exp(B[i]))", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i < 3, exp(A[i]), B[i])", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i == 3, A[i], B[i])", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i//2 < 2, A[i], B[i])", AB, {}, NO_RANGES),
    ("concat", "Y[i] = where(i + i//2 < 5, A[i], B[i])", AB, {}, NO_RANGES),
    (
        "concat",
        "Y[i,j] = where(i < 3, A[i], where(j < 2, B[i], A[i]))",
        AB,
        {"j": (0, 4)},
        NO_RANGES,
    ),
    ("argmin", f"Y[i] = {ARGMIN}".replace("min", "max", 1), A2, {}, NO_EXTREME),
    ("argmin", f"Y[i] = {ARGMIN}".replace("k, 2^53", "2*k, 2^53"), A2, {}, NO_EXTREME),
    ("argmin", f"Y[i] = {ARGMIN}".replace(" or isnan(A[i,k])", ""), A2, {}, NO_EXTREME),
    ("argmin", "Y[i] = argmax[k](A[i,k])", A2, {}, NO_EXTREME),
    ("argmin", "Y[i] = argmin[k](exp(A[i,k]))", A2, {}, NO_EXTREME),
    ("argmin", "Y[i] = min[k](k*A[i,0])", A2, {"k": (0, 4)}, NO_EXTREME),
    ("argmin", "Y[i] = min[k](where(k < 2*i, A[i,0], 3))", A2, {"k": (0, 4)}, NO_EXTREME),
    ("argmin", "Y[i] = argmin[k](A[i,k])", A2, {"i": (0, 0)}, "an empty range"),
    ("argmin", "Y[i,k] = where(A[i,k] == 1 or isnan(A[i,k]), k, 2^53)", A2, {}, NO_EXTREME),
    ("argmin", "Y[i] = 2", {}, {"i": (0, 4)}, NO_EXTREME),
    ("argmin", "Y[i] = argmin[k](A[i,k])", A2, {"k": (1, 5)}, PLAIN),
    ("argmin", "Y[i] = argmin[k](A[i,k+1])", A2, {"k": (0, 4)}, PLAIN),
    ("argmin", "Y[i] = argmin[k](A[i,k//2])", A2, {"k": (0, 10)}, PLAIN),
]


def parsed(text: str, shapes: Shapes, ranges: Ranges) -> Scope:
    return scope_of((text, shapes, ranges))


@sampled(2)
@pytest.mark.parametrize(("name", "text", "shapes", "ranges", "reason"), NEAR)
def test_near_misses(name: str, text: str, shapes: Shapes, ranges: Ranges, reason: str) -> None:
    found = match(by_name(name), parsed(text, shapes, ranges))
    assert isinstance(found, tuple), found
    assert any(reason in mismatch.detail for mismatch in found), found


INSTANCES = [(o.name, instance(o, 0)) for o in TABLE]
INSTANCES += [(name, scope_of(cases[0])) for name, cases in RECOGNISED.items()]


@pytest.mark.parametrize(
    ("name", "scope"), INSTANCES, ids=lambda p: p if isinstance(p, str) else ""
)
def test_no_operator_binds_an_empty_scope(name: str, scope: Scope) -> None:
    assert isinstance(match(by_name(name), scope), Binding)
    first = len(scope.loops)
    for place, side in enumerate(scope.domain):
        domain = [*scope.domain[:place], Range(side.lo, side.lo), *scope.domain[place + 1 :]]
        empty = make_scope(domain[:first], domain[first:], scope.body, scope.reducer)
        for operator in OPERATORS:
            assert not isinstance(match(operator, empty), Binding), operator.name


def test_the_operators_of_these_tests_are_all() -> None:
    (root,) = parse("Y[i] = A[i]", {"A": (3,)}).roots()
    assert {name for name, _ in INSTANCES} == {operator.name for operator in OPERATORS}
    assert match(by_name("view"), root)


def test_parts_without_an_element_do_not_count() -> None:
    text = "Y[i,j] = where(j < 3, A[j,i], where(j < 2, exp(B[i]), B[i]))"
    found = match(by_name("concat"), parsed(text, {"A": (5, 4), "B": (4,)}, {"j": (0, 5)}))
    assert isinstance(found, Binding)
    assert found.roles == {"b": (0,), "i": (1,)}
    assert len(found.operands) == 2


def test_a_choice_by_two_conditions_is_no_concatenation() -> None:
    one = parsed("Y[i] = where(i >= 2, A[i], B[i])", AB, {}).body
    assert isinstance(one, Select)
    below = Condition(">=", affine.shift(affine.scale(affine.iterator(0), -1), 4))
    both = expr.select([*one.conditions, below], one.then, one.otherwise)
    found = match(by_name("concat"), make_scope([(0, 6)], (), both))
    assert not isinstance(found, Binding)


def product(count: int) -> tuple[Operator, Scope]:
    """An operator, and an instance, that multiplies this many reads."""
    names = "ABCDE"[:count]
    definition = "Y[b] = " + "*".join(f"{name}[b,k]" for name in names)
    text = "Y[i] = " + "*".join(f"{name}[i,j]" for name in names)
    known = by_name("matmul")
    made = Operator("product", definition, work=known.work, launch=known.launch)
    return made, scope_of((text, dict.fromkeys(names, (2, 3)), {}))


def test_products_of_more_reads_than_the_limit_are_not_matched() -> None:
    assert isinstance(match(*product(MOST_OPERANDS)), Binding)
    assert not isinstance(match(*product(MOST_OPERANDS + 1)), Binding)


def test_integers_are_not_repaired() -> None:
    text = "Y[i,j] = (A[i,k]-B[j,k])^2"
    for dtype, bound in (("float64", True), ("int64", False)):
        (scope,) = parse(text, ROWS, {"A": "float64", "B": dtype}).roots()
        assert isinstance(match(by_name("repaired"), scope), Binding) is bound
