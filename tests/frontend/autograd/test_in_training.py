"""What PyTorch users do around a training step, compared with the plain line."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import distributed
from torch.func import functional_call, grad, vmap
from torch.nn.utils import parametrizations, prune
from torch.utils.checkpoint import checkpoint

import einderive as ed
from tests.amount import sampled
from tests.frontend.autograd.test_node import LAYER, SHAPES, operands, plain

INSTANT: dict[str, Any] = {"effort": "instant", "target": "cpu"}
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def function() -> ed.CompiledFunction:
    return ed.compile(LAYER, dtypes="float64", **INSTANT, **SHAPES)


def layer() -> ed.nn.Formula:
    torch.manual_seed(0)
    return ed.nn.Formula(LAYER, W=(2, 3), c=(2,), options=INSTANT)


def alike(function: Call, what: Callable[[Call, list[torch.Tensor]], Any]) -> None:
    """Both give the same, and leave the same gradients."""
    given, others = operands(), operands()
    torch.testing.assert_close(what(function, given), what(plain, others))
    for own, other in zip(given, others, strict=True):
        torch.testing.assert_close(own.grad, other.grad)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoints(function: Call, reentrant: bool) -> None:
    def step(call: Call, given: list[torch.Tensor]) -> None:
        y = checkpoint(lambda *xs: call(*xs).sin(), *given, use_reentrant=reentrant)
        y.square().sum().backward()

    alike(function, step)


def test_hooks(function: Call) -> None:
    def step(call: Call, given: list[torch.Tensor]) -> Any:
        seen: list[Any] = []
        y = call(*given)
        y.register_hook(lambda seed: 2 * seed)
        y.retain_grad()
        y.grad_fn.register_prehook(lambda seeds: (3 * seeds[0],))
        y.grad_fn.register_hook(lambda *_: seen.append(1))
        given[1].register_post_accumulate_grad_hook(lambda p: seen.append(p.grad))
        y.square().sum().backward()
        return y.grad, seen

    alike(function, step)


def test_saved_tensors_elsewhere(function: Call) -> None:
    def step(call: Call, given: list[torch.Tensor]) -> None:
        with torch.autograd.graph.save_on_cpu():
            y = call(*given)
        y.sum().backward()

    alike(function, step)


def test_a_graph_is_kept_where_torch_is_asked_to(function: Call) -> None:
    def step(call: Call, given: list[torch.Tensor]) -> None:
        y = call(*given).sum()
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()

    alike(function, step)


@pytest.mark.parametrize("place", [0, 1])
def test_operands_that_are_changed_are_refused(function: Call, place: int) -> None:
    for call in (function, plain):
        given = operands()
        y = call(*given)
        with torch.no_grad():
            given[place].add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


SEEDS: dict[str, Callable[[], torch.Tensor]] = {
    "expanded": lambda: torch.ones(()).expand(4, 2),
    "transposed": lambda: torch.randn(2, 4).T,
    "strided": lambda: torch.randn(8, 4)[::2, ::2],
    "zeros": lambda: torch.zeros(4, 2),
    "float32": lambda: torch.randn(4, 2),
}


@pytest.mark.parametrize("name", SEEDS)
def test_gradients_of_any_layout(function: Call, name: str) -> None:
    torch.manual_seed(1)
    seed = SEEDS[name]()
    seed = seed if name == "float32" else seed.double()
    for _ in range(2):
        alike(function, lambda call, given: torch.autograd.grad(call(*given), given, seed))


def test_batches_of_any_size() -> None:
    named: dict[str, Any] = {"X": ("n", 3), "W": (2, 3), "c": (2,), "n": 4}
    f = ed.compile(LAYER, dtypes="float64", **INSTANT, **named)
    for rows in (0, 1, 5):
        x, w, c = operands((rows, 3), (2, 3), (2,))
        own = torch.autograd.grad(f(x, w, c).sum(), [x, w, c])
        torch.testing.assert_close(own, torch.autograd.grad(plain(x, w, c).sum(), [x, w, c]))
    own_layer, x = layer(), torch.randn(0, 3, requires_grad=True)
    own_layer(x).sum().backward()
    assert x.grad is not None
    assert x.grad.shape == (0, 3)
    assert not own_layer.W.grad.any()


@pytest.mark.parametrize("used", [[0], [1], [0, 1]])
def test_some_of_several_outputs(used: list[int]) -> None:
    text = "Y[i] = x[i]^2*w; Z[i] = sin(x[i]); N[i] = x[i] > 0"
    f = ed.compile(text, x=(5,), w=(), dtypes="float64", **INSTANT)
    given, others = operands((5,), ()), operands((5,), ())
    line = (others[0] ** 2 * others[1], others[0].sin(), others[0] > 0)
    for _ in range(2):
        found = f(*given)
        assert [y.requires_grad for y in found] == [y.requires_grad for y in line]
    sum(found[k].sum() for k in used).backward()
    sum(line[k].sum() for k in used).backward()
    for own, other in zip(given, others, strict=True):
        torch.testing.assert_close(own.grad, other.grad)  # None, too


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_mixed_precision(dtype: torch.dtype) -> None:
    own, last = layer(), torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD([*own.parameters(), *last.parameters()], lr=0.1)
    scaler, x = torch.amp.GradScaler("cpu"), torch.randn(4, 3)
    before = own.W.detach().clone()
    for _ in range(3):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            hidden = own(x)
            loss = last(hidden).float().square().mean()
        assert hidden.dtype is torch.float32  # its casts do not reach into the formula
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    assert own.W.grad.dtype is torch.float32
    assert not torch.equal(own.W, before)


def test_parameters_as_arguments() -> None:
    own, x = layer(), torch.randn(4, 3)
    given = {name: p.detach() for name, p in own.named_parameters()}

    def loss(parameters: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = functional_call(own, parameters, (x[None],))
        return found.square().sum()

    def line(parameters: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        return plain(x[None], parameters["W"], parameters["c"]).square().sum()

    torch.testing.assert_close(
        vmap(grad(loss), (None, 0))(given, x), vmap(grad(line), (None, 0))(given, x)
    )
    several = {name: torch.stack([p, 2 * p]) for name, p in given.items()}
    found = vmap(lambda parameters: functional_call(own, parameters, (x,)))(several)
    torch.testing.assert_close(found[1], plain(x, 2 * given["W"], 2 * given["c"]))


def test_parametrizations() -> None:
    own, pruned, x = layer(), layer(), torch.randn(4, 3)
    parametrizations.weight_norm(own, "W")
    prune.l1_unstructured(pruned, "W", amount=2)
    for each in (own, pruned):
        each(x).sum().backward()
        assert all(p.grad is not None for p in each.parameters())
        torch.testing.assert_close(each(x), plain(x, each.W, each.c))
    own.eval()
    with torch.no_grad():
        first = own(x)
        own.parametrizations.W.original0.mul_(2)
        torch.testing.assert_close(own(x), plain(x, own.W, own.c))
        assert not torch.equal(own(x), first)


def test_a_copy_during_training() -> None:
    model, x = torch.nn.Sequential(layer()), torch.randn(4, 3)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        model(x).sum().backward()
        optimizer.step()
    other = copy.deepcopy(model)
    optimizer.step()
    own: Any = other[0]
    torch.testing.assert_close(other(x), plain(x, own.W, own.c))
    before = model[0].W.grad.clone()  # type: ignore[operator, union-attr]
    other(x).sum().backward()
    torch.testing.assert_close(model[0].W.grad, before)


class Two(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = layer()
        self.second = ed.nn.Formula("Y[b] = sum[o](X[b,o]^2*w[o])", w=(2,), options=INSTANT)

    def forward(self, x: torch.Tensor) -> Any:
        return self.second(self.first(x).sin())


@sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_two_layers_in_one_graph(backend: str) -> None:
    torch.compiler.reset()
    model, x = Two(), torch.randn(4, 3)
    traced = torch.compile(model, fullgraph=True, backend=backend)
    found = []
    for call in (model, traced):
        model.zero_grad()
        call(x).sum().backward()
        found.append([p.grad for p in model.parameters()])
    torch.testing.assert_close(*found)


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    store = f"file://{tmp_path / 'store'}"
    distributed.init_process_group("gloo", init_method=store, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@sampled(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize(
    "options",
    [{}, {"static_graph": True, "gradient_as_bucket_view": True}, {"find_unused_parameters": True}],
)
def test_distributed_data_parallel(options: dict[str, bool]) -> None:
    model, x = torch.nn.Sequential(layer(), torch.nn.Linear(2, 1)), torch.randn(4, 3)
    parallel: Any = torch.nn.parallel.DistributedDataParallel(copy.deepcopy(model), **options)
    for _ in range(2):
        for each in (model, parallel):
            each.zero_grad()
            each(x).square().sum().backward()
        own = [p.grad for p in parallel.parameters()]
        torch.testing.assert_close(own, [p.grad for p in model.parameters()])
