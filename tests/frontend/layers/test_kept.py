"""What evaluation keeps of parameters follows them, whatever changes them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch.nn.utils import vector_to_parameters
from torch.nn.utils.parametrizations import weight_norm

import einderive as ed
from einderive.frontend.layers import written

TEXT = """
V[o,i] = exp(W[o,i])/sum[k](exp(W[o,k]))
Y[b,o] = sum[i](X[b,i]*V[o,i]) + tanh(c[o])
"""
X = torch.randn(5, 4, generator=torch.Generator().manual_seed(3))
Layer = Any


def plain(layer: Layer, x: torch.Tensor = X) -> torch.Tensor:
    return x @ torch.softmax(layer.W, 1).T + layer.c.tanh()


def follows(layer: Layer, x: torch.Tensor = X) -> None:
    """Twice: the second result may be a kept one."""
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if x.dtype.itemsize < 4 else {}
    with torch.no_grad():
        for _ in range(2):
            torch.testing.assert_close(layer(x), plain(layer, x), **tolerance)


@pytest.fixture(scope="module")
def once() -> Layer:
    layer = ed.nn.Formula(TEXT, W=(3, 4), c=(3,), options={"effort": "instant"}).eval()
    follows(layer)
    (function,) = layer._functions.values()
    assert function.run.kept  # type: ignore[attr-defined]
    return layer


@pytest.fixture
def layer(once: Layer) -> Layer:
    """A layer that keeps results; its functions are compiled."""
    made = copy.deepcopy(once)
    made._functions.update(once._functions)
    follows(made)
    return made


def drawn(layer: Layer) -> dict[str, torch.Tensor]:
    return {name: torch.randn_like(value) for name, value in layer.state_dict().items()}


def by_load(layer: Layer) -> None:
    layer.load_state_dict(drawn(layer))


def by_assignment(layer: Layer) -> None:
    layer.load_state_dict(drawn(layer), assign=True)


def by_data(layer: Layer) -> None:
    layer.W.data.add_(torch.randn(3, 4))


def by_new_data(layer: Layer) -> None:
    layer.W.data = torch.randn(3, 4)


def by_array(layer: Layer) -> None:
    layer.W.detach().numpy()[0, 0] = 9


def by_index(layer: Layer) -> None:
    with torch.no_grad():
        layer.W[0, 0] = 5


def by_view(layer: Layer) -> None:
    with torch.no_grad():
        layer.W.T[0].fill_(1)
        layer.W.view(-1)[3] = 4


def by_set(layer: Layer) -> None:
    with torch.no_grad():
        layer.W.set_(torch.randn(3, 4))


def by_out(layer: Layer) -> None:
    with torch.no_grad():
        torch.add(layer.W, torch.randn(3, 4), out=layer.W)
        torch._foreach_mul_([layer.c], 2.0)


def by_new_parameter(layer: Layer) -> None:
    layer.W = torch.nn.Parameter(torch.randn(3, 4))


def by_swap(layer: Layer) -> None:
    torch.utils.swap_tensors(layer.W, torch.nn.Parameter(torch.randn(3, 4)))


def by_vector(layer: Layer) -> None:
    vector_to_parameters(torch.randn(15), layer.parameters())


def by_init(layer: Layer) -> None:
    torch.nn.init.normal_(layer.W)
    layer.reset_parameters()


def by_state(layer: Layer) -> None:
    for value in layer.state_dict().values():
        value.mul_(3)


CHANGES: list[Callable[[Layer], None]] = [
    by_load, by_assignment, by_data, by_new_data, by_array, by_index, by_view, by_set, by_out,
    by_new_parameter, by_swap, by_vector, by_init, by_state,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changes(layer: Layer, change: Callable[[Layer], None]) -> None:
    before = plain(layer)
    for _ in range(2):
        change(layer)
        follows(layer)
    assert not torch.equal(before, plain(layer))


def optimizers() -> Iterator[tuple[Any, dict[str, Any]]]:
    for options in ({}, {"foreach": True}, {"fused": True}):
        yield torch.optim.Adam, {"lr": 0.5, **options}
        yield torch.optim.SGD, {"lr": 0.5, **options}


@pytest.mark.parametrize("switched", [False, True])
@pytest.mark.parametrize(("optimizer", "options"), [*optimizers()])
def test_steps_of_optimizers(
    layer: Layer, optimizer: Any, options: dict[str, Any], switched: bool
) -> None:
    steps = optimizer(layer.parameters(), **options)
    for _ in range(2):
        layer.train(switched)
        steps.zero_grad()
        plain(layer).square().sum().backward()
        steps.step()
        layer.eval()
        follows(layer)


def test_copies_are_apart(layer: Layer) -> None:
    shallow = copy.copy(layer)
    copies = copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))
    by_index(layer)
    shallow.W = torch.nn.Parameter(torch.zeros(3, 4))
    for one in (layer, shallow, layer, *copies, layer):
        one._functions.update(layer._functions)
        follows(one)


def test_types_and_devices(layer: Layer) -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float32):
        layer.to(dtype)
        by_index(layer)
        follows(layer, X.to(dtype))
    with torch.device("meta"):
        other: Layer = ed.nn.Formula(TEXT, W=(3, 4), c=(3,), options={"effort": "instant"})
    other = other.to_empty(device="cpu").eval()
    other.reset_parameters()
    other._functions.update(layer._functions)
    follows(other)


def test_inference_mode(layer: Layer) -> None:
    with torch.inference_mode():
        torch.testing.assert_close(layer(X), plain(layer))
    by_index(layer)
    with torch.inference_mode():
        torch.testing.assert_close(layer(X), plain(layer))
        made = copy.deepcopy(layer)  # its parameters are tensors of inference mode
        made._functions.update(layer._functions)
        for _ in range(2):
            made.W.mul_(2)
            torch.testing.assert_close(made(X), plain(made))


def test_other_parameters_for_one_call(layer: Layer) -> None:
    given = drawn(layer)
    with torch.no_grad():
        found = torch.func.functional_call(layer, given, (X,))
        expected = X @ torch.softmax(given["W"], 1).T + given["c"].tanh()
        torch.testing.assert_close(found, expected)
    follows(layer)


@pytest.mark.campaign
def test_models_of_an_ensemble() -> None:
    layer = ed.nn.Formula(TEXT, W=(3, 4), c=(3,), options={"effort": "instant"}).eval()
    many = {"W": torch.randn(6, 3, 4), "c": torch.randn(6, 3)}

    def call(given: dict[str, torch.Tensor]) -> Any:
        return torch.func.functional_call(layer, given, (X,))

    with torch.no_grad():  # compiled within a map
        found = torch.func.vmap(call)(many)
    expected = [
        X @ torch.softmax(w, 1).T + c.tanh() for w, c in zip(many["W"], many["c"], strict=True)
    ]
    torch.testing.assert_close(found, torch.stack(expected))
    slopes = torch.func.grad(lambda given: call(given).square().sum())(layer.state_dict())
    loss = plain(layer).square().sum()
    torch.testing.assert_close([*slopes.values()], [*torch.autograd.grad(loss, [layer.W, layer.c])])
    follows(layer)


@pytest.mark.campaign
def test_parameters_that_are_computed() -> None:
    layer: Layer = ed.nn.Formula(TEXT, W=(3, 4), c=(3,), options={"effort": "instant"})
    weight_norm(layer, "W")
    torch.testing.assert_close(layer(X), plain(layer))
    layer(X).square().sum().backward()
    assert layer.parametrizations.W.original0.grad is not None
    layer.eval()
    follows(layer)
    with torch.no_grad():
        layer.parametrizations.W.original0.mul_(2)
    follows(layer)


def test_averages_of_models(layer: Layer) -> None:
    average: Any = torch.optim.swa_utils.AveragedModel(layer).eval()
    average.module._functions.update(layer._functions)
    for _ in range(2):
        by_index(layer)
        average.update_parameters(layer)
        with torch.no_grad():
            torch.testing.assert_close(average(X), plain(average.module))


def test_threads(layer: Layer) -> None:
    with ThreadPoolExecutor(4) as threads:
        for result in threads.map(lambda _: follows(layer), range(20)):
            assert result is None


def test_large_parameters_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "MOST", 8)
    forgotten: list[int] = []
    monkeypatch.setattr(written, "forget", lambda: forgotten.append(1))
    parameters = {
        "W": torch.nn.Parameter(torch.zeros(7, 5)),
        "z": torch.zeros(2, dtype=torch.cfloat),
    }
    seen = written.Written()
    for expected, write in enumerate(
        (
            lambda: None,
            lambda: parameters["W"].data.mul_(-1),  # -0.0 is not 0.0
            lambda: parameters["z"].data.add_(1),
            lambda: parameters["W"].data.fill_(float("nan")),
        ),
        1,
    ):
        write()
        for _ in range(2):
            seen.look(parameters)
        assert len(forgotten) == expected + 1, expected
