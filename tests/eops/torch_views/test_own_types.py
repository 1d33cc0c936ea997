"""Operands of a comparison have the values that stages of their own would give them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all
from einderive.frontend.accuracy.written import written
from einderive.ta.exact.interp import input_tensors
from einderive.ta.notation.parse import parse

LINES = {
    "argmax[j](W[j]+1)": lambda w, u: (w + 1).argmax(),
    "argmin[j](exp(W[j])*W[j])": lambda w, u: (w.float().exp() * w.float()).to(w.dtype).argmin(),
    "argmax[j](W[j]*U[j])": lambda w, u: (w * u).argmax(),
    "sum[k](where(W[k]*3 >= max[j](W[j]*3), 1, 0))": lambda w, u: (w * 3 == (w * 3).max()).sum(),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("text", LINES)
def test_a_maximum_that_a_stage_computed_is_found_again(text: str, dtype: str) -> None:
    """As torch finds it, whose operations are rounded to the type as well."""
    types = {"W": dtype, "U": "uint8"}
    generator = torch.Generator().manual_seed(0)
    w = (2 * torch.randn(60, generator=generator)).to(getattr(torch, dtype))
    u = torch.randint(0, 200, (60,), generator=generator).to(torch.uint8)
    shapes = {name: (60,) for name in "WU" if f"{name}[" in text}
    known = {name: types[name] for name in shapes}
    (root,) = parse(f"P = {text}", shapes, dtypes=known).roots()
    given = {tensor: {"W": w, "U": u}[tensor.name] for tensor in input_tensors(root)}
    expected = int(LINES[text](w, u))
    assert int(lower_all(root)(given)) == expected
    (as_written,) = written([root])(given)
    if "exp" not in text:  # whose product is rounded twice there
        assert int(as_written) == expected
    assert 0 <= int(as_written) < 60


@pytest.mark.parametrize("effort", ["instant", "normal"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_public_call_gives_a_place(dtype: str, effort: str) -> None:
    text = "P[i] = argmax[j](W[j]+1) where i in 0:3, j in 0:60"
    found = ed.compile(text, W=(60,), dtypes=dtype, effort=effort, seconds=0.01)  # type: ignore[arg-type]
    w = (2 * torch.randn(60, generator=torch.Generator().manual_seed(1))).to(getattr(torch, dtype))
    assert found(w).tolist() == [int((w + 1).argmax())] * 3


@pytest.mark.parametrize("effort", ["instant", "normal"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("exp(W[j]/7)", lambda w: w),
        ("sqrt(abs(W[j]) + 1)", lambda w: w.abs()),
        ("W[j]*0.1", lambda w: w),
        ("W[j]*W[j]", lambda w: w * w),
    ],
)
def test_the_place_of_what_is_computed_from_integers(
    text: str, line: Callable[[torch.Tensor], torch.Tensor], effort: str
) -> None:
    text = f"P[i] = argmax[j]({text}) where i in 0:3, j in 0:60"
    found = ed.compile(text, W=(60,), dtypes="int64", effort=effort, seconds=0.01)  # type: ignore[arg-type]
    w = torch.randint(-50, 50, (60,), generator=torch.Generator().manual_seed(0))
    assert found(w).tolist() == [int(line(w).argmax())] * 3


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_what_leaves_integers_has_the_floating_type_of_the_program(dtype: str) -> None:
    """The maximum too: both are in the type of A."""
    text = "P = argmax[j](sqrt(W[j])); Y[i] = A[i] + P[]"
    found = ed.compile(
        text, W=(60,), A=(4,), dtypes={"W": "uint8", "A": dtype}, effort="instant", seconds=0.01
    )
    w = torch.arange(60).sub(23).abs().to(torch.uint8)
    a = torch.zeros(4, dtype=getattr(torch, dtype))
    assert found(w, a).tolist() == [59.0] * 4 or found(a, w).tolist() == [59.0] * 4


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
def test_integers_with_a_fill_that_is_none_are_compared(dtype: str) -> None:
    text = "Y[i] = X{fill=1/2}[i-1] < 1 where i in 0:6; "
    text += "P[i] = where(X{fill=1/2}[i+2], i, -i) where i in 0:5"
    found = ed.compile(text, X=(5,), dtypes=dtype, effort="instant", seconds=0.01)
    y, p = found(torch.tensor([0, 1, 1, 0, 1]).to(getattr(torch, dtype)))
    assert y.tolist() == [True, True, False, False, True, False]
    assert p.tolist() == [0, -1, 2, 3, 4]
