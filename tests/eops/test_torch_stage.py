"""Stages on torch tensors against the interpreter, in float64."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings

from eops import torch_contract, torch_taps
from eops.digits import split_digits
from eops.torch_stage import direct, lower
from ta import expr, interp
from ta.affine import Range, Row, add, floordiv, iterator, modulo, scale, shift
from ta.canon import scope
from ta.expr import access, apply, const, power, select
from ta.fields import RealField
from ta.node import Access, Condition, Node, Number, Scope, Tensor
from tests.strategies import Grammar, scopes

x = [iterator(i) for i in range(9)]


def read(
    name: str, shape: Sequence[int], *rows: Row, fill: Number = Fraction(0), dtype: str = "float64"
) -> Access:
    return access(expr.tensor(name, shape, dtype), rows, fill)


def loops(*extents: int) -> list[Range]:
    return [Range(0, extent) for extent in extents]


def sub(row: Row, other: Row) -> Row:
    return add(row, other, -1)


def mul(*factors: Node) -> Node:
    return expr.mul(*factors)


def random_inputs(root: Scope, seed: int = 0) -> dict[Tensor, torch.Tensor]:
    """Data between NaN guards: an access that leaves its buffer reads a NaN."""
    generator = torch.Generator().manual_seed(seed)
    inputs = {}
    for tensor in interp.input_tensors(root):
        guarded = torch.full([n + 2 for n in tensor.shape], torch.nan, dtype=torch.float64)
        inner = guarded[tuple(slice(1, n + 1) for n in tensor.shape)]
        inner.copy_(torch.rand(tensor.shape, generator=generator, dtype=torch.float64) + 0.5)
        inputs[tensor] = inner
    return inputs


def check(root: Scope, tolerance: float = 1e-12) -> torch.Tensor:
    inputs = random_inputs(root)
    result = direct(root, inputs)
    values = {tensor.name: data.numpy() for tensor, data in inputs.items()}
    expected = interp.evaluate(root, values, RealField())
    assert tuple(result.shape) == root.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=tolerance, atol=tolerance)
    return result


def convolution(dilation: int = 1, stride: int = 1, channels: int = 3) -> Scope:
    def at(loop: Row, tap: Row) -> Row:
        return shift(add(scale(loop, stride), scale(tap, dilation)), -dilation)

    a = read("A", (2, channels, 8, 7), x[0], x[4], at(x[2], x[5]), at(x[3], x[6]))
    k = read("K", (4, channels, 3, 3), x[1], x[4], x[5], x[6])
    return scope(loops(2, 4, 8 // stride, 7 // stride), loops(channels, 3, 3), mul(a, k))


def transposed_convolution() -> Scope:
    a = read("A", (2, 3, 3, 4), x[0], x[4], x[5], x[6])
    rows = [shift(sub(x[1 + d], scale(x[4 + d], 2)), 1) for d in (0, 1)]
    k = read("K", (4, 4, 5, 4), *rows, x[3], x[6])
    return scope(loops(2, 6, 6, 5), loops(3, 3, 4), mul(a, k))


def band_blocks(b: int, p: int, u: int, v: int, half: int, k: int, dtype: str = "float64") -> Scope:
    """L[b,p,u,v,t] S[k] A[b,p+d*(v+V*u),k] * B[b,p+d*(V*u+t-W),k]"""
    m = p * u * v
    left = add(x[1], scale(add(scale(x[2], v), x[3]), p))
    right = add(x[1], scale(shift(add(scale(x[2], v), x[4]), -half), p))
    a = read("A", (b, m, k), x[0], left, x[5], dtype=dtype)
    c = read("B", (b, m, k), x[0], right, x[5], dtype=dtype)
    return scope(loops(b, p, u, v, v + 2 * half), loops(k), mul(a, c))


def band(b: int, p: int, u: int, v: int, half: int, k: int, dtype: str = "float64") -> Scope:
    blocks = band_blocks(b, p, u, v, half, k, dtype)
    inner = modulo(floordiv(x[1], p), v)
    rows = [x[0], modulo(x[1], p), floordiv(x[1], p * v), inner, add(inner, x[2])]
    return scope(loops(b, p * u * v, 2 * half + 1), [], access(blocks, rows))


def squared_distances() -> Scope:
    difference = expr.subtract(read("A", (6, 5), x[0], x[2]), read("B", (7, 5), x[1], x[2]))
    return scope(loops(6, 7), loops(5), power(difference, 2))


def low_rank() -> Scope:
    """Y[t,o] = X[t,i] * (W[o,i] + S[r] B[o,r]*A[r,i])"""
    update = scope(
        loops(5, 6), loops(2), mul(read("B", (5, 2), x[0], x[2]), read("A", (2, 6), x[2], x[1]))
    )
    weights = expr.add(read("W", (5, 6), x[1], x[2]), access(update, [x[1], x[2]]))
    return scope(loops(4, 5), loops(6), mul(read("X", (4, 6), x[0], x[2]), weights))


def softmax() -> Scope:
    scores = select([Condition(">=", sub(x[0], x[1]))], read("A", (6, 6), x[0], x[1]), const(-inf))
    s = scope(loops(6, 6), [], scores)
    top = scope(loops(6), loops(6), access(s, [x[0], x[1]]), "max")
    shifted = expr.subtract(access(s, [x[0], x[1]]), access(top, [x[0]]))
    e = scope(loops(6, 6), [], apply("exp", shifted))
    total = scope(loops(6), loops(6), access(e, [x[0], x[1]]))
    weights = expr.divide(access(e, [x[0], x[2]]), access(total, [x[0]]))
    return scope(loops(6, 3), loops(6), mul(weights, read("V", (6, 3), x[2], x[1])))


def pooling(reducer: str, fill: Number) -> Scope:
    rows = [x[0], *(shift(add(scale(x[d], 2), x[d + 2]), -1) for d in (1, 2))]
    body = read("A", (3, 9, 9), *rows, fill=fill)
    return scope(loops(3, 5, 5), loops(3, 3), body, "max" if reducer == "max" else "sum")


def offset_add() -> Scope:
    rows = [x[0], shift(add(x[1], x[4]), -1), shift(add(x[2], x[5]), -1), x[4], x[5], x[3]]
    return scope(loops(2, 5, 6, 7), loops(3, 3), read("T", (2, 5, 6, 3, 3, 7), *rows))


def depthwise() -> Scope:
    a = read("A", (3, 8, 8), x[0], shift(add(x[1], x[3]), -1), shift(add(x[2], x[4]), -2))
    k = read("K", (3, 3, 4), x[0], x[3], x[4])
    return scope(loops(3, 8, 8), loops(3, 4), mul(const(Fraction(1, 3)), a, k))


A = read("A", (6, 5), x[0], x[1])
SCOPES = {
    "convolution": convolution(),
    "strided convolution": convolution(stride=2),
    "dilated convolution": convolution(dilation=2),
    "one channel": convolution(channels=1),
    "transposed convolution": transposed_convolution(),
    "band by phases": band(2, 2, 3, 4, 3, 5),
    "squared distances": squared_distances(),
    "low rank": low_rank(),
    "causal softmax": softmax(),
    "max pooling": pooling("max", -inf),
    "max pooling over zeros": pooling("max", Fraction(0)),
    "sum pooling": pooling("sum", Fraction(0)),
    "sum pooling over ones": pooling("sum", Fraction(1)),
    "offset add": offset_add(),
    "depthwise": depthwise(),
    "box filter": scope(
        loops(2, 8, 9),
        loops(5, 5),
        mul(
            const(Fraction(1, 25)),
            read("A", (2, 8, 9), x[0], shift(add(x[1], x[3]), -2), shift(add(x[2], x[4]), -2)),
        ),
    ),
    "start below zero": scope(
        [Range(-3, 2)], [Range(-1, 4)], mul(read("A", (5,), add(x[0], x[1])), read("B", (4,), x[1]))
    ),
    "loop read backwards": scope(loops(4, 3), [], read("A", (6,), sub(x[0], x[1]))),
    "digits that overshoot": scope(
        loops(11), [], read("A", (3, 4), floordiv(x[0], 4), modulo(x[0], 4))
    ),
    "digits below zero": scope(
        [Range(-5, 6)], [], read("A", (2, 4), shift(floordiv(x[0], 4), 1), modulo(x[0], 4))
    ),
    "digits of a sum": scope(
        loops(2),
        loops(12),
        mul(read("A", (2, 3), x[0], floordiv(x[1], 4)), read("B", (4,), modulo(x[1], 4))),
    ),
    "digits of a sum that do not fill": scope(
        loops(2),
        loops(10),
        mul(read("A", (2, 3), x[0], floordiv(x[1], 4)), read("B", (4,), modulo(x[1], 4))),
    ),
    "digits without a chain": scope(
        loops(12), [], read("A", (6, 4), floordiv(x[0], 2), floordiv(x[0], 3))
    ),
    "terms of different sizes": scope(
        loops(6, 5),
        [],
        expr.add(read("a", (6,), x[0]), mul(const(-2), A), read("b", (5,), x[1]), const(3)),
    ),
    "a product of four": scope(
        loops(3, 4),
        loops(5, 6),
        mul(
            const(Fraction(-1, 2)),
            read("A", (3, 5), x[0], x[2]),
            read("B", (5, 6), x[2], x[3]),
            read("C", (6, 4), x[3], x[1]),
            read("D", (6,), x[3]),
        ),
    ),
    "private sums": scope(
        loops(3, 4),
        loops(5, 6, 2),
        mul(read("A", (3, 5, 6), x[0], x[2], x[3]), read("B", (5, 4, 2), x[2], x[1], x[4])),
    ),
    "dot": scope([], loops(9), mul(read("A", (9,), x[0]), read("B", (9,), x[0]))),
    "matrix times vector": scope(
        loops(4), loops(9), mul(read("A", (4, 9), x[0], x[1]), read("B", (9,), x[1]))
    ),
    "outer": scope(loops(4, 3), [], mul(read("A", (4,), x[0]), read("B", (3,), x[1]))),
    "quotients": scope(
        loops(6, 5),
        [],
        mul(const(2), A, power(read("B", (5,), x[1]), -3), power(read("C", (6,), x[0]), -1)),
    ),
    "a shared term": scope(
        loops(6, 5),
        [],
        mul(apply("sigmoid", expr.add(A, const(1))), apply("exp", expr.add(A, const(1)))),
    ),
    "product reduction": scope(loops(6), loops(5), A, "prod"),
    "least": scope(loops(5), loops(6), mul(const(-1), read("A", (6, 5), x[1], x[0])), "min"),
    "a mask by floor": scope(
        loops(8, 9),
        [],
        select(
            [
                Condition("==", sub(floordiv(x[0], 2), floordiv(x[1], 3))),
                Condition(">=", shift(x[1], -1)),
            ],
            read("A", (8, 9), x[0], x[1]),
            const(7),
        ),
    ),
    "constant": scope(loops(2, 3), [], const(Fraction(1, 2))),
    "a loop the body lacks": scope(loops(2, 3), [], apply("exp", read("A", (3,), x[1]))),
    "scalar": scope([], [], mul(const(3), read("A", ()))),
    "no elements": scope(loops(0, 3), [], read("A", (4, 3), x[0], x[1])),
    "a sum over nothing": scope(loops(3), loops(0), read("A", (3, 4), x[0], x[1])),
    "a maximum over nothing": scope(loops(3), loops(0), read("A", (3, 4), x[0], x[1]), "max"),
    "a source without elements": scope(loops(3), loops(2), read("A", (3, 0), x[0], x[1])),
}


@pytest.mark.parametrize("name", SCOPES)
def test_values(name: str) -> None:
    check(SCOPES[name])


@pytest.mark.parametrize("name", SCOPES)
def test_values_by_taps_and_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where small sizes count as large: taps apply, and every temporary is cut."""
    monkeypatch.setattr("eops.torch_taps.LEAST_LOOPS", 1)
    monkeypatch.setattr("eops.torch_taps.BLOCK", 20)
    monkeypatch.setattr("eops.torch_stage.REDUCED_BLOCK", 7)
    monkeypatch.setattr("eops.torch_stage.LARGEST_BLOCK", 11)
    monkeypatch.setattr("eops.torch_contract.LEAST_SLICE", 1)
    torch_contract._layout.cache_clear()
    check(SCOPES[name])
    torch_contract._layout.cache_clear()


