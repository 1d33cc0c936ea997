"""The errors that are stated for the functions of CPU kernels, over many numbers of all sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from einderive.eops.cpu_kernels.functions import ERRORS, functions, largest_error
from einderive.ta.functions import FUNCTIONS
from tests.amount import CAMPAIGN
from tools.kernel_errors import COUNTS, NEAR, applied, errors, names, sample, stated

SHARE = 10
"""Of the numbers in float64, which are compared with balls: one of so many is enough."""


def test_every_function_that_rounds_has_a_stated_error() -> None:
    """But logaddexp and the remainders, whose error is one of their operands."""
    stated, known = set(ERRORS["plain"]), functions("float64")
    exact = {
        name
        for name, of in FUNCTIONS.items()
        if not of.arity or of.pieces or of.steps or of.truth or of.always_finite
    }
    of_operands = {"logaddexp", "fmod", "remainder", "floor_divide"}
    assert stated | exact | of_operands >= set(known)
    assert not stated & of_operands
    for table in ERRORS.values():
        assert stated >= set(table)


def test_the_documentation_shows_every_bound() -> None:
    page = Path(__file__).parents[3] / "docs" / "measurements" / "functions.md"
    text = page.read_text("utf-8").partition("tools.kernel_errors")[2]
    for name in names():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
        cells = row.split("|")
        assert [cells[4], cells[8]] == [f" {stated(name, dtype):.2f} " for dtype in COUNTS], name


def test_square_roots_are_rounded_correctly() -> None:
    """Of every float32 from 1 to 4, which are those of all others but for powers of two, and of
    numbers of all sizes."""
    first, last = (int(np.float32(end).view(np.int32)) for end in (1, 4))
    whole = np.random.default_rng(2).integers(-(2**31), 2**31, 1 << 20).astype(np.int32)
    for bits in (np.arange(first, last, dtype=np.int32), whole):
        x = bits.view(np.float32)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(applied("sqrt", x), np.sqrt(x))


@CAMPAIGN
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("dtype", COUNTS)
@pytest.mark.parametrize("name", names())
def test_no_error_is_larger_than_stated(name: str, dtype: str, plain: bool) -> None:
    bare = name.removesuffix(NEAR)
    given = sample(name, dtype, COUNTS[dtype] // (SHARE if dtype == "float64" else 1))
    found = errors(bare, applied(name, *given, plain=plain), *given)
    most = largest_error(bare, dtype, not plain, name.endswith(NEAR))
    assert most is not None
    worst = int(np.argmax(found))
    assert found[worst] <= most, [float(x[worst]) for x in given]


@CAMPAIGN
@pytest.mark.parametrize("name", ["exp", "expm1", "sinh", "cosh", "pow", "gelu", "erfc", "lgamma"])
def test_the_samples_reach_the_last_results(name: str) -> None:
    """Some results are the largest numbers or nearly, or subnormal ones, and some lie beyond."""
    given = sample(name, "float32", COUNTS["float32"])
    found = np.abs(applied(name, *given))
    most, tiny = np.finfo(np.float32).max, np.finfo(np.float32).tiny
    last = (found > 0.999 * most) & np.isfinite(found)
    assert last.any() or ((found > 0) & (found < tiny)).any()
    if name not in ("gelu", "erfc"):
        assert last.any()
        assert np.isinf(found).any()
