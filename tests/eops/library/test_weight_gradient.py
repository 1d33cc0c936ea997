"""Convolutions with large kernels as weight gradients: equal to the library's convolution."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch
from torch.nn import functional

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.eops.back_ends.window_products import _summed
from einderive.eops.cpu_kernels.products.strided import added, kernel_for
from einderive.eops.library import weight_gradient, window_products
from einderive.eops.library.conv import CONVOLUTIONS as CONVOLUTION_OPERATORS
from einderive.eops.library.convolve import TRANSPOSED, Windows
from einderive.eops.library.weight_gradient import Slid
from einderive.eops.library.window_products import by_products, products_by
from einderive.ta.ir.operator import Binding
from tests.amount import first

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


@pytest.mark.parametrize("seed", first(1, range(2)))
def test_sums_of_products_are_equal_to_the_convolution(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors lie along the rows, across the outputs or across the images; tensors without vectors
    are copied."""
    monkeypatch.setattr(weight_gradient, "LARGE", 0.01)
    monkeypatch.setattr(window_products, "LEAST_WORK", 1)
    draw = random.Random(seed)
    compared = Counter[int]()
    for _ in range(36):
        dimensions = draw.randint(1, 3)
        kernel, stride, padding, dilation = (
            [draw.randint(least, most) for _ in range(dimensions)]
            for least, most in ((1, 4), (1, 3), (0, 4), (1, 3))
        )
        kernel[-1] = draw.randint(16, 40)
        reach = [d * (r - 1) + 1 - 2 * p for d, r, p in zip(dilation, kernel, padding, strict=True)]
        extents = [max(1, least + draw.randint(0, 6)) for least in reach]
        groups, inner = draw.randint(1, 3), draw.randint(1, 3)
        outer, count = (draw.choice([1, 3, 4, 8, 16, 24]) for _ in range(2))
        dtype = draw.choice([torch.float32, torch.float64])
        images = torch.randn(count, groups * inner, *extents, dtype=dtype)
        weights = torch.randn(groups * outer, inner, *kernel, dtype=dtype)
        if draw.random() < 0.5:
            images = images.movedim(0, -1).contiguous().movedim(-1, 0)
        if draw.random() < 0.5:
            weights = weights.movedim(0, -1).contiguous().movedim(-1, 0)
        slid = Slid(stride, padding, dilation, groups)
        outputs = slid.outputs(images, weights)
        if outputs is None:
            continue
        with products_by(_summed):
            form = by_products(slid, images, weights, outputs)
        if form is None:
            continue
        compared[dimensions] += 1
        call = CONVOLUTIONS[dimensions]
        wanted = call(images.double(), weights.double(), None, stride, padding, dilation, groups)
        off = 1e-5 if dtype is torch.float32 else 1e-13
        torch.testing.assert_close(form().double(), wanted, rtol=off, atol=10 * off)
    assert min(compared[n] for n in CONVOLUTIONS) > 0


@pytest.mark.parametrize(("x_step", "g_step"), [(2, 1), (1, 3), (4, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("places", [16, 37, 150])
def test_vectors_of_numbers_that_lie_apart(
    x_step: int, g_step: int, dtype: torch.dtype, places: int
) -> None:
    """Nothing between them, before the first or after the last counts, also where it is NaN."""
    x, g = (
        torch.full((2, 5, 3 + (places - 1) * step + 3), torch.nan, dtype=dtype)
        for step in (x_step, g_step)
    )
    x[..., 3:-2:x_step], g[..., 3:-2:g_step] = torch.randn(2, 5, places), torch.randn(2, 5, places)
    x, g = x[..., 3:-2:x_step].transpose(0, 1), g[..., 3:-2:g_step].transpose(0, 1)
    x, g = x.unsqueeze(0), g.unsqueeze(0)
    kernel = kernel_for(x, g, 1)
    assert kernel is not None
    assert kernel.form.along
    assert kernel.form.places == (places, x_step, g_step)
    found = added(kernel(x, g)[0], x, g, 1)
    wanted = torch.einsum("pxiq,pgjq->pxigj", x.double(), g.double()).to(dtype)
    torch.testing.assert_close(found, wanted)


def test_full_vectors_of_neighbours_come_before_numbers_that_lie_apart() -> None:
    """And these before vectors that fill a part of the lanes."""
    windows = torch.randn(1, 300).as_strided((1, 4, 64), (300, 1, 2))
    neighbours = torch.randn(1, 64, 16).transpose(1, 2)
    one, other = kernel_for(windows, windows, 1), kernel_for(windows, neighbours, 1)
    assert one is not None
    assert one.form.along
    assert other is not None
    assert not other.form.along
    assert other.form.g_lanes == 16


def test_long_sums_lose_no_digits() -> None:
    images, slopes = (1000 + torch.randn(2, 2, 300, 300) for _ in range(2))
    slid = Slid((1, 1), (1, 1), (1, 1), 1)
    images, slopes = images.transpose(0, 1), slopes.transpose(0, 1)
    outputs = slid.outputs(images, slopes)
    assert outputs is not None
    with products_by(_summed):
        form = by_products(slid, images, slopes, outputs)
    assert form is not None
    wanted = functional.conv2d(images.double(), slopes.double(), padding=1)
    assert (form() - wanted).abs().max() / wanted.abs().max() < 5e-7


def test_a_short_row_or_little_work_is_left_to_the_library() -> None:
    slid = Slid((1,), (0,), (1,), 1)
    with products_by(_summed):
        assert by_products(slid, torch.randn(4, 3, 40), torch.randn(4, 3, 38), (3,)) is None
    assert by_products(slid, torch.randn(64, 64, 4002), torch.randn(64, 64, 4000), (3,)) is None


def test_exchanged_operands_give_the_transposed_convolution() -> None:
    draw = random.Random(0)
    compared = 0
    for _ in range(60):
        dimensions, groups, inner, outer, count = (draw.randint(1, 3) for _ in range(5))
        sizes, kernel, stride, padding = (
            [draw.randint(least, most) for _ in range(dimensions)]
            for least, most in ((1, 4), (1, 9), (1, 3), (0, 3))
        )
        images = torch.randn(count, groups * inner, *sizes, dtype=torch.float64)
        weights = torch.randn(groups * inner, outer, *kernel, dtype=torch.float64)
        windows = Windows(stride, padding, [1] * dimensions, groups, transposed=True)
        ends = zip(stride, sizes, padding, kernel, strict=True)
        within = min(s * (i - 1) - 2 * p + r for s, i, p, r in ends) > 0
        if not (within and min(windows._reach(images)) >= 0):
            continue
        compared += 1
        call = TRANSPOSED[dimensions]
        wanted = call(images, weights, None, stride, padding, 0, groups)
        torch.testing.assert_close(windows._exchanged(images, weights), wanted)
    assert compared > 10


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