@pytest.mark.parametrize("function", sorted(interp.FUNCTIONS))
def test_functions(function: str) -> None:
    arity = interp.FUNCTIONS[function].arity
    args = [read(name, (6,), x[0]) for name in "AB"[:arity]]
    check(scope(loops(6), [], apply(function, *args)))
    check(scope(loops(6), [], apply(function, *(expr.add(arg, const(1)) for arg in args))))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(scopes(Grammar(functions=("exp", "abs", "maximum"))))
def test_random_scopes(root: Scope) -> None:
    inputs = random_inputs(root)
    assume(inputs)  # without, constants are float32
    result = direct(root, inputs).numpy()
    values = {tensor.name: data.numpy() for tensor, data in inputs.items()}
    expected = interp.evaluate(root, values, RealField())
    usual = np.isfinite(expected) & (np.abs(expected) < 1e30)
    np.testing.assert_allclose(result[usual], expected[usual], rtol=1e-9, atol=1e-9)


def test_taps_are_used_where_they_apply() -> None:
    assert torch_taps.tap_stage(SCOPES["offset add"]) is None  # too small
    one = scope(loops(64, 64), loops(3), read("A", (64, 66), x[0], add(x[1], x[2])))
    rows = [add(x[0], x[2]), add(x[1], x[3])]
    two = scope(loops(64, 64), loops(3, 3), read("A", (66, 66), *rows))
    assert torch_taps.tap_stage(one) is None  # torch's reduction is faster
    assert torch_taps.tap_stage(two) is not None
    check(one)
    check(two)


