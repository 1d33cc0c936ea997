"""Calls through flat functions against the program run stage by stage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.nn import Parameter

import einderive as ed
from einderive.eops.opaque import opaque
from einderive.frontend.accuracy.written import as_written
from einderive.frontend.call import caller
from einderive.frontend.call.caller import Caller
from einderive.frontend.running.execute import Executable, executable
from einderive.ta.errors import OperandError
from einderive.ta.ir.node import Tensor
from einderive.ta.ir.program import Program
from tests.amount import sampled

FORMULAS: dict[str, dict[str, tuple[int, ...]]] = {
    "Y[i,j] = A[i,k]*B[k,j]": {"A": (3, 4), "B": (4, 5)},
    "Y[i] = A[i,k]*B[k]*3 + C[i]": {"A": (3, 4), "B": (4,), "C": (3,)},
    "Y[b,i,j] = A[b,i,k]*B[b,j,k]": {"A": (2, 3, 4), "B": (2, 5, 4)},
    "Y[i,j] = (A[i,k]-B[j,k])^2": {"A": (3, 4), "B": (5, 4)},
    "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:6, w in 0:5": {
        "A": (2, 3, 6, 5),
        "K": (4, 3, 3, 3),
    },
    "Y[i,j] = A[j,i]": {"A": (3, 4)},
    "Y[i] = where(i < 3, A[i], B[i+1])": {"A": (6,), "B": (6,)},
    "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j]-M[i]); D[i] = E[i,j]; Y[i,j] = E[i,j]/D[i]": {
        "X": (5, 7)
    },
    "Y[i] = A[5-i] + A[i]; Z[i] = A[i]*2": {"A": (6,)},
    "Y[i] = max[k](A[i+k]) where i in 0:7, k in 0:3": {"A": (9,)},
    "Y[h] = A[i]*K[h-2*i] where h in 0:9": {"A": (4,), "K": (3,)},
    "Y[i] = 3 where i in 0:4": {},
}


def programs(text: str) -> tuple[Program, list[Executable]]:
    derivation = ed.derive(text, budget=ed.Budget(states=60), **FORMULAS[text])
    source = derivation.source
    runs = [executable(plan, "cpu") for plan in derivation.candidates[:3]]
    given = executable(derivation.unchanged, "cpu")
    return source, [given, as_written(source, ()), *runs]


def operands(program: Program, seed: int, make: Callable[[torch.Tensor], Any]) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    return [make(torch.randn(t.shape, generator=generator)) for t in program.inputs]


def within(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements in a larger storage, at an offset, dimensions in another order."""
    storage = torch.full((2 * tensor.numel() + 3,), float("nan"))
    steps, step = [], 2
    for extent in tensor.shape:
        steps.append(step)
        step *= extent
    view = storage.as_strided(tensor.shape, steps, 1) if tensor.dim() else storage[1]
    return view.copy_(tensor)


LAYOUTS: dict[str, Callable[[torch.Tensor], Any]] = {
    "contiguous": lambda x: x,
    "within": within,
    "numpy": lambda x: x.numpy(),
    "backwards": lambda x: x.flip(tuple(range(x.dim()))).numpy()[
        (slice(None, None, -1),) * x.dim()
    ],
    "parameter": lambda x: Parameter(x, requires_grad=False),
}


def expected(program: Program, run: Executable, given: Sequence[Any]) -> list[np.ndarray]:
    inputs = {
        tensor: torch.from_numpy(np.array(x.numpy() if isinstance(x, torch.Tensor) else x))
        for tensor, x in zip(program.inputs, given, strict=True)
    }
    return [np.asarray(y) for y in run(inputs)]


def outputs(result: Any) -> list[np.ndarray]:
    return [np.asarray(y) for y in (result if isinstance(result, tuple) else (result,))]


