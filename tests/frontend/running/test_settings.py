"""What is compiled while torch follows what its thread does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import pytest
import torch

from einderive.frontend.running.settings import unseen


def _here() -> int:
    return threading.get_ident()


@pytest.mark.parametrize("context", [nullcontext, torch.no_grad])
def test_the_thread_of_the_caller_is_used_where_torch_follows_nothing(
    context: Callable[[], AbstractContextManager[object]],
) -> None:
    with context():
        assert unseen(_here) == _here()
        assert unseen(torch.is_grad_enabled)


@pytest.mark.parametrize(
    "context",
    [
        torch.inference_mode,
        lambda: torch.autocast("cpu"),
        lambda: torch.device("meta"),
        lambda: torch.autograd.graph.save_on_cpu(),
        torch.autograd.forward_ad.dual_level,
        torch._subclasses.FakeTensorMode,
    ],
)
def test_another_thread_is_used_where_torch_follows_what_this_one_does(
    context: Callable[[], AbstractContextManager[object]],
) -> None:
    def made() -> tuple[int, str, bool]:
        return _here(), torch.ones(1).device.type, type(torch.ones(1)) is torch.Tensor

    with context():
        thread, device, plain = unseen(made)
    assert (thread == _here(), device, plain) == (False, "cpu", True)


def test_another_thread_is_used_under_a_transformation_and_in_a_backward_pass() -> None:
    found: list[int] = []

    def noted(x: torch.Tensor) -> torch.Tensor:
        found.append(unseen(_here))
        return x.sum()

    def hook(slope: torch.Tensor) -> None:
        noted(slope)

    torch.func.vmap(noted)(torch.ones(2, 3))
    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    x.sum().backward()
    assert len(found) == 2
    assert _here() not in found
