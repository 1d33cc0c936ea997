"""Functions in kernels that read and write half types alone: five digits, fewer operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from einderive.eops.triton_kernels.emit_triton import emit
from einderive.eops.triton_kernels.plan import plan
from einderive.eops.triton_kernels.tuning.operations import operations_of
from einderive.ta.functions import FUNCTIONS
from tests import prepared
from tests.amount import CAMPAIGN
from tests.eops import short_functions_runner as runner

MOST = 0.5 + 1 / 16
"""Units in the last place of float16: half of one is the rounding of the result."""
DIGITS = 2.0**-15
"""Half types have 11 bits at most, so a function is exact to a sixteenth of a unit."""


def require_exact(step: int, folder: Path) -> None:
    told = prepared.interpreted(runner.__file__, str(step), EINDERIVE_CACHE=folder)
    records = [*map(json.loads, told.splitlines())]
    assert [record["name"] for record in records] == [*runner.NAMES]
    for record in records:
        assert record["dtype"] == "torch.float16"
        assert record["same_nan"], record
        assert record["same_infinities"], record
        assert record["units"] <= MOST, record


def test_numbers_of_float16(tmp_path: Path) -> None:
    """Also subnormal ones, infinities and NaN, in Triton's interpreter."""
    require_exact(31, tmp_path)


@CAMPAIGN
def test_every_number_of_float16(tmp_path: Path) -> None:
    require_exact(1, tmp_path)


def _float32(name: str) -> Callable[[Any], Any]:
    """The helper's short text on NumPy's float32."""
    helper = FUNCTIONS[name].triton_helper
    assert helper is not None
    words = {"where": np.where, "abs": np.abs, "exp2": np.exp2}
    space: dict[str, Any] = {"tl": SimpleNamespace(**words)}
    space["triton"] = SimpleNamespace(jit=lambda function: function)
    exec(helper.triton("short"), space)
    function: Callable[[Any], Any] = space[f"_{name}"]
    return function


@pytest.mark.parametrize("name", ["exp", "erfc"])
def test_every_number_of_bfloat16(name: str) -> None:
    """Results that are no subnormal numbers, which a GPU may give as 0."""
    x = (np.arange(runner.EVERY, dtype=np.uint32) << 16).view(np.float32)
    with np.errstate(all="ignore"):
        exact = np.asarray(FUNCTIONS[name].real(x.astype(np.float64)))
        found = _float32(name)(x)
    assert found.dtype == np.float32
    assert np.array_equal(np.isnan(exact), np.isnan(found))
    usual = (np.abs(exact) < 2.0**127) & (np.abs(exact) >= 2.0**-126)
    assert np.max(np.abs(found[usual] / exact[usual] - 1)) < DIGITS
    assert np.all(found[np.abs(exact) < 2.0**-127] < 2.0**-126)


@pytest.mark.parametrize("dtypes", [("float16", "float32"), ("float32", "float16")])
def test_what_reads_or_writes_other_types_keeps_all_digits(dtypes: tuple[str, str]) -> None:
    scope = runner.scope_of("Y[i] = exp(A[i])*B[i]/A[i]", 64)
    assert plan(scope, list(dtypes)).precision == "narrow"
    assert "tl.fma" in emit(plan(scope, list(dtypes)))
    assert "tl.div_rn" in emit(plan(scope, list(dtypes)))
    assert plan(scope, ["float16", "float16"], "float32").precision == "narrow"
    assert plan(scope, ["float64", "float16"]).precision == "wide"


def test_half_types_take_fewer_operations() -> None:
    scope = runner.scope_of("Y[i] = exp(A[i])*B[i]/A[i]", 64)
    text = emit(plan(scope, ["float16", "bfloat16"], "bfloat16"))
    assert "tl.fma" not in text
    assert "tl.div_rn" not in text
    for name in ("exp", "gelu", "silu"):
        assert operations_of(name, "short") < 0.6 * operations_of(name, "narrow")


def test_a_kernel_has_the_helpers_that_it_calls() -> None:
    scope = runner.scope_of("Y[i] = gelu(A[i])", 64)
    short, narrow = (emit(plan(scope, [dtype])) for dtype in ("float16", "float32"))
    assert "def _erfc" in short
    assert "def _exp" not in short
    assert narrow.index("def _exp") < narrow.index("def _erfc") < narrow.index("def eop")


@pytest.mark.parametrize(
    "text", ["Y[i] = floor(exp(A[i]))", "Y[i] = A[i]/B[i] >= 1", "Y[i] = floor(sqrt(A[i]))"]
)
def test_jumps_are_decided_by_all_digits(text: str) -> None:
    scope = runner.scope_of(text, 64)
    dtypes = ["float16"] * (1 + ("B[" in text))
    assert plan(scope, dtypes, "float16").precision == "narrow"
