"""Every known operator: instances of its definition are bound and computed right, others not."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
import torch

from einderive.derivations.matching.match import match
from einderive.eops.library import OPERATORS, by_name
from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.baselines.writing.kinds import Kind, Kinds
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator
from einderive.ta.notation.parse import parse
from tests.amount import sampled
from tests.eops.instances import TABLE, instance
from tests.eops.operator_cases import (
    RECOGNISED,
    REFUSED,
    UNUSUAL,
    Case,
    field_of,
    random_values,
    scope_of,
)

SEEDS = range(12)


def computed(operator: Operator, found: Binding, seed: int = 0) -> tuple[torch.Tensor, np.ndarray]:
    """The launch's result and the oracle's, on random values."""
    generator = np.random.default_rng(seed)
    tensors = input_tensors(found.scope)
    values = random_values(tensors, generator)
    result = operator.launch(found)({t: torch.from_numpy(values[t.name]) for t in tensors})
    return result, evaluate(found.scope, values, field_of(found.scope))


def assert_right(operator: Operator, scope: Scope) -> Binding:
    found = match(operator, scope)
    assert isinstance(found, Binding), f"{operator.name}: {scope} {found}"
    result, expected = computed(operator, found)
    real = torch.float64 if Kinds().of(scope) is Kind.FLOAT else torch.int64
    assert result.dtype == (torch.complex128 if may_be_complex(scope) else real)
    assert tuple(result.shape) == scope.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10, atol=1e-10)
    work = operator.work(found)
    assert 0 < work.utilisation <= 1
    assert work.operations >= 0
    assert work.bytes_moved >= 0
    assert work.bytes_copied >= 0
    return found


def test_every_operator_is_tested() -> None:
    assert {o.name for o in OPERATORS} == {o.name for o in TABLE} | RECOGNISED.keys()
    assert len({o.name for o in OPERATORS}) == len(OPERATORS)
    assert all(by_name(operator.name) is operator for operator in OPERATORS)
    with pytest.raises(KeyError, match="there are view"):
        by_name("convolute")


@sampled(6)
@pytest.mark.parametrize("operator", TABLE, ids=lambda o: o.name)
@pytest.mark.parametrize("seed", SEEDS)
def test_instances_of_the_definition(operator: Operator, seed: int) -> None:
    assert_right(operator, instance(operator, seed))


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, cases in RECOGNISED.items() for case in cases]
)
def test_recognised(name: str, case: Case) -> None:
    assert_right(by_name(name), scope_of(case))


@pytest.mark.parametrize(("name", "case"), REFUSED)
def test_near_misses_are_refused(name: str, case: Case) -> None:
    found = match(by_name(name), scope_of(case))
    assert isinstance(found, tuple)
    assert all(mismatch.detail for mismatch in found)


@pytest.mark.parametrize(("name", "case"), UNUSUAL)
def test_unusual_instances(name: str, case: Case) -> None:
    assert_right(by_name(name), scope_of(case))


def test_library_pads_where_it_can() -> None:
    """Same-padding convolutions read the input as it lies: no padded copy is in their bytes."""
    case = ("Y[n,f,h] = A[n,c,h+r-1]*K[f,c,r]", {"A": (2, 3, 64), "K": (4, 3, 3)}, {"h": (0, 64)})
    conv = by_name("conv1d")
    found = match(conv, scope_of(case))
    assert isinstance(found, Binding)
    elements = 2 * 3 * 64 + 4 * 3 * 3 + 2 * 4 * 64
    assert conv.work(found).bytes_moved == 8 * elements


def test_matmul_work_counts_layout_copies() -> None:
    """m = (i, j) merges in A[i,j,k]; in A[j,i,k] it merges too, with k between it does not."""
    matmul = by_name("matmul")

    def bytes_of(text: str, a: tuple[int, ...]) -> float:
        found = match(matmul, scope_of((text, {"A": a, "B": (32, 16)}, {})))
        assert isinstance(found, Binding)
        assert matmul.work(found).operations == 2 * 8 * 16 * 32 * 16
        return matmul.work(found).bytes_moved + matmul.work(found).bytes_copied

    free = bytes_of("Y[i,j,n] = A[i,j,k]*B[k,n]", (8, 16, 32))
    assert free == 8 * (8 * 16 * 32 + 32 * 16 + 8 * 16 * 16)
    assert bytes_of("Y[i,j,n] = A[j,i,k]*B[k,n]", (16, 8, 32)) == free
    copied = bytes_of("Y[i,j,n] = A[i,k,j]*B[k,n]", (8, 32, 16))
    assert copied == free + 8 * 2 * 8 * 16 * 32


@sampled(6)
@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64])
def test_element_types(operator: Operator, dtype: torch.dtype) -> None:
    """16-bit types keep their type and err by few roundings; integers are exact; so are places."""
    if operator.recognise is None:
        scope = instance(operator, "types")
    else:
        scope = scope_of(RECOGNISED[operator.name][0])
    found = match(operator, scope)
    assert isinstance(found, Binding)
    generator = np.random.default_rng(1)
    values = {t.name: generator.integers(-3, 4, t.shape) for t in input_tensors(scope)}
    tensors = {t: torch.from_numpy(values[t.name]).to(dtype) for t in input_tensors(scope)}
    result = operator.launch(found)(tensors)
    reals = {name: value.astype(np.float64) for name, value in values.items()}
    expected = evaluate(scope, reals, field_of(scope))
    if operator.name in ("bincount", "argmax", "argmin"):  # numbers of elements, and places
        assert result.dtype == torch.int64
    elif dtype.is_floating_point and not result.is_complex():
        assert result.dtype == dtype
    if not dtype.is_floating_point and not np.isfinite(expected).all():
        return  # an integer has no infinity
    share = {torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(dtype, 1e-5)
    bound = share * np.abs(expected[np.isfinite(expected)]).max(initial=1)
    wide = result.to(torch.complex128) if result.is_complex() else result.double()
    np.testing.assert_allclose(wide.numpy(), expected, rtol=share, atol=bound)


UNSHIFTED = [
    (name, case)
    for name in ("softmax", "attention")
    for case in RECOGNISED[name]
    if "max[" not in case[0]  # complex numbers have no maximum
]


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
@pytest.mark.parametrize(("name", "case"), UNSHIFTED)
def test_softmax_of_complex_numbers(name: str, case: Case, dtype: torch.dtype) -> None:
    """As the stages written out in torch give it."""
    found = match(by_name(name), scope_of(case))
    assert isinstance(found, Binding)
    generator = torch.Generator().manual_seed(0)
    tensors = {
        t: torch.randn(t.shape, generator=generator, dtype=dtype)
        for t in input_tensors(found.scope)
    }
    result = by_name(name).launch(found)(tensors)
    expected = lower_all(found.scope)(tensors)
    assert result.dtype == expected.dtype == dtype
    assert expected.imag.abs().max() > 1e-2
    torch.testing.assert_close(result, expected)


def test_complex_and_real_operands_of_attention() -> None:
    name, case = next((name, case) for name, case in UNSHIFTED if name == "attention")
    found = match(by_name(name), scope_of(case))
    assert isinstance(found, Binding)
    for complex_one in input_tensors(found.scope):
        tensors = {
            t: torch.rand(t.shape, dtype=torch.complex128 if t is complex_one else torch.float64)
            for t in input_tensors(found.scope)
        }
        result = by_name(name).launch(found)(tensors)
        torch.testing.assert_close(result, lower_all(found.scope)(tensors))


@pytest.mark.parametrize("operator", TABLE, ids=lambda o: o.name)
def test_strided_buffers(operator: Operator) -> None:
    """Buffers in any strides: reversed dimension order, and parts of larger memory."""
    scope = instance(operator, "strides")
    found = match(operator, scope)
    assert isinstance(found, Binding)
    generator = np.random.default_rng(2)
    values, buffers = {}, {}
    for tensor in input_tensors(scope):
        memory = torch.from_numpy(generator.standard_normal(2 * prod(tensor.shape)))
        view = memory[::2].reshape(tensor.shape[::-1]).permute(*reversed(range(len(tensor.shape))))
        values[tensor.name], buffers[tensor] = view.numpy(), view
    result = operator.launch(found)(buffers)
    expected = evaluate(scope, values, RealField())
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-10, atol=1e-10)


def test_a_transform_of_complex_numbers() -> None:
    """As torch gives it, and as the stage as written."""
    case = ("Y[b,k] = sum[n](A[b,n]*exp(-2*pi*1j*k*n/10))", {"A": (3, 10)}, {"k": (0, 10)})
    found = match(by_name("fft"), scope_of(case))
    assert isinstance(found, Binding)
    (tensor,) = input_tensors(found.scope)
    given = torch.randn(3, 10, dtype=torch.complex128)
    result = by_name("fft").launch(found)({tensor: given})
    torch.testing.assert_close(result, torch.fft.fft(given))
    torch.testing.assert_close(result, lower_all(found.scope)({tensor: given}))


@pytest.mark.parametrize("name", ["fft_real", "fft_imaginary", "fft", "ifft"])
def test_a_transform_may_lose_a_nan(name: str) -> None:
    """Where a wave is 0.  So no transform takes part under nan="strict"."""
    found = match(by_name(name), scope_of(RECOGNISED[name][0]))
    assert isinstance(found, Binding)
    (tensor,) = input_tensors(found.scope)
    given = torch.ones(tensor.shape, dtype=torch.float64)
    given[..., 5] = torch.nan
    written, transformed = (
        torch.view_as_real(result)[..., 0] if result.is_complex() else result
        for result in (
            lower_all(found.scope)({tensor: given}),
            by_name(name).launch(found)({tensor: given}),
        )
    )
    assert torch.isnan(written).any()
    assert torch.isnan(transformed[1]).any()
    assert not by_name(name).keeps_nonfinite(found)


def test_ties_and_nan_are_those_of_the_notation() -> None:
    values = np.array(
        [[2, 1, 1, 3], [np.nan] * 4, [1, np.nan, 0, np.nan], [np.inf] * 4, [0.0, -0.0, 0, 1]]
    )
    for name, expected in (("argmin", [1, 0, 1, 0, 0]), ("argmax", [3, 0, 1, 0, 3])):
        scope = parse(f"Y[i] = {name}[k](A[i,k])", {"A": (5, 4)}, "float64").roots()[0]
        found = match(by_name(name), scope)
        assert isinstance(found, Binding)
        (source,) = input_tensors(scope)
        result = by_name(name).launch(found)({source: torch.from_numpy(values)})
        assert result.tolist() == expected
        assert evaluate(scope, {"A": values}, RealField()).tolist() == expected
