"""The functions of CPU kernels against arbitrary precision, and at special values against NumPy."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.avx512.registers import has_vectors
from einderive.eops.cpu_kernels.functions import ERRORS, functions, largest_error
from einderive.ta.functions import FUNCTIONS
from einderive.ta.notation.parse import parse
from tests.amount import one_in, sampled
from tests.eops.compiled import compiled
from tools.kernel_errors import NEAR, applied, loop

OTHERWISE: dict[str, Any] = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "gelu": lambda x: x / 2 * mpmath.erfc(-x / mpmath.sqrt(2)),
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "log2": lambda x: mpmath.log(x, 2),
    "pow": mpmath.power,
    "lgamma": mpmath.loggamma,
    "trigamma": lambda x: mpmath.psi(1, x),
}
"""Functions by mpmath that have another name there, or none."""
FAR = (2.0**28, -(2.0**29) - 64, 1.6e10, -7e22, 1e30, 1.7e38, -3.4e38)
FARTHER = (*FAR, 6381956970095103 * 2.0**797, 5.319372648326541e255, 1.7976931348623157e308)
"""Multiples of pi/2 but for a very small rest are among them."""
DIVIDING = ("fmod", "remainder", "floor_divide")
DIGITS = tuple(f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift"))
WHOLE = (*DIVIDING, *DIGITS, "maximum", "minimum")
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 1.0, -2.0)


def sample(name: str, dtype: str) -> NDArray[Any]:
    """Numbers of all magnitudes, and many about 1."""
    random = np.random.default_rng(7)
    least = -45 if dtype == "float32" else -323
    signs = random.choice([-1.0, 1.0], 700)
    found = np.concatenate(
        [
            random.normal(0, 1, 500),
            random.normal(0, 30, 500),
            10.0 ** random.uniform(least, 3, 700) * signs,
            1 + random.normal(0, 1e-3, 300),
            random.uniform(0.7, 1.6, 300),
        ]
    ).astype(dtype)
    if name in ("sin", "cos", "tan"):
        far = FAR if dtype == "float32" else FARTHER
        return np.concatenate([found, np.array(far, dtype)])
    domain = FUNCTIONS[name].domain
    if domain is None:
        return found
    if np.isfinite(domain.greatest):
        inside = np.tanh(found)
        return inside[np.abs(inside) < 1]
    return domain.least + np.abs(found)


def check_error(name: str, found: NDArray[Any], most: float, *given: NDArray[Any]) -> None:
    """At most so many units in the last place."""
    exact_function = OTHERWISE.get(name) or getattr(mpmath, name)
    dtype = found.dtype
    with mpmath.workprec(1300 if max(np.abs(given[0])) > 1e20 else 160):
        for *at, value in zip(*given, found, strict=True):
            exact = exact_function(*(mpmath.mpf(float(x)) for x in at))
            with np.errstate(over="ignore"):
                rounded = dtype.type(float(exact))
            if np.isinf(rounded):
                assert value == rounded, at
            else:
                ulp = float(abs(mpmath.mpf(float(value)) - exact) / float(np.spacing(abs(rounded))))
                assert ulp <= most, f"{name}({at}) = {value!r}: {ulp:.2f} ulp"


def check_special(name: str, found: NDArray[Any], *given: NDArray[Any]) -> None:
    """As NumPy, with the signs of zeros where torch has these too."""
    with np.errstate(all="ignore"):
        wide = (x.astype(np.float64) for x in given)
        expected = np.asarray(FUNCTIONS[name].real(*wide)).astype(found.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    if name not in ("maximum", "minimum", "finite", "relu", "gelu", "silu", "sign", "remainder"):
        signed = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[signed], np.signbit(expected)[signed])


def bound(name: str, dtype: str, plain: bool = False, near: bool = False) -> float:
    found = largest_error(name, dtype, not plain, near)
    assert found is not None
    return found


def of_arity(count: int) -> list[Any]:
    """The functions in both types, and those for processors without AVX-512; most of them only in
    campaigns."""
    names = [name for name in functions("float64") if FUNCTIONS[name].arity == count]
    every = [*product(names, ("float32", "float64"))]
    plain = [(*one, True) for one in every if differs(*one)]
    return one_in(8, (*((*one, False) for one in every), *plain))


def differs(name: str, dtype: str) -> bool:
    return functions(dtype)[name] is not functions(dtype, vectors=False)[name]


@sampled(4)
@pytest.mark.parametrize(("name", "dtype", "plain"), of_arity(1))
def test_of_one(name: str, dtype: str, plain: bool) -> None:
    largest = np.finfo(dtype).max
    x = np.array([*SPECIAL, 2.0, largest, -largest, np.finfo(dtype).tiny], dtype=dtype)
    check_special(name, applied(name, x, plain=plain), x)
    if name in ERRORS["plain"]:
        x = sample(name, dtype)
        x = x[:: 40 if name == "erfinv" else 4].copy()  # mpmath takes long
        check_error(name, applied(name, x, plain=plain), bound(name, dtype, plain), x)
    else:
        known = FUNCTIONS[name]
        assert known.pieces or known.steps or known.truth or known.always_finite, name


@sampled(4)
@pytest.mark.parametrize(
    ("dtype", "plain"), [("float32", False), ("float32", True), ("float64", False)]
)
@pytest.mark.parametrize("name", ERRORS["near"])
def test_operands_that_are_near(name: str, dtype: str, plain: bool) -> None:
    x = sample(name, dtype)
    far = (np.abs(x) >= 2.0**28).astype(dtype)
    assert far.any()
    x = x[far == 0]
    multiples = np.random.default_rng(3).integers(1, 1 << 27, 300) * (np.pi / 2)
    x = np.concatenate([x, multiples.astype(dtype)])
    most = bound(name, dtype, plain, near=True)
    check_error(name, applied(name + NEAR, x, plain=plain), most, x)
    odd = np.array(SPECIAL, dtype)
    check_special(name, applied(name + NEAR, odd, plain=plain), odd)


@sampled(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DIVIDING)
def test_quotients_that_are_near(name: str, dtype: str) -> None:
    """To the last bit what the C library's division gives, and its signs."""
    random = np.random.default_rng(5)
    x = np.concatenate([random.normal(0, 30, 3000), random.integers(-40, 40, 3000)]).astype(dtype)
    y = np.concatenate([random.normal(0, 1, 3000), random.integers(-7, 8, 3000)]).astype(dtype)
    x, y = np.append(x, [3, -3, 0.0, -0.0, 1]), np.append(y, [np.inf, np.inf, -2, 2, np.nan])
    x, y = x.astype(dtype), y.astype(dtype)
    here = applied("far_" + name + NEAR, x, y).astype(bool) == 0
    assert here.sum() > 5000
    x, y = x[here], y[here]
    expected, found = applied(name, x, y), applied(name + NEAR, x, y)
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize(("name", "dtype", "plain"), of_arity(2))
def test_of_two(name: str, dtype: str, plain: bool) -> None:
    numbers = np.array([*SPECIAL, 2, 0.5, -2.5, 3, 1e19, 5e-324, 1.7e308, -1.7e308])
    with np.errstate(over="ignore"):
        numbers = numbers.astype(dtype)
    x, y = np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)
    check_special(name, applied(name, x, y, plain=plain), x, y)
    if name in ERRORS["plain"]:
        x, y = sample_of_two(name, dtype)
        found = applied(name, x, y, plain=plain)
        check_error(name, found, bound(name, dtype, plain), x, y)


