"""Loops that read and write half types: every number, in the functions that round to fewer digits,
and the rounding of results."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
import torch
from numba import cfunc, types

import einderive as ed
from einderive.eops.cpu_kernels.avx512.elements import short_vectors
from einderive.eops.cpu_kernels.avx512.half_types import half_vectors
from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.compiling.late import late_bodies
from einderive.eops.cpu_kernels.functions import functions
from einderive.eops.cpu_kernels.words import half_types, machine
from einderive.eops.dtypes import Kinds
from einderive.eops.loops.arrange import dense
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import Typing
from einderive.ta.functions import FUNCTIONS
from einderive.ta.notation.parse import parse

NAMES = ("exp", "sigmoid", "silu", "softplus", "tanh", "erf", "erfc", "gelu", "expm1")
EVERY = 1 << 16
HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
UNITS = {"float16": 0.5 + 1 / 16, "bfloat16": 0.5 + 1 / 128}
"""In the last place of the type: half of one is the rounding of the result."""
SHORT = ("exp", "sigmoid", "silu", "gelu")


def typing_of(dtype: str, result: str) -> Typing:
    return Typing((dtype,), (Kinds("float32", result),))


def by_kernel(name: str, x: torch.Tensor, result: str = "") -> torch.Tensor:
    dtype = str(x.dtype).removeprefix("torch.")
    (stage,) = parse(f"Y[i] = {name}(A[i])", {"A": tuple(x.shape)}, dtype).roots()
    group = Group.alone(stage)
    kernel = build(group, dense(group), typing_of(dtype, result or dtype))
    (found,) = kernel(x)
    return found


def units(x: torch.Tensor) -> torch.Tensor:
    """The distance of the numbers of the type about x, in float64."""
    limits = torch.finfo(x.dtype)
    exponent = torch.frexp(x.double().abs().clamp_min(limits.tiny)).exponent
    return limits.eps * 2.0 ** (exponent.double() - 1)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_every_number(name: str, dtype: str) -> None:
    """Also subnormal ones, infinities and NaN."""
    x = torch.arange(EVERY, dtype=torch.int32).to(torch.int16).view(HALVES[dtype])
    found = by_kernel(name, x)
    with np.errstate(all="ignore"):
        exact = torch.from_numpy(np.asarray(FUNCTIONS[name].real(x.double().numpy())))
    rounded = exact.to(x.dtype)
    assert found.dtype == x.dtype
    assert torch.equal(found.isnan(), exact.isnan())
    assert torch.equal(found.isinf(), rounded.isinf())
    inside = rounded.isfinite()
    off = (found.double() - exact)[inside].abs() / units(rounded[inside])
    assert float(off.max()) <= UNITS[dtype]


@pytest.mark.parametrize("name", SHORT)
def test_short_forms_are_for_half_types_alone(name: str) -> None:
    """A result of float32 has all digits of the function."""
    x = torch.randn(1 << 12).to(torch.bfloat16)
    exact = torch.from_numpy(np.asarray(FUNCTIONS[name].real(x.double().numpy())))
    off = (by_kernel(name, x, "float32").double() / exact - 1).abs().max()
    assert float(off) < 2.0**-21
    assert functions("float32", short=True)[name] is short_vectors().get(
        name, functions("float32")[name]
    )


def test_sums_of_short_forms_keep_their_digits() -> None:
    """Of a softmax, whose exponentials and sums are in float32 and float64."""
    x = (4 * torch.randn(64, 1000)).half()
    exact = torch.softmax(x.double(), 1)
    f = ed.compile("Y[i,j] = softmax[j](A[i,j])", A=(64, 1000), dtypes="float16", remember=False)
    off = (f(x).double() - exact).abs() / units(exact.half())
    assert float(off.max()) <= UNITS["float16"]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ceil(exp(A[i]))", 1.0),
        ("floor(2*sigmoid(A[i]))", 1.0),
        ("sign(exp(A[i]) - 1)", 0.0),
        ("where(exp(A[i]) > 1, 1, 0)", 0.0),
        ("exp(A[i]) - 1", 0.0),
        ("log(exp(A[i]))", 0.0),
        ("1/(1 - exp(A[i]))", float("inf")),
    ],
)
def test_values_at_zero_are_exact(text: str, expected: float, dtype: str) -> None:
    (stage,) = parse(f"Y[i] = {text}", {"A": (40,)}, dtype).roots()
    group = Group.alone(stage)
    (found,) = build(group, dense(group), typing_of(dtype, dtype))(
        torch.zeros(40).to(HALVES[dtype])
    )
    assert found.tolist() == [expected] * 40


def storing(store: Any) -> Any:
    """A loop that writes numbers of float32 in bfloat16."""
    text = """
def kernel_(data):
    wide_vectors()
    x, y = source(data, 0), result(data, 1)
    for i in range(data[2]):
        store(y, i, load(x, i))
"""
    space: dict[str, Any] = {"source": machine.pointer("float32"), "store": store}
    space |= {"result": machine.pointer("bfloat16"), "load": machine.load}
    space |= {"wide_vectors": machine.wide_vectors}
    exec(text, space)
    with late_bodies():
        return cfunc(types.void(machine.DATA), error_model="numpy")(space["kernel_"]).ctypes


def stored(run: Any, bits: Any) -> Any:
    out = np.empty(bits.size, np.uint16)
    run((ctypes.c_int64 * 3)(bits.ctypes.data, out.ctypes.data, bits.size))
    return out


@pytest.mark.parametrize("vectors", [False, True])
def test_bfloat16_is_rounded_as_torch_does(vectors: bool) -> None:
    """Numbers of all exponents and of all kinds, subnormal ones alone and among others."""
    words = half_vectors() if vectors else {}
    run = storing(words.get("store_bfloat16", half_types.store_bfloat16))
    random = np.random.default_rng(3)
    upper = np.arange(EVERY, dtype=np.uint32) << np.uint32(16)
    lower = (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)
    every = np.concatenate([upper | np.uint32(low) for low in lower])
    mixed = random.permutation(every)
    for bits in (every, mixed, mixed[:1], mixed[:7], mixed[:37], mixed[5:1000]):
        bits = np.ascontiguousarray(bits)
        x = torch.from_numpy(bits.view(np.float32).copy())
        found = torch.from_numpy(stored(run, bits).view(np.int16)).view(torch.bfloat16)
        expected = x.to(torch.bfloat16)
        assert torch.equal(found.isnan(), x.isnan())
        usual = ~x.isnan()
        assert torch.equal(found.view(torch.int16)[usual], expected.view(torch.int16)[usual])
