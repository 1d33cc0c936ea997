"""What was compiled before, recalled without the modules that derive: only its calls of torch."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.api import optimize
from einderive.frontend.call.written import Operand, Written, flat_of
from einderive.frontend.compile.direct import CALL, CHOICE, Direct, key_of
from einderive.frontend.compile.options import Options
from einderive.frontend.memory.kept import store
from einderive.frontend.trial import choose
from einderive.ta.errors import OperandError

TEXT = "T[i,j] = (A[i,k]-B[j,k])^2; Y[j,i] = exp(-T[i,j]/4) + 0.5*j"
SHAPES = {"A": (9, 4), "B": (8, 4)}
OPTIONS: dict[str, Any] = {"seconds": 0.05, "budget": Budget(states=100)}


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder of this module's own, in which the formula is remembered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("memory")))
        patch.setattr(choose, "worth_compiling", lambda *_: ())  # calls of torch alone
        again()
        yield


def again() -> Any:
    return ed.compile(TEXT, **SHAPES, **OPTIONS)


def operands(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(9, 4, dtype=dtype), torch.randn(8, 4, dtype=dtype)


def wanted(a: Any, b: Any) -> torch.Tensor:
    wide = torch.as_tensor(a).double(), torch.as_tensor(b).double()
    return torch.exp(-(torch.cdist(*wide) ** 2) / 4).T + 0.5 * torch.arange(8.0)[:, None]


def close(found: Any, a: Any, b: Any) -> None:
    torch.testing.assert_close(torch.as_tensor(found).double(), wanted(a, b), rtol=1e-4, atol=1e-4)


def is_direct(function: Any) -> bool:
    return type(function) is Direct and "_whole" not in vars(function)


def test_dense_operands_need_nothing_else() -> None:
    function = again()
    a, b = operands()
    for _ in range(2):
        close(function(a, b), a, b)
        close(function(B=b, A=a), a, b)
        close(function(a, B=b), a, b)
        found = function(a.numpy(), b.numpy())
        assert type(found) is np.ndarray
        close(found, a, b)
    assert function(a, b).data_ptr() != function(a, b).data_ptr()
    assert is_direct(function)
    assert function.remembered is not None
    assert function.device == "cpu"


OTHERS: dict[str, Callable[[torch.Tensor, torch.Tensor], tuple[Any, Any]]] = {
    "strides": lambda a, b: (a.T.contiguous().T, b),
    "expanded": lambda a, b: (a[:1].expand(9, 4), b),
    "float64": lambda a, b: (a.double(), b.double()),
    "lists": lambda a, b: (a.tolist(), b.tolist()),
    "reversed": lambda a, b: (a.numpy()[::-1], b.numpy()),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_operands_are_those_of_the_whole_function(name: str) -> None:
    function = again()
    a, b = OTHERS[name](*operands())
    dense = a.copy() if isinstance(a, np.ndarray) else torch.as_tensor(a).numpy()
    close(function(a, b), dense, b)
    assert not is_direct(function)
    close(function(*operands()), *operands())


def test_errors_are_those_of_the_whole_function() -> None:
    a, _ = operands()
    with pytest.raises(OperandError, match="8 x 4"):
        again()(a, a)
    with pytest.raises(OperandError, match="B is missing"):
        again()(a)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f, a, b: f(a),
        lambda f, a, b: f(a, b, b),
        lambda f, a, b: f(a, b, C=b),
        lambda f, a, b: f(a, A=a),
        lambda f, a, b: f(a, a),
        lambda f, a, b: f(a, b.long()),
        lambda f, a, b: f(a, None),
    ],
)
def test_errors_in_traced_code_are_those_of_any_call(wrong: Any) -> None:
    a, b = operands()
    function = again()
    assert is_direct(function)
    torch.compiler.reset()
    with pytest.raises(OperandError) as traced:
        torch.compile(lambda a, b: wrong(function, a, b), backend="eager", fullgraph=True)(a, b)
    with pytest.raises(OperandError) as plain:
        wrong(again(), a, b)
    assert str(traced.value).startswith(str(plain.value))


def test_gradients_are_those_of_the_whole_function() -> None:
    a, b = operands()
    with torch.no_grad():
        function = again()
        close(function(a.requires_grad_(), b), a.detach(), b)
        assert is_direct(function)
    function(a, b).sum().backward()
    assert not is_direct(function)
    assert a.grad is not None
    inner = a.detach().requires_grad_()
    wide = -(((inner[:, None] - b) ** 2).sum(-1)) / 4
    torch.testing.assert_close(a.grad, torch.autograd.grad(torch.exp(wide).sum(), inner)[0])


def test_everything_else_belongs_to_the_whole_function() -> None:
    a, b = operands()
    function = again()
    assert isinstance(function, ed.CompiledFunction)
    assert is_direct(function)
    assert "remembered from" in str(function)
    assert not is_direct(function)
    assert function.derivation.check()
    assert function.remembered == again().remembered
    out = torch.empty(8, 9)
    assert again()(a, b, out=out) is out
    close(out, a, b)
    assert "CompiledFunction" in repr(again())


@pytest.mark.parametrize("output", ["float64", torch.float16, np.float32, torch.bfloat16])
def test_results_are_converted(output: Any) -> None:
    a, b = operands()
    first = ed.compile(TEXT, **SHAPES, **OPTIONS, output=output)
    function = ed.compile(TEXT, **SHAPES, **OPTIONS, output=output)
    tensor, array = function(a, b), function(a.numpy(), b.numpy())
    assert is_direct(function)
    assert not is_direct(first)
    for found, whole in ((tensor, first(a, b)), (array, first(a.numpy(), b.numpy()))):
        assert (type(found), found.dtype) == (type(whole), whole.dtype)
        torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(whole))


def test_in_code_that_torch_traces() -> None:
    function, (a, b) = again(), operands()
    assert is_direct(function)

    def model(x: torch.Tensor, y: torch.Tensor) -> Any:
        return function(B=y, A=x) + 1

    traced = torch.compile(model, backend="eager", fullgraph=True)
    close(traced(a, b) - 1, a, b)


def test_a_pickle_holds_the_formula() -> None:
    a, b = operands()
    close(pickle.loads(pickle.dumps(again()))(a, b), a, b)


def test_torch_s_default_type_counts() -> None:
    function, (a, b) = again(), operands()
    try:
        torch.set_default_dtype(torch.float64)
        close(function(a, b), a, b)
        assert not is_direct(function)
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_choice_that_is_gone_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimize, "search", None)  # the derivation is still there
    kept = [each for each in store().every() if each.kind in (CHOICE, CALL)]
    a, b = operands()
    for each, text in product(kept, ("{}", "[]")):
        assert store().put(each.kind, each.key, text)
        close(again()(a, b), a, b)
        assert is_direct(again())


def options(**given: Any) -> Options:
    fields = dict.fromkeys(Options.__slots__) | {"seconds": 1.0} | given
    return Options(**fields)


def test_another_call_has_another_key() -> None:
    calls: list[tuple[str, dict[str, Any], Options]] = [
        ("Y[i] = A[i]", {"A": (3,)}, options()),
        ("Y[p] = A[p]", {"A": (3,)}, options()),
        ("Y[i] = A[i]", {"A": (4,)}, options()),
        ("Y[i] = A[i]", {"A": (3,)}, options(dtypes="float64")),
        ("Y[i] = A[i]", {"A": (3,)}, options(dtypes={"A": torch.float64})),
        ("Y[i] = A[i]", {"A": (3,)}, options(seconds=2.0)),
        ("Y[i] = A[i]", {"A": (3,)}, options(check_assumptions=False)),
        ("Y[i] = A[i]", {"A": (3,)}, options(check_assumptions=0)),
        ("Y[i] = A[i]", {"A": torch.ones(3)}, options()),
        ("Y[i] = A[i]", {"A": torch.ones(3).double()}, options()),
        ("Y[i] = A[i]", {"A": np.ones(3)}, options()),
        ("Y[i] = A[i]", {"A": ("n",), "n": 3}, options()),
        ("Y[i] = A[i]", {"A": (3,)}, options(output="float64")),
        ("Y[i] = A[i]", {"A": (3,)}, options(output="float16")),
    ]
    keys = [key_of(*call) for call in calls]
    assert None not in keys
    assert len({*keys}) == len(calls)
    assert key_of(*calls[0]) == keys[0]
    for shape in (3.5j, object(), [object()], np.ma.ones(3)):
        assert key_of("Y[i] = A[i]", {"A": shape}, options()) is None
    assert key_of("Y[i] = A[i]", {"A": (3,)}, options(target="cuda")) is None


def test_lines_are_guarded_by_shape_type_and_strides() -> None:
    written = Written(
        ("v1 = torch.tensor([2.0])",), ("v2 = torch.mul(v0, v1)", "return (v2, )"), (True,)
    )
    expected = (Operand("A", (2, 3), "float32"),)
    dense = torch.ones(2, 3)
    assert torch.equal(flat_of(written, expected, [dense])(dense), 2 * dense)
    others = [
        torch.ones(3, 2),
        dense.double(),
        torch.ones(3, 2).T,
        dense.to_sparse(),
        [[1.0] * 3] * 2,
    ]
    for other in (*others, torch.ones(2, 3, requires_grad=True), dense.numpy()[:, ::-1]):
        assert flat_of(written, expected, [other]) is None
    assert flat_of(written, expected, [dense, dense]) is None
    with torch.autocast("cpu"):
        assert flat_of(written, expected, [dense]) is None