def sample_of_two(name: str, dtype: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Of powers, up to the largest ones, and those of numbers near 1, also to large exponents."""
    random, count = np.random.default_rng(8), 100
    least = 30 if dtype == "float32" else 250
    x = np.concatenate(
        [
            random.uniform(0, 4, count),
            10 ** random.uniform(-least, least, count),
            1 + random.normal(0, 1e-4, count),
        ]
    ).astype(dtype)
    y = np.concatenate([random.normal(0, scale, count) for scale in (10, 1, 1e5)]).astype(dtype)
    if name == "pow":
        near = 1 + random.uniform(-0.02, 0.0312, count)
        large = random.uniform(-120, 127, count) / np.log2(near.astype(dtype))
        return np.append(x, near.astype(dtype)), np.append(y, large.astype(dtype))
    return x * random.choice([-1, 1], x.size).astype(dtype), y


@pytest.mark.skipif(not has_vectors(), reason="the processor has no AVX-512")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("log", "float32"), ("tanh", "float32"), ("log1p", "float64"), ("pow", "float64")],
)
def test_words_on_vectors_become_part_of_the_loop(name: str, dtype: str) -> None:
    """Its loop has the registers of AVX-512, and calls nothing."""
    text = loop(name, dtype, FUNCTIONS[name].arity, False)._library.get_asm_str()
    (kernel,) = re.findall(r"^_ZN[^\n]*kernel_[^\n]*:$(.*?)^cfunc", text, re.MULTILINE | re.DOTALL)
    assert "zmm" in kernel
    assert not re.search(r"\bcallq?\b", kernel)


@sampled(2)
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p"])
def test_logarithms_cancel_nothing_near_one(name: str, plain: bool) -> None:
    """Of numbers next to 1 to a unit, and log1p of numbers that 1 + x loses."""
    steps = np.spacing(1.0) * np.array([-300, -7, -1, -0.5, 1, 2, 5, 1000])
    x = np.append(steps, [-1e-17, 3e-300, -2e-9]) if name == "log1p" else 1 + steps
    check_error(name, applied(name, x, plain=plain), bound(name, "float64", plain), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_powers_of_any_operands_beside_one_another(dtype: str) -> None:
    """Rare operands, of which the vector asks, do not change their neighbours' results."""
    random = np.random.default_rng(4)
    x, y = random.uniform(0.1, 4, 64).astype(dtype), random.normal(0, 3, 64).astype(dtype)
    usual = applied("pow", x, y)
    for rare, exponent in ((-2.0, 3.0), (0.0, -1.0), (np.inf, 0.5), (np.nan, 0.0), (1.5, 1e30)):
        x[::9], y[::9] = rare, exponent
        found = applied("pow", x, y)
        np.testing.assert_array_equal(np.delete(found, np.s_[::9]), np.delete(usual, np.s_[::9]))
        check_special("pow", found, x, y)


@pytest.mark.parametrize("count", [1, 3, 4, 8, 12, 23, 40])
def test_loops_of_any_length(count: int) -> None:
    """The same numbers whatever vectors a loop has room for."""
    x = np.random.default_rng(1).normal(0, 3, 40).astype(np.float32)
    expected = applied("exp", x)[:count]
    (scope,) = parse("Y[i] = exp(A[i])", {"A": (count,)}, "float32").roots()
    found = compiled(scope)(torch.from_numpy(x[:count].copy()))[0]
    np.testing.assert_array_equal(found.numpy(), expected)


def test_kernels_have_every_function_of_the_notation() -> None:
    """But those of complex numbers, which kernels do not have, and those of digits, which are of
    integers alone."""
    chosen = {name for name, known in FUNCTIONS.items() if known.picks}  # written as `if`
    digits = {name for name, known in FUNCTIONS.items() if known.digits}
    parts = {name for name, known in FUNCTIONS.items() if known.part}
    named = set(FUNCTIONS) - chosen - {"1j"} - parts - digits
    assert set(functions("float32")) == set(functions("float64")) == named
    whole = {name for name, known in FUNCTIONS.items() if known.keeps_integers}
    assert set(functions("int64")) == whole - chosen - parts - {"bitwise_invert"}


@sampled(4)
@pytest.mark.parametrize("name", [n for n in functions("int64") if n in WHOLE])
def test_whole_numbers(name: str) -> None:
    """As torch, except that a divisor 0 counts as 1; the least number has no opposite."""
    numbers = np.array([0, 1, -1, 2, -3, 7, -7, 2**62, 2**63 - 1, -(2**63) + 1, -(2**63)])
    x, y = np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)
    operation, found = getattr(torch, name), applied(name, x, y)
    defined = (y >= 0) if name.endswith("shift") else (y != -1) | (x != -(2**63))
    divisor = np.where(y == 0, 1, y) if name in DIVIDING else y
    expected = operation(torch.tensor(x[defined]), torch.tensor(divisor[defined])).numpy()
    np.testing.assert_array_equal(found[defined], expected)


@sampled(4)
@pytest.mark.parametrize(
    "name", ["sqrt", "abs", "exp", "log", "log2", "log10", "log1p", "expm1", "tanh"]
)
def test_subnormal_numbers_count(name: str) -> None:
    x = np.array([5e-324, 1e-310, 2e-308])
    expected = [FUNCTIONS[name].real(value) for value in x]
    np.testing.assert_allclose(applied(name, x), expected, rtol=1e-15)
