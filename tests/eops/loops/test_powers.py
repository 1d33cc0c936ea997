"""Powers that kernels compute by roots: as exact as a power, and equal to it at special values."""

import numpy as np
import pytest
import torch

from einderive.eops.cpu_kernels.build import build
from einderive.eops.cpu_kernels.typing import typing_of
from einderive.eops.loops.drafts.group import Group
from einderive.ta.notation.parse import parse

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 1e-40, 2.2e-26, 7e-20, 3e38)


@pytest.mark.parametrize("exponent", ["1.5", "-1.5"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_three_halves(exponent: str, dtype: torch.dtype) -> None:
    drawn = np.random.default_rng(0).lognormal(0, 8, 100_000)
    values = torch.tensor([*SPECIAL, *drawn], dtype=dtype)
    (root,) = parse(f"Y[i] = A[i]^{exponent}", {"A": (len(values),)}, str(dtype)[6:]).roots()
    group = Group.alone(root)
    typing = typing_of(group, [dtype])
    assert typing is not None
    kernel = build(group, ((1,),), typing)
    assert kernel is not None
    assert "pow" not in kernel.source
    found = kernel(values)[0].numpy()
    with np.errstate(all="ignore"):
        wide = np.power(values.numpy().astype(np.longdouble), np.longdouble(exponent))
        expected = wide.astype(found.dtype)
        ulp = np.spacing(np.abs(expected))
        off = np.abs(found.astype(np.longdouble) - wide) / ulp
    count = len(SPECIAL)
    np.testing.assert_array_equal(np.isnan(found[:count]), np.isnan(expected[:count]))
    assert np.nanmax(off[np.isfinite(expected)]) <= 2
    ends = ~np.isfinite(expected)
    np.testing.assert_array_equal(found[ends], expected[ends])
