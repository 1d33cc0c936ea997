"""A broadcast term is off by the same in all elements that share it, so that it cancels in them.

sum_k (A[i,k] - T[i]/n)^2        T[i] = sum_k A[i,k], n no power of two
"""

from __future__ import annotations

from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.torch_views.stage import lower_all


def computed(text: str, **given: torch.Tensor) -> torch.Tensor:
    shapes: dict[str, Any] = {name: tuple(value.shape) for name, value in given.items()}
    program = ed.parse(text, **shapes)
    (root,) = program.roots()
    return lower_all(root)({tensor: given[tensor.name] for tensor in program.inputs})


@pytest.mark.parametrize("count", [3, 5, 11, 37])
@pytest.mark.parametrize("deviation", ["A[i,k] - T[i]/{n}", "T[i]/{n} - A[i,k]"])
def test_a_variance_with_its_mean_in_the_sum(deviation: str, count: int) -> None:
    generator = torch.Generator().manual_seed(count)
    data = 1 + 1e-3 * torch.randn(600, count, generator=generator)
    wanted = data.to(torch.float64).var(1, unbiased=False)
    deviation = deviation.format(n=count)
    found = computed(f"T[i] = sum[k](A[i,k]); Y[i] = sum[k](({deviation})^2)/{count}", A=data)
    square = (2 * torch.finfo(torch.float32).eps) ** 2  # what the mean's own roundings leave
    assert torch.allclose(found.to(torch.float64), wanted, rtol=2e-6, atol=square)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,k] = A[i,k] - u[i]/5", {"A": (7, 37), "u": (7,)}),
        ("Y[i,k] = A[i,k] - u[k]/5", {"A": (7, 37), "u": (37,)}),
        ("Y[i,k] = A[i,k] + w/3 - u[k]/5", {"A": (7, 37), "u": (37,), "w": ()}),
        ("Y[i,k] = v[i]/7 - u[k]/5", {"v": (37,), "u": (7,)}),
    ],
)
def test_equal_elements_give_equal_results_wherever_they_stand(
    text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        numbers = {name: torch.randn((), generator=generator) for name in shapes}
        given = {name: numbers[name].repeat(shape) for name, shape in shapes.items()}
        assert len(set(computed(text, **given).flatten().tolist())) == 1