VIEWS = {
    "transposed": scope(loops(5, 6), [], read("A", (6, 5), x[1], x[0])),
    "window": scope(loops(4, 3, 5), [], read("A", (6, 5), add(x[0], x[1]), x[2])),
    "broadcast": scope(loops(3, 6, 5), [], read("A", (6, 5), x[1], x[2])),
    "phases": scope(loops(2, 3, 5), [], read("A", (6, 5), add(x[0], scale(x[1], 2)), x[2])),
    "unfolded": scope(
        loops(6, 5), [], read("A", (3, 2, 5), floordiv(x[0], 2), modulo(x[0], 2), x[1])
    ),
    "joined": scope(loops(5, 6), [], read("A", (30,), add(scale(x[0], 6), x[1]))),
    "cut": scope(loops(5, 5), [], read("A", (3, 2, 5), floordiv(x[0], 2), modulo(x[0], 2), x[1])),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_contiguous_data_do_not_copy(name: str) -> None:
    (tensor,) = interp.input_tensors(VIEWS[name])
    data = torch.rand(tensor.shape)
    assert lower(VIEWS[name])({tensor: data}).data_ptr() == data.data_ptr()
    check(VIEWS[name])


def matrix_product(dtype: str) -> Scope:
    left, right = (
        read("A", (8, 300), x[0], x[2], dtype=dtype),
        read("B", (300, 7), x[2], x[1], dtype=dtype),
    )
    return scope(loops(8, 7), loops(300), mul(left, right))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.complex64])
