"""What is computed once from weights is given back for these weights only."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.eops.back_ends import kept_weights
from einderive.frontend.call.operands import bind
from einderive.frontend.running.execute import executable

X = torch.arange(4.0)


@pytest.fixture
def scaled() -> Callable[[torch.Tensor], torch.Tensor]:
    """`X[i]*exp(K[i])` for weights K, by a program that keeps exp(K)."""
    found = ed.derive("E[i] = exp(K[i]); Y[i] = X[i]*E[i]", X=(4,), K=(4,), weights=["K"])
    run = executable(found.unchanged, "cpu")
    assert run.kept
    return lambda weights: run(bind(found.source, (), {"X": X, "K": weights}, "cpu")[0])[0]


def expected(weights: torch.Tensor) -> torch.Tensor:
    return X * weights.exp()


def test_what_is_kept_follows_the_weights(scaled: Callable[[torch.Tensor], torch.Tensor]) -> None:
    first, second = torch.ones(4), torch.full((4,), 2.0)
    for weights in (first, second, first, first[:1].expand(4)):
        torch.testing.assert_close(scaled(weights), expected(weights))
    scaled(first)
    first.add_(1)
    torch.testing.assert_close(scaled(first), expected(first))


def test_weights_of_inference_mode_may_be_written_to(
    scaled: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    with torch.inference_mode():
        weights = torch.ones(4)
    torch.testing.assert_close(scaled(weights), expected(weights))
    with torch.inference_mode():
        weights.add_(1)
    torch.testing.assert_close(scaled(weights), expected(weights))


def test_a_call_in_between_does_not_change_what_is_given_back(
    scaled: Callable[[torch.Tensor], torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another thread's would, a call with other weights comes while states are compared."""
    mine, others = torch.ones(4), torch.full((4,), 2.0)
    interruptions = [lambda: scaled(others)]

    class State(tuple[Any, ...]):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            if interruptions:
                interruptions.pop()()
            return tuple.__eq__(self, other)

        __hash__ = tuple.__hash__

    plain = kept_weights._state
    monkeypatch.setattr(kept_weights, "_state", lambda tensor: State([plain(tensor)]))
    for _ in range(2):
        torch.testing.assert_close(scaled(mine), expected(mine))
    assert not interruptions


def test_conjugate_weights_are_other_weights() -> None:
    shapes: dict[str, Any] = {"X": (2,), "K": (2,)}
    found = ed.derive(
        "E[i] = K[i]*K[i]; Y[i] = X[i]*E[i]", weights=["K"], dtypes="complex64", **shapes
    )
    run = executable(found.unchanged, "cpu")
    ones, weights = torch.ones(2, dtype=torch.complex64), torch.tensor([1 + 2j, 3 - 1j])
    for given in (weights, weights.conj(), weights):
        (result,) = run(bind(found.source, (), {"X": ones, "K": given}, "cpu")[0])
        torch.testing.assert_close(result, (given * given).resolve_conj())
