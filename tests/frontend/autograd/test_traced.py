"""Compiled functions in code that torch traces, and in other processes."""

from __future__ import annotations

import io
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.library import opcheck
from torch.utils.data import DataLoader, Dataset

import einderive as ed
from einderive.frontend.compile.rebuilt import function_of
from einderive.ta.errors import RecordError
from tests.amount import first
from tests.frontend.autograd.test_node import LAYER, QUICK, SHAPES, agrees, operands, plain

Compiled = ed.CompiledFunction
SQUARES = "Y[b] = sum[i](X[b,i]^2*w[i])"


@pytest.fixture(scope="module")
def layer() -> Compiled:
    return ed.compile(LAYER, dtypes="float64", **QUICK, **SHAPES)


@pytest.fixture(autouse=True)
def fresh() -> None:
    torch.compiler.reset()


def around(function: Any) -> Any:
    return lambda x, w, c: function(x.sin(), c=c, W=w).sum(0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.filterwarnings("ignore")
def test_one_graph_with_gradients(layer: Compiled, backend: str) -> None:
    traced = torch.compile(around(layer), backend=backend, fullgraph=True)
    given = operands()
    agrees(traced, lambda x, w, c: plain(x.sin(), w, c).sum(0), given, given)
    with torch.no_grad():
        torch.testing.assert_close(traced(*given), plain(given[0].sin(), *given[1:]).sum(0))


@pytest.mark.filterwarnings("ignore")
def test_the_graph_holds_one_call(layer: Compiled) -> None:
    graphs: list[torch.fx.GraphModule] = []

    def backend(module: torch.fx.GraphModule, example: list[torch.Tensor]) -> object:
        graphs.append(module)
        return module.forward

    torch.compile(around(layer), backend=backend, fullgraph=True, dynamic=True)(*operands())
    targets = [str(node.target) for node in graphs[0].graph.nodes if node.op == "call_function"]
    assert [target for target in targets if "einderive" in target] == ["einderive.formula"]


@pytest.mark.filterwarnings("ignore")
def test_a_map_in_one_graph(layer: Compiled) -> None:
    x, w, c = operands((5, 4, 3), (2, 3), (2,), requires=False)
    mapped = torch.compile(torch.func.vmap(layer, (0, None, None)), backend="eager", fullgraph=True)
    torch.testing.assert_close(mapped(x, w, c), plain(x, w, c))


def test_torch_finds_nothing_wrong_with_the_operator(layer: Compiled) -> None:
    given = operands()
    text = layer._operator_text()
    found = opcheck(torch.ops.einderive.formula.default, (given, text))
    assert set(found.values()) == {"SUCCESS"}
    with pytest.raises(ed.EinderiveError, match="shape"):
        torch.ops.einderive.formula([given[0][:3], *given[1:]], text)


class Layer(torch.nn.Module):
    def __init__(self, function: Compiled) -> None:
        super().__init__()
        self.function = function
        self.weight, self.bias = map(torch.nn.Parameter, operands(requires=False)[1:])

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x, self.weight, self.bias)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_export_and_back(layer: Compiled, strict: bool) -> None:
    x = operands(requires=False)[0]
    module, file = Layer(layer), io.BytesIO()
    torch.export.save(torch.export.export(module, (x,), strict=strict), file)
    file.seek(0)
    found = torch.export.load(file).module()
    torch.testing.assert_close(found(x), plain(x, module.weight, module.bias))


def test_a_module_is_saved_whole(layer: Compiled) -> None:
    module, file = Layer(layer), io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    found = torch.load(file, weights_only=False)
    x = operands(requires=False)[0]
    torch.testing.assert_close(found(x), module(x))


def test_a_text_that_is_none(layer: Compiled) -> None:
    known = function_of(layer._operator_text())  # this one, or one of the same text made before
    assert known is function_of(layer._operator_text())
    assert (known.text, known._operator_text()) == (layer.text, layer._operator_text())
    for text in ("", "{}", "[1]", layer.text.replace('"outputs": ["Y"]', '"outputs": ["Z"]')):
        with pytest.raises(RecordError):
            function_of(text)


class Items(Dataset[torch.Tensor]):
    def __init__(self, function: Compiled) -> None:
        self.function, self.given = function, operands(requires=False)

    def __len__(self) -> int:
        return 4

    def __getitem__(self, item: int) -> Any:
        x, w, c = self.given
        return self.function(x + item, w, c)


def test_workers_of_a_data_loader(layer: Compiled) -> None:
    items = Items(layer)
    expected = torch.stack([items[k] for k in range(4)])  # called here before, and there again
    loader = DataLoader(items, batch_size=2, num_workers=1, multiprocessing_context="fork")
    torch.testing.assert_close(torch.cat(list(loader)), expected)


@pytest.mark.campaign
@pytest.mark.parametrize("dynamic", first(1, [True, None, False]))
@pytest.mark.filterwarnings("ignore")
def test_other_sizes_are_traced_in_one_graph(dynamic: bool | None) -> None:
    """Each with guards on its sizes, also where torch would keep them as symbols."""
    f = ed.compile(SQUARES, X=("n", 3), w=(3,), n=4, dtypes="float64", **QUICK)
    layer = ed.nn.Formula(SQUARES, w=(3,), dtype=torch.float64, options=QUICK)

    def both(x: torch.Tensor, w: torch.Tensor) -> Any:
        return f(x.sin(), w) + layer(x.sin())

    traced = torch.compile(both, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    for size in (4, 6, 1) if dynamic else (4, 6, 7, 1, 6):
        given = operands((size, 3), (3,))
        agrees(traced, lambda x, w: x.sin() ** 2 @ (w + layer.w), given, given)


@pytest.mark.filterwarnings("ignore")
def test_fixed_sizes_are_guarded(layer: Compiled) -> None:
    traced = torch.compile(layer, backend="eager", fullgraph=True, dynamic=True)
    given = operands()
    torch.testing.assert_close(traced(*given), plain(*given))
    with pytest.raises(Exception, match="shape"):
        traced(given[0][:3], *given[1:])


@pytest.mark.filterwarnings("ignore")
def test_other_sizes_have_gradients() -> None:
    f = ed.compile(SQUARES, X=("n", 3), w=(3,), n=4, dtypes="float64", **QUICK)
    for size in (4, 6):
        given = operands((size, 3), (3,))
        agrees(f, lambda x, w: x**2 @ w, given, given)


def test_tensors_without_memory(layer: Compiled) -> None:
    """They end the process where a kernel reads their memory."""
    mode = FakeTensorMode()
    given = [mode.from_tensor(operand) for operand in operands()]
    layer(*operands())
    for found in (layer(*given), layer(*given[:2], c=given[2])):
        assert type(found) is type(given[0])
        assert found.shape == layer(*operands()).shape
    with mode:
        assert type(layer(*given)) is type(given[0])
    with pytest.raises(ed.EinderiveError, match="is missing"):
        layer(*given[:2])
    with pytest.raises(ed.EinderiveError, match="has shape"):
        layer(given[0][:1], *given[1:])


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.filterwarnings("ignore")
def test_a_graph_of_operators_holds_no_results(layer: Compiled, mode: Any) -> None:
    given = [operand.detach() for operand in operands()]
    others = [operand + 1 for operand in given]
    for _ in range(3):  # the calls after the first do without binding
        layer(*given)
    graph = make_fx(layer, tracing_mode=mode)(*given)
    assert "einderive.formula" in graph.code
    torch.testing.assert_close(graph(*others), layer(*others))