@sampled(4)
@pytest.mark.parametrize("text", FORMULAS)
def test_every_call_gives_what_the_stages_give(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from the second call on, when stages no longer run, for each layout in turn."""
    program, runs = programs(text)
    for run in runs:
        call = Caller(program, run, "cpu")
        for make in LAYOUTS.values():
            call(*operands(program, 0, make))
        with monkeypatch.context() as patch:
            patch.setattr(caller, "record", None)  # no call is recorded again
            for seed in (1, 2):
                for make in LAYOUTS.values():
                    given = operands(program, seed, make)
                    for found, wanted in zip(
                        outputs(call(*given)), expected(program, run, given), strict=True
                    ):
                        assert found.dtype == wanted.dtype
                        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)


def mm(size: int = 4) -> tuple[Program, Executable]:
    derivation = ed.derive("Y[i,j] = A[i,k]*B[k,j]", A=(size, size), B=(size, size))
    return derivation.source, executable(derivation.unchanged, "cpu")


def test_a_known_call_binds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    program, run = mm()
    call = Caller(program, run, "cpu")
    a, b = torch.randn(2, 4, 4)
    call(a, b), call(a.numpy(), b.numpy())
    monkeypatch.setattr(caller, "bind", None)
    for x, y in ((a, b), (b, a)):
        torch.testing.assert_close(call(x, y), x @ y)
        torch.testing.assert_close(call(B=y, A=x), x @ y)
        torch.testing.assert_close(call(x, B=y), x @ y)
        np.testing.assert_allclose(call(x.numpy(), y.numpy()), (x @ y).numpy(), rtol=1e-5)


def test_what_answered_last_is_asked_first() -> None:
    text = "Y[i] = A[i,k]*B[k]*3 + C[i]"
    program, (run, *_) = programs(text)
    call = Caller(program, run, "cpu")
    plain, strided = (operands(program, 0, LAYOUTS[each]) for each in ("contiguous", "within"))
    call(*plain)
    call(*strided)
    known = call.asked
    assert len(known) == 2
    call(*plain)
    assert call.asked == known[::-1]
    call(*plain)
    assert call.asked == known[::-1]


def test_calls_without_a_guard_are_of_recorded_layouts() -> None:
    program, (run, *_) = programs("Y[i] = A[i,k]*B[k]*3 + C[i]")
    call = Caller(program, run, "cpu")
    first, second = operands(program, 0, torch.clone), operands(program, 1, torch.clone)
    assert call.unguarded(first) is None
    call(*first)
    flat = call.unguarded(first)
    assert flat is not None
    torch.testing.assert_close(flat(*second), (call(*second),))
    assert call.unguarded(operands(program, 0, within)) is None
    assert call.unguarded([torch._neg_view(each) for each in first]) is None


def test_what_the_guard_lets_through_is_what_was_recorded() -> None:
    program, run = mm()
    call = Caller(program, run, "cpu")
    a, b = torch.randn(2, 4, 4)
    call(a, b)
    with pytest.raises(OperandError, match="shape"):
        call(a, torch.randn(4, 5))
    with pytest.raises(OperandError, match="missing"):
        call(a)
    with pytest.raises(OperandError, match="3 operands"):
        call(a, b, b)
    with pytest.raises(OperandError, match="requires gradients"):
        call(a, b.clone().requires_grad_())
    with pytest.raises(OperandError, match="sparse"):
        call(a, b.to_sparse())
    with pytest.raises(OperandError, match="torch tensor"):
        call(a, b.numpy())
    with torch.no_grad():
        assert not call(a, b.clone().requires_grad_()).requires_grad
    torch.testing.assert_close(call(a.t(), b), a.t() @ b)
    negative = torch.complex(a, b).conj().imag
    assert negative.is_neg()
    torch.testing.assert_close(call(a, negative), a @ -b)
    torch.testing.assert_close(call(a.tolist(), b), a @ b)


def test_autocast_changes_nothing() -> None:
    program, run = mm(16)
    call = Caller(program, run, "cpu")
    a, b = torch.randn(2, 16, 16)
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            assert (a @ b).dtype is torch.bfloat16
            found = call(a, b)
        torch.testing.assert_close(found, a @ b)


def test_a_guarded_function_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it cannot answer, as under autocast, and where there are more than are asked."""
    program, run = mm()
    call = Caller(program, run, "cpu")
    given = [torch.randn(4, 4 * step)[:, ::step] for step in range(1, caller.MOST_GUARDED + 3)]
    for a in given:
        call(a, a)
    monkeypatch.setattr(caller, "guarded", None)
    for a in given * 2:
        torch.testing.assert_close(call(a, a), a @ a)
    asked = call.asked
    with torch.autocast("cpu"):
        for _ in range(3):
            call(given[-1], given[-1])
    assert call.asked == asked
    assert len({*asked}) == caller.MOST_GUARDED


def test_one_operand_twice() -> None:
    program, run = mm()
    call = Caller(program, run, "cpu")
    a, b = torch.randn(2, 4, 4)
    call(a, a)
    torch.testing.assert_close(call(a, b), a @ b)


def _sign_of_sum(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
    (x,) = inputs.values()
    return [x * 2 if float(x.sum()) > 0 else x * 3]


def test_what_decides_from_the_data_is_not_recorded() -> None:
    call = Caller(ed.parse("Y[i] = 2*A[i]", A=(4,)), _sign_of_sum, "cpu")
    for _ in range(2):
        torch.testing.assert_close(call(torch.ones(4)), 2 * torch.ones(4))
        torch.testing.assert_close(call(-torch.ones(4)), -3 * torch.ones(4))


def test_an_opaque_function_runs_every_time() -> None:
    @opaque
    def decide(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if float(x.sum()) > 0 else x * 3

    def run(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
        (x,) = inputs.values()
        return [decide(x + 1) - 1]

    call = Caller(ed.parse("Y[i] = 2*A[i]", A=(4,)), run, "cpu")
    for _ in range(2):
        torch.testing.assert_close(call(torch.ones(4)), torch.full((4,), 3.0))
        torch.testing.assert_close(call(torch.full((4,), -3.0)), torch.full((4,), -7.0))


def test_an_opaque_function_may_hand_on_what_it_was_given_once_and_not_again() -> None:
    @opaque
    def repair(x: torch.Tensor, bound: torch.Tensor) -> torch.Tensor:
        return x if float(torch.sub(bound, x, out=bound).max()) < 0 else x + 100

    def run(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
        (x,) = inputs.values()
        return [repair(x + 1, torch.zeros_like(x) + x * 0) * 2]

    call = Caller(ed.parse("Y[i] = 2*A[i]", A=(4,)), run, "cpu")
    for _ in range(2):
        torch.testing.assert_close(call(torch.ones(4)), torch.full((4,), 4.0))
        torch.testing.assert_close(call(torch.full((4,), -3.0)), torch.full((4,), 196.0))


def test_an_opaque_function_may_hand_on_its_operand() -> None:
    """It is the operand itself or another tensor in another layout, as the data decide."""

    @opaque
    def repaired(x: torch.Tensor) -> torch.Tensor:
        return x if float(x.sum()) > 0 else x.t().contiguous().t()

    @opaque
    def overwritten(x: torch.Tensor, bound: torch.Tensor) -> torch.Tensor:
        bound.neg_()
        return x if float(x.sum()) > 0 else x * 3

    def run(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
        (x,) = inputs.values()
        found = overwritten(x + 1, x + 2)
        return [repaired(found).view(-1)[2:5] - 1, found * 1]

    call = Caller(ed.parse("Y[i] = 2*A[i,j]", A=(3, 4)), run, "cpu")
    a = torch.arange(12.0).view(3, 4)
    for _ in range(3):
        for sign in (1, -1):
            found = (sign * a + 1) * (1 if sign > 0 else 3)
            parts, whole = call(sign * a)
            torch.testing.assert_close(parts, found.view(-1)[2:5] - 1)
            torch.testing.assert_close(whole, found)


def test_a_repair_takes_part_in_every_call() -> None:
    """Also where the first call's data needed none."""
    formula = ed.parse("Y[i,j] = (A[i,k]-B[j,k])^2", A=(256, 64), B=(256, 64))
    found = ed.derive(formula, budget=ed.Budget(states=100))
    plan = next(p for p in found.candidates if any(s.operator == "repaired" for s in p.stages))
    call = Caller(found.source, executable(plan, "cpu"), "cpu")
    a, b = torch.randn(2, 256, 64)
    call(a, b)
    ends = 1000.0 - 2000 * (torch.arange(256) % 2)[:, None]
    a, b = a / 64 + ends, b / 64 + ends
    wanted = (a[:, None].double() - b[None]).square().sum(-1)
    torch.testing.assert_close(call(a, b).double(), wanted, rtol=1e-5, atol=0)


def test_views_of_parts_follow_the_operand() -> None:
    """Parts that are made together, and parts that are seen in another type, lie where the operand
    lies, wherever that is in its storage."""

    def run(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
        (x,) = inputs.values()
        first, second = x.unbind(0)
        return [first[1:] + second[1:], x.view(torch.int32)[1, 1:] + 0]

    call = Caller(ed.parse("Y[i] = A[0,i]; Z[i] = A[1,i]", A=(2, 4)), run, "cpu")
    memory = torch.arange(32.0)
    for start in (0, 8, 16, 0):
        x = memory[start : start + 8].view(2, 4)
        y, z = call(x)
        torch.testing.assert_close(y, x[0, 1:] + x[1, 1:])
        torch.testing.assert_close(z, x.view(torch.int32)[1, 1:])


def test_parts_that_were_not_seen_are_not_recorded() -> None:
    def run(inputs: Mapping[Tensor, torch.Tensor]) -> list[torch.Tensor]:
        (x,) = inputs.values()
        return [sum(iter(x * 2), torch.zeros(()))]

    call = Caller(ed.parse("Y[] = 2*A[i]", A=(4,)), run, "cpu")
    for x in (torch.ones(4), torch.arange(4.0)):
        torch.testing.assert_close(call(x), 2 * x.sum())


@pytest.mark.filterwarnings("ignore:Accessing the data pointer:UserWarning")
def test_nothing_is_kept_of_a_mode() -> None:
    """A first call on fake tensors, or with tangents, leaves no mark on later ones."""
    program = ed.parse("Y[i] = where(i < 2, A[i], 3)", A=(4,))
    run = executable(ed.derive(program).unchanged, "cpu")
    a = torch.arange(4.0)
    call = Caller(program, run, "cpu")
    with FakeTensorMode(allow_non_fake_inputs=True):
        call(a)
    assert type(call(a)) is torch.Tensor
    torch.testing.assert_close(call(a), torch.tensor([0.0, 1, 3, 3]))
    call = Caller(program, run, "cpu")
    dual: Any = forward_ad
    for _ in range(2):
        with dual.dual_level():
            tangent = dual.unpack_dual(call(dual.make_dual(a, a + 1))).tangent
            torch.testing.assert_close(tangent, torch.tensor([1.0, 2, 0, 0]))
        torch.testing.assert_close(call(a), torch.tensor([0.0, 1, 3, 3]))


def test_results_are_memory_of_their_own() -> None:
    program = ed.parse("Y[i] = 3 where i in 0:4; Z[i] = A[i]", A=(4,))
    run = executable(ed.derive(program).unchanged, "cpu")
    call = Caller(program, run, "cpu")
    a = torch.arange(4.0)
    for _ in range(3):
        y, z = call(a)
        torch.testing.assert_close(y, torch.full((4,), 3.0))
        torch.testing.assert_close(z, torch.arange(4.0))
        y.fill_(7)
        z.fill_(8)
    torch.testing.assert_close(a, torch.arange(4.0))


def test_integers_follow_the_default_type() -> None:
    program = ed.parse("Y[i] = A[i]/2", A=(4,), dtypes="int32")
    call = Caller(program, executable(ed.derive(program).unchanged, "cpu"), "cpu")
    a = torch.arange(4, dtype=torch.int32)
    kinds = []
    for default in (torch.float32, torch.float64, torch.float32):
        torch.set_default_dtype(default)
        try:
            kinds.append(call(a).dtype)
        finally:
            torch.set_default_dtype(torch.float32)
    assert kinds == [torch.float32, torch.float64, torch.float32]


def test_threads_share_a_function() -> None:
    program, runs = programs("Y[i,j] = (A[i,k]-B[j,k])^2")
    call = Caller(program, runs[0], "cpu")
    wrong: list[object] = []

    def work(seed: int) -> None:
        for turn in range(40):
            layout = list(LAYOUTS.values())[(seed + turn) % 3]
            a, b = operands(program, seed + turn, layout)
            x, y = np.asarray(a), np.asarray(b)
            wanted = ((x[:, None] - y[None]) ** 2).sum(-1)
            if not np.allclose(np.asarray(call(a, b)), wanted, rtol=1e-4, atol=1e-4):
                wrong.append((seed, turn))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore")
def test_a_call_is_one_graph_for_torch_compile() -> None:
    program, run = mm()
    call = Caller(program, run, "cpu")
    a, b = torch.randn(2, 4, 4)
    call(a, b)
    compiled = torch.compile(lambda x, y: 2 * call(x + 1, y), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(a, b), 2 * ((a + 1) @ b))


def test_one_tensor_for_several_operands_needs_no_binding(monkeypatch: pytest.MonkeyPatch) -> None:
    function = ed.compile("Y[i,j] = x[i,j] - 2*w[j,i]", x=(4, 4), w=(4, 4))
    one, other = torch.randn(4, 4), torch.randn(4, 4)
    for operands in ((one, one), (one, other)) * 2:
        function(*operands)
    monkeypatch.setattr(Caller, "unasked", None)
    for x, w in ((one, one), (other, other), (one, other), (other, one)):
        torch.testing.assert_close(function(x, w), x - 2 * w.T)


def test_a_first_call_loads_no_masked_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    def loaded(name: str) -> Any:
        raise AssertionError(f"numpy.{name} is loaded")

    f = ed.compile("Y[i] = 2*A[i]", A=(3,), effort="instant", remember=False)
    monkeypatch.delattr(np, "ma", raising=False)
    monkeypatch.setattr(np, "__getattr__", loaded)
    assert f(torch.ones(3)).tolist() == f(np.ones(3, np.float32)).tolist() == [2.0] * 3
    with pytest.raises(AssertionError, match="ma is loaded"):
        f(np.ones(3, np.float32).view(np.recarray))
