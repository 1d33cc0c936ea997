"""Convolutions with large kernels as weight gradients: equal to the library's convolution."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn import functional

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.eops.library import weight_gradient
from einderive.eops.library.conv import CONVOLUTIONS as CONVOLUTION_OPERATORS
from einderive.eops.library.weight_gradient import Slid
from einderive.ta.ir.operator import Binding

CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_the_convolution(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in parts, with strides, borders, dilations and groups."""
    monkeypatch.setattr(weight_gradient, "LARGE", 0.01)
    monkeypatch.setattr(weight_gradient, "MOST_SUMMED", 20)
    draw = random.Random(seed)
    compared = 0
    for _ in range(100):
        dimensions = draw.randint(1, 3)
        kernel, stride, padding, dilation = (
            [draw.randint(least, most) for _ in range(dimensions)]
            for least, most in ((1, 6), (1, 3), (0, 4), (1, 3))
        )
        reach = [d * (r - 1) + 1 - 2 * p for d, r, p in zip(dilation, kernel, padding, strict=True)]
        extents = [max(1, least + draw.randint(0, 6)) for least in reach]
        groups, inner, outer, count = (draw.randint(1, 3) for _ in range(4))
        images = torch.randn(count, groups * inner, *extents, dtype=torch.float64)
        weights = torch.randn(groups * outer, inner, *kernel, dtype=torch.float64)
        slid = Slid(stride, padding, dilation, groups)
        outputs = slid.outputs(images, weights)
        if outputs is None:
            continue
        compared += 1
        call = CONVOLUTIONS[dimensions]
        wanted = call(images, weights, None, stride, padding, dilation, groups)
        torch.testing.assert_close(slid(images, weights, outputs), wanted)
    assert compared > 50


def test_sums_of_many_products_keep_their_digits() -> None:
    images, slopes = (1000 + torch.randn(1, 2, 300, 300) for _ in range(2))
    slid = Slid((1, 1), (1, 1), (1, 1), 1)
    images, slopes = images.transpose(0, 1), slopes.transpose(0, 1)
    outputs = slid.outputs(images, slopes)
    assert outputs == (3, 3)
    wanted = functional.conv2d(images.double(), slopes.double(), padding=1)
    error = (slid(images, slopes, outputs) - wanted).abs().max() / wanted.abs().max()
    assert error < 5e-6


@pytest.mark.parametrize("form", [0, 1])
def test_the_operator_takes_either_form(form: int, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def fastest(*_: object) -> int:
        taken.append(form)
        return form

    monkeypatch.setattr("einderive.eops.library.convolve.fastest", fastest)
    text = "W[f,c,r,s] = A[b,c,r+h-1,s+w-1]*D[b,f,h,w] where r in 0:3, s in 0:3"
    program = ed.parse(text, A=(2, 3, 9, 9), D=(2, 4, 9, 9))
    operator = CONVOLUTION_OPERATORS[1]
    binding = match(operator, program.roots()[0])
    assert isinstance(binding, Binding)
    values = torch.randn(2, 3, 9, 9), torch.randn(2, 4, 9, 9)
    found = operator.launch(binding)(dict(zip(program.inputs, values, strict=True)))
    wanted = torch.nn.grad.conv2d_weight(values[0], [4, 3, 3, 3], values[1], padding=1)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    assert taken == [form]
