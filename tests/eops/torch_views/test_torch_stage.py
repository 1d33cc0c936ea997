"""Stages on torch tensors against the interpreter, in float64."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings

from einderive.eops.torch_views import contract as torch_contract
from einderive.eops.torch_views import taps as torch_taps
from einderive.eops.torch_views.digits import split_digits
from einderive.eops.torch_views.stage import lower, lower_all
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.affine import add, floordiv, modulo, scale
from einderive.ta.ir.canon import scope
from einderive.ta.ir.expr import apply, const
from einderive.ta.ir.node import Access, Scope, Tensor
from tests.amount import examples, sampled
from tests.eops.stages import SCOPES, band, loops, mul, offset_add, read, x
from tests.strategies import Grammar, scopes


def random_inputs(root: Scope, seed: int = 0) -> dict[Tensor, torch.Tensor]:
    """Data between NaN guards: an access that leaves its buffer reads a NaN."""
    generator = torch.Generator().manual_seed(seed)
    inputs = {}
    for tensor in input_tensors(root):
        guarded = torch.full([n + 2 for n in tensor.shape], torch.nan, dtype=torch.float64)
        inner = guarded[tuple(slice(1, n + 1) for n in tensor.shape)]
        inner.copy_(torch.rand(tensor.shape, generator=generator, dtype=torch.float64) + 0.5)
        inputs[tensor] = inner
    return inputs


def check(root: Scope, tolerance: float = 1e-12) -> torch.Tensor:
    inputs = random_inputs(root)
    result = lower_all(root)(inputs)
    values = {tensor.name: data.numpy() for tensor, data in inputs.items()}
    expected = evaluate(root, values, RealField())
    assert tuple(result.shape) == root.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=tolerance, atol=tolerance)
    return result


@pytest.mark.parametrize("name", SCOPES)
def test_values(name: str) -> None:
    check(SCOPES[name])


@pytest.mark.parametrize("name", SCOPES)
def test_values_by_taps_and_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where small sizes count as large: taps apply, and every temporary is cut."""
    monkeypatch.setattr("einderive.ta.traffic.window_taps.LEAST_LOOPS", 1)
    monkeypatch.setattr("einderive.eops.torch_views.taps.BLOCK", 20)
    monkeypatch.setattr("einderive.eops.torch_views.blocked.REDUCED_BLOCK", 7)
    monkeypatch.setattr("einderive.eops.torch_views.blocked.LARGEST_BLOCK", 11)
    monkeypatch.setattr("einderive.eops.torch_views.contract.LEAST_SLICE", 1)
    torch_contract._layout.cache_clear()
    check(SCOPES[name])
    torch_contract._layout.cache_clear()


@pytest.mark.parametrize(
    "function", sorted(n for n, f in FUNCTIONS.items() if n != "1j" and not f.digits)
)
def test_functions(function: str) -> None:
    arity = FUNCTIONS[function].arity
    args = [read(name, (6,), x[0]) for name in "ABC"[:arity]]
    one = read("A", (6,), x[0])  # a constant alone has the default type
    check(scope(loops(6), [], apply(function, *args) if arity else mul(one, apply(function))))
    if arity:
        check(scope(loops(6), [], apply(function, *(expr.add(arg, const(1)) for arg in args))))


ENDS = (
    *(inf, -inf, nan, 0.0, 1e38, 3e38, -3e38, 80.0, -80.0, 40.0, -40.0, 9.0, -9.0),
    *(1e-30, -1e-30, 0.5, -0.5, 2.5, 1.0, -1.0),
)


@sampled(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("function", sorted(f for f in FUNCTIONS if FUNCTIONS[f].arity == 1))
def test_functions_at_the_ends(function: str, dtype: torch.dtype) -> None:
    """NaN, infinities, great numbers and left tails, in vectors."""
    root = scope(loops(64), [], apply(function, read("A", (64,), x[0])))
    (tensor,) = input_tensors(root)
    run = lower(root)
    for end in ENDS:
        data = torch.full((64,), end, dtype=dtype)
        with np.errstate(all="ignore"):
            exact = FUNCTIONS[function].real(data[:1].double().numpy())
            expected = torch.from_numpy(np.asarray(exact)).to(dtype).expand(64)
        result = run({tensor: data})
        if FUNCTIONS[function].truth:
            assert result.dtype == torch.bool
            expected = expected.to(torch.bool)
        smallest = torch.finfo(dtype).tiny
        torch.testing.assert_close(
            result, expected, rtol=1e-4, atol=smallest, equal_nan=True, msg=f"{end}: {result}"
        )


@settings(
    max_examples=examples(300, 12), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(scopes(Grammar(functions=("exp", "abs", "maximum"))))
def test_random_scopes(root: Scope) -> None:
    inputs = random_inputs(root)
    assume(inputs)  # without, constants are float32
    result = lower_all(root)(inputs).numpy()
    values = {tensor.name: data.numpy() for tensor, data in inputs.items()}
    expected = evaluate(root, values, RealField())
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
    (tensor,) = input_tensors(VIEWS[name])
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
        tensors = input_tensors(root)
        inputs = {tensor: torch.rand(tensor.shape).to(dtype) for tensor in tensors}
        result = lower_all(root)(inputs)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        expected = lower_all(root)({tensor: data.to(wide) for tensor, data in inputs.items()})
        assert result.dtype == dtype
        torch.testing.assert_close(
            result.to(wide), expected, rtol=10 * torch.finfo(dtype).eps, atol=1e-5
        )


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64, torch.bool])
def test_integers(dtype: torch.dtype) -> None:
    root = matrix_product("int64")
    inputs = {t: torch.randint(0, 100, t.shape).to(dtype) for t in input_tensors(root)}
    a, b = (data.numpy().astype(np.int64) for data in inputs.values())
    result = lower_all(root)(inputs)
    assert result.dtype == torch.int64
    np.testing.assert_array_equal(result.numpy(), a @ b)
    top = scope(loops(4), loops(3), read("A", (4,), add(x[0], x[1]), fill=-inf), "max")
    data = torch.tensor([3, -5, 0, 1]).to(dtype)
    (tensor,) = input_tensors(top)
    expected = [int(data[h : h + 3].amax()) for h in range(4)]
    assert lower_all(top)({tensor: data}).tolist() == expected


def test_integers_leave_the_integers() -> None:
    root = scope(loops(3), [], mul(const(Fraction(1, 2)), read("A", (3,), x[0])))
    (tensor,) = input_tensors(root)
    assert lower_all(root)({tensor: torch.tensor([1, 2, 3])}).tolist() == [0.5, 1.0, 1.5]


def test_digits_are_affine() -> None:
    split, _ = split_digits(band(2, 2, 3, 4, 3, 5))
    assert isinstance(split.body, Access)
    assert split.shape == (2, 3, 4, 2, 7)
    assert not any(row.floors for row in split.body.rows)