def test_element_types(dtype: torch.dtype) -> None:
    for root in (matrix_product(str(dtype)[6:]), SCOPES["terms of different sizes"], offset_add()):
        tensors = interp.input_tensors(root)
        inputs = {tensor: torch.rand(tensor.shape).to(dtype) for tensor in tensors}
        result = direct(root, inputs)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        expected = direct(root, {tensor: data.to(wide) for tensor, data in inputs.items()})
        assert result.dtype == dtype
        torch.testing.assert_close(
            result.to(wide), expected, rtol=10 * torch.finfo(dtype).eps, atol=1e-5
        )


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.bool])
def test_integers(dtype: torch.dtype) -> None:
    root = matrix_product("int64")
    inputs = {t: torch.randint(0, 100, t.shape).to(dtype) for t in interp.input_tensors(root)}
    a, b = (data.numpy().astype(np.int64) for data in inputs.values())
    result = direct(root, inputs)
    assert result.dtype == torch.int64
    np.testing.assert_array_equal(result.numpy(), a @ b)
    top = scope(loops(4), loops(3), read("A", (4,), add(x[0], x[1]), fill=-inf), "max")
    data = torch.tensor([3, -5, 0, 1]).to(dtype)
    (tensor,) = interp.input_tensors(top)
    expected = [int(data[h : h + 3].amax()) for h in range(4)]
    assert direct(top, {tensor: data}).tolist() == expected


def test_integers_leave_the_integers() -> None:
    root = scope(loops(3), [], mul(const(Fraction(1, 2)), read("A", (3,), x[0])))
    (tensor,) = interp.input_tensors(root)
    assert direct(root, {tensor: torch.tensor([1, 2, 3])}).tolist() == [0.5, 1.0, 1.5]


def test_digits_are_affine() -> None:
    split, _ = split_digits(band(2, 2, 3, 4, 3, 5))
    assert isinstance(split.body, Access)
    assert split.shape == (2, 3, 4, 2, 7)
    assert not any(row.floors for row in split.body.rows)
