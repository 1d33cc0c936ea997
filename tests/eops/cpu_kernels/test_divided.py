"""Divisions by one number in a whole loop: the bits of IEEE's division, except where an operand or
the quotient is next to the least numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from einderive.eops.cpu_kernels.build import built, divides_fast
from einderive.eops.loops.arrange import dense, plan
from einderive.eops.loops.drafts.group import Group
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse
from tests.eops.compiled import compiled

BUILD = "einderive.eops.cpu_kernels.build"
DTYPES = {"float32": (23, 127), "float64": (52, 1023)}
TEXT = "Y[i,j] = X[j]/D[i]"


@pytest.fixture(autouse=True)
def divisions_take_long(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As on most processors."""
    monkeypatch.setattr(f"{BUILD}.divides_fast", lambda: False)
    built.cache_clear()
    yield
    built.cache_clear()


@pytest.mark.parametrize(
    ("processor", "fast"), [("znver5", True), ("znver4", True), ("znver3", False), ("", False)]
)
def test_processors_that_divide_fast_do(
    processor: str, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(f"{BUILD}.binding.get_host_cpu_name", lambda: processor)
    divides_fast.cache_clear()
    try:
        source = compiled(parse(TEXT, {"X": (64,), "D": (60,)}).roots()[0], "float32").source
    finally:
        divides_fast.cache_clear()
    assert ("divided_" in source) != fast
    assert (" / " in source.split("for i1 in")[1]) == fast


def numbers(dtype: str, count: int, exponents: int) -> NDArray[Any]:
    """Random digits, those at both ends of a binade, and exponents around 0."""
    digits, middle = DTYPES[dtype]
    random = np.random.default_rng(count)
    fraction = random.integers(0, 1 << digits, count)
    fraction[:6] = [0, 1, 2, (1 << digits) - 1, (1 << digits) - 2, 1 << (digits - 1)]
    exponent = random.integers(middle - exponents, middle + exponents, count)
    exponent[:6] = middle
    sign = random.integers(0, 2, count)
    bits = (sign << (8 * np.dtype(dtype).itemsize - 1)) | (exponent << digits) | fraction
    return bits.astype(np.uint64).astype(np.dtype(f"u{np.dtype(dtype).itemsize}")).view(dtype)


def quotients(x: NDArray[Any], d: NDArray[Any], dtype: str) -> NDArray[Any]:
    program = parse(TEXT, {"X": x.shape, "D": d.shape}, dtype)
    kernel = compiled(program.roots()[0], dtype)
    assert "divided_" in kernel.source
    given = {"X": torch.from_numpy(x), "D": torch.from_numpy(d)}
    (found,) = kernel(*(given[source.name] for source in kernel.plan.group.operands))
    made: NDArray[Any] = found.numpy()
    return made


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bits_are_those_of_a_division(dtype: str) -> None:
    x, d = numbers(dtype, 20_000, 40), numbers(dtype, 60, 40)
    found = quotients(x, d, dtype)
    np.testing.assert_array_equal(found, x / d[:, None])


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_operands_and_divisors(dtype: str) -> None:
    limits = np.finfo(dtype)
    ends = [0.0, np.inf, np.nan, float(limits.max), float(limits.tiny), 3 * float(limits.tiny)]
    ends += [float(limits.smallest_subnormal), 5 * float(limits.smallest_subnormal), 1.0, 3.0]
    special = np.array([*ends, *(-end for end in ends)], dtype)
    x = np.concatenate([special, numbers(dtype, 300, 100)])
    d = np.concatenate([special, numbers(dtype, 40, 100)])
    found = quotients(x, d, dtype)
    with np.errstate(all="ignore"):
        wanted = x / d[:, None]
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))
    signed = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[signed], np.signbit(wanted)[signed])
    usual = np.isfinite(wanted)
    least = 2.0 ** (-100 if dtype == "float32" else -968)
    exact = usual & (np.abs(x) >= least) & (np.abs(wanted) >= least)
    np.testing.assert_array_equal(found[exact], wanted[exact])
    other = np.isfinite(wanted) & ~exact
    assert other.sum() > 500
    wide = np.longdouble(x) / np.longdouble(d)[:, None]
    off = np.abs(found[other] - wide[other]) / np.spacing(np.abs(wanted[other]))
    assert off.max() <= 2


def test_a_division_is_left_where_each_step_has_its_own_divisor() -> None:
    for text, shapes in {
        "Y[i,j] = X[i,j]/D[j]": {"X": (50, 400), "D": (400,)},
        "Y[i,j] = X[i,j]/D[i]": {"X": (50, 7), "D": (50,)},
        "Y[i] = X[i]/D[i]": {"X": (400,), "D": (400,)},
        "Y[i] = X[i]/8": {"X": (400,)},
    }.items():
        roots = parse(text, shapes, "float32").roots()
        group = Group(tuple(stages(*roots)), tuple(roots))
        made = plan(group, dense(group))
        assert made is not None
        assert "divided" not in {getattr(value, "word", "") for value in made.values}, text
