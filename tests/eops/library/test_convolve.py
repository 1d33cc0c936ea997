"""The library's convolutions as they are called, against float64."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from einderive.eops.library.convolve import PLAIN, TRANSPOSED, Windows

OPTIONS: dict[int, dict[str, Any]] = {
    1: {"stride": [2], "padding": [1], "dilation": [2]},
    2: {"stride": [2, 1], "padding": [1, 0], "dilation": [1, 2]},
    3: {"stride": [2, 1, 3], "padding": [0, 1, 0], "dilation": [1, 1, 1]},
}


def operands(dimensions: int, transposed: bool) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(dimensions)
    images = torch.randint(-3, 4, [2, 4, 7, 6, 5][: 2 + dimensions], generator=generator)
    channels = [4, 3] if transposed else [6, 2]
    weights = torch.randint(-3, 4, [*channels, 3, 2, 2][: 2 + dimensions], generator=generator)
    return images.double(), weights.double()


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_type_is_exact_on_small_integers(
    dimensions: int, transposed: bool, dtype: torch.dtype
) -> None:
    images, weights = operands(dimensions, transposed)
    options = dict(OPTIONS[dimensions])
    if transposed:
        options["dilation"] = [1] * dimensions
    wanted = (TRANSPOSED if transposed else PLAIN)[dimensions](images, weights, groups=2, **options)
    windows = Windows(**options, groups=2, transposed=transposed)
    found = windows.convolve(images.to(dtype), weights.to(dtype))
    assert found.dtype is dtype
    torch.testing.assert_close(found, wanted.to(dtype), rtol=0, atol=0)
    if dtype is torch.float32:
        beneath = windows.without_tf32(images.float(), weights.float())
        torch.testing.assert_close(beneath, found, rtol=0, atol=0)


@pytest.mark.gpu
@pytest.mark.parametrize("transposed", [False, True])
def test_float32_keeps_its_digits_on_a_gpu(transposed: bool) -> None:
    """Also with torch's default flags, under which its own convolution has 10 bits."""
    images = torch.randn(8, 64, 14, 14, dtype=torch.float64)
    weights = torch.randn(64, 64, 3, 3, dtype=torch.float64)
    options: dict[str, Any] = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
    wanted = (TRANSPOSED if transposed else PLAIN)[2](images, weights, **options)
    windows = Windows(**options, transposed=transposed)
    found = windows.convolve(images.float().cuda(), weights.float().cuda())
    off = (found.cpu().double() - wanted).abs().max() / wanted.abs().max()
    assert float(off) < 1e-5
