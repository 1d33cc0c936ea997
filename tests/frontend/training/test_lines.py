"""Plain lines under torch's autograd: which may be recorded, and what a call that is does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import einderive as ed
from einderive.frontend.autograd.node import Recorder
from einderive.frontend.autograd.related import Related
from einderive.frontend.baselines.rival import Rival, rivals
from einderive.frontend.timed.timing import Timing
from einderive.frontend.training import choose
from einderive.frontend.training.kept import kept_bytes
from einderive.frontend.training.lines import Line, refusal
from tests.amount import sampled
from tests.frontend.autograd.light import light
from tests.frontend.autograd.test_node import QUICK, agrees, operands

MAXIMUM: dict[str, Any] = {"X": (4, 3)}


def judged(
    text: str, line: Callable[..., Any] | None = None, dtypes: Any = "float64", **shapes: Any
) -> str:
    """Why this line, or the first one that einderive writes, may not be recorded."""
    program = ed.parse(text, dtypes=dtypes, **shapes)
    call = rivals(program, "cpu")[0].call if line is None else line
    record = light(program)._record
    assert isinstance(record, Recorder)
    wrt = tuple(p for p, t in enumerate(program.inputs) if t.dtype != "bool")
    part = record.related.gradient(wrt, (0,))
    assert part is not None
    return refusal(Line(program, Rival((), "", call, program.inputs)), part, "cpu", "normwise")


@sampled(10)
@pytest.mark.parametrize(
    ("text", "line", "shapes"),
    [
        ("Y[i] = max[k](X[i,k])", lambda x: x.amax(1), MAXIMUM),
        ("Y[i] = relu(X[i,0])", lambda x: torch.relu(x[:, 0]), MAXIMUM),
        ("Y[i] = norm[k](X[i,k])", lambda x: torch.linalg.vector_norm(x, dim=1), MAXIMUM),
        ("Y[i,k] = softmax[k](X[i,k])", lambda x: torch.softmax(x, 1), MAXIMUM),
        ("Y[i,j] = A[i,k]*B[k,j]", None, {"A": (4, 3), "B": (3, 2)}),
    ],
)
def test_lines_that_agree(text: str, line: Any, shapes: dict[str, Any]) -> None:
    assert judged(text, line, **shapes) == ""


@sampled(6)
@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("Y[i] = max[k](X[i,k])", lambda x: x.max(1).values, "at ties"),
        ("Y[i,k] = maximum(X[i,k], 0)", lambda x: x.clamp(min=0), "at ties"),
        ("Y[i] = norm[k](X[i,k])", lambda x: (x**2).sum(1).sqrt(), "at ties"),
        ("Y[i,k] = X[i,k]^3", lambda x: x.detach() ** 2 * x, "gradients have the error"),
        ("Y[i,k] = X[i,k]^3", lambda x: x**2 * 3, "outputs have the error"),
    ],
)
def test_lines_that_may_not_be_recorded(text: str, line: Any, reason: str) -> None:
    assert reason in judged(text, line, **MAXIMUM)


def test_a_row_that_a_mask_leaves_out_as_a_whole() -> None:
    """The formula weights its entries alike; a softmax of minus infinities has no gradients, and
    random masks leave out no whole row."""
    text = "Y[b] = softmax[j](where(M[b,j], S[b,j], -1e9))*V[j]"
    types = {"M": "bool", "S": "float64", "V": "float64"}
    shapes = {"M": (4, 32), "S": (4, 32), "V": (32,)}

    def line(value: float) -> Callable[..., Any]:
        return lambda m, s, v: torch.softmax(s.masked_fill(~m, value), 1) @ v

    assert judged(text, line(-1e9), types, **shapes) == ""
    assert "at ties" in judged(text, line(-torch.inf), types, **shapes)


def test_gradients_that_are_rounding_alone_are_no_others() -> None:
    """A softmax of large whole numbers is saturated; its gradients are differences of equals."""
    layers = "H[b,o] = relu(sum[i](X[b,i]*V[i,o])); Z[b,o] = H[b,i]*W[i,o]"
    shapes: dict[str, Any] = {"X": (8, 60), "V": (60, 60), "W": (60, 9), "dtypes": "float32"}
    text = f"{layers}; Y[b,o] = softmax[o](Z[b,o])"
    assert judged(text, lambda x, v, w: torch.softmax(torch.relu(x @ v) @ w, 1), **shapes) == ""
    text = f"{layers}; Y[b] = max[o](Z[b,o])"
    assert judged(text, lambda x, v, w: (torch.relu(x @ v) @ w).amax(1), **shapes) == ""
    found = judged(text, lambda x, v, w: (torch.relu(x @ v) @ w).max(1).values, **shapes)
    assert "at ties" in found


def test_no_more_digits_are_asked_than_the_other_program_has() -> None:
    program = ed.parse("Y[i] = x[i]^2", x=(5,), dtypes="float64")
    line = Line(program, Rival((), "", lambda x: x**2 * (1 + 1e-9), program.inputs))
    part = Related(program, light(program), lambda given: Judged(light(given), 1e-9)).gradient(
        (0,), (0,)
    )
    assert part is not None
    assert "outputs" in refusal(line, part, "cpu", "fast")
    assert "have the error" not in refusal(line, part, "cpu", "fast", 1e-9)


class Judged:
    """A program with its error."""

    def __init__(self, call: Callable[..., Any], error: float) -> None:
        self.call, self.error = call, error

    def __call__(self, *operands: torch.Tensor) -> Any:
        return self.call(*operands)


@pytest.fixture
def every_line_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        choose, "race", lambda runs, **_: [Timing(1 / (1 + n), 0) for n in range(len(runs))]
    )
    monkeypatch.setattr(choose, "FAR_BEHIND", 1e9)


def names(tensor: torch.Tensor) -> str:
    return type(tensor.grad_fn).__name__


def test_a_line_is_left_out_for_its_call_where_that_takes_long() -> None:
    """A quick call that waited for a processor when it was tried takes part all the same."""
    program = ed.parse("Y[i,k] = softmax[k](X[i,k])", X=(8, 8))
    given = lambda text: Line(program, Rival((), text, torch.softmax, program.inputs))  # noqa: E731
    times = {"quick": 1e-5, "waited": 8e-4, "slow": 0.1, "did not fit": inf}
    trials = [SimpleNamespace(text=text, seconds=seconds) for text, seconds in times.items()]
    asked: Any = SimpleNamespace(
        outcome=SimpleNamespace(trials=trials, device="cpu"),
        lines=[*map(given, (*times, "not tried"))],
    )
    assert [line.rival.text for line in choose._near(asked)] == ["quick", "waited", "not tried"]


def test_a_line_that_was_not_tried_is_left_out_where_it_must_take_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By its temporaries, by its operations, or by the memory that is free."""
    program = ed.parse("Y[i,k] = softmax[k](X[i,k])", X=(8, 8))

    def near(known: Sequence[float], elements: int, work: float) -> bool:
        rival = Rival((), "not tried", torch.softmax, program.inputs, elements, work)
        other = Line(program, Rival((), "0", torch.softmax, program.inputs))
        trials = [SimpleNamespace(text=str(n), seconds=s) for n, s in enumerate(known)]
        outcome = SimpleNamespace(trials=trials, device="cpu")
        asked: Any = SimpleNamespace(outcome=outcome, lines=[other, line := Line(program, rival)])
        return line in choose._near(asked)

    assert near([1e-3], 10**6, 1e6)
    assert not near([1e-3], 10**6, 1e12)
    assert not near([1e-3], 10**9, 1e6)
    assert near([inf], 10**6, 1e12)  # nothing to compare it with
    monkeypatch.setattr(choose, "free_bytes", lambda device: 1 << 20)
    assert not near([1e-3], 10**6, 1e6)
    assert not near([inf], 10**6, 1e6)


@pytest.mark.usefixtures("every_line_is_faster")
def test_a_recorded_line() -> None:
    f = ed.compile("Y[i] = sin(x[i])*w[i]", x=(5,), w=(5,), dtypes="float64", grad=True, **QUICK)
    given = operands((5,), (5,))
    assert names(f(*given)) == "MulBackward0"
    agrees(f, lambda x, w: x.sin() * w, given, given)
    assert gradcheck(f, given)
    assert gradgradcheck(f, given)
    assert names(f(given[0], given[1].detach())) == "LinkedBackward"  # nothing was chosen for it
    torch.testing.assert_close(
        torch.func.grad(lambda x: f(x, given[1]).sum())(given[0]), given[0].cos() * given[1]
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert f(*given).dtype is torch.float64
    own = [x.detach().as_subclass(Own).requires_grad_() for x in given]
    y = f(*own)
    assert isinstance(y, Own)
    torch.testing.assert_close(y.detach().as_subclass(torch.Tensor), f(*given).detach())
    y = f(*given)
    with torch.no_grad():
        given[0].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


class Own(torch.Tensor):
    """A tensor of a user's own class."""


@pytest.mark.usefixtures("every_line_is_faster")
def test_the_choice_is_made_at_the_first_backward_pass() -> None:
    f = ed.compile("Y[i] = tanh(x[i])", x=(5,), dtypes="float64", **QUICK)
    (x,) = operands((5,))
    y = f(x)
    assert names(y) == "LinkedBackward"
    y.sum().backward()
    y = f(x)
    assert names(y) == "TanhBackward0"
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], 1 - x.tanh() ** 2)
    y = f(x)
    with torch.no_grad():
        y.add_(1)  # every plain line refuses it, too
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.usefixtures("every_line_is_faster")
@pytest.mark.parametrize("reads_first", [False, True])
def test_a_line_that_keeps_its_result_beside_one_that_keeps_none(
    monkeypatch: pytest.MonkeyPatch, reads_first: bool
) -> None:
    """The first line says whether an output may be changed, whichever is faster."""

    def lines(program: ed.Program, device: str) -> list[Rival]:
        calls: list[Callable[..., Any]] = [lambda x: x**0.5, torch.sqrt]
        calls.sort(key=lambda call: (call is torch.sqrt) is not reads_first)
        return [Rival((), f"line {n}", call, program.inputs) for n, call in enumerate(calls)]

    order = count(9.0, -1.0) if reads_first else count(1.0)  # the last one of a race wins
    monkeypatch.setattr(choose, "rivals", lines)
    monkeypatch.setattr(choose, "first", lambda step, _: (step(), next(order))[1])
    options: dict[str, Any] = {**QUICK, "remember": False}
    f = ed.compile("Y[i] = sqrt(x[i])", x=(5,), dtypes="float64", grad=True, **options)
    x = torch.rand(5, dtype=torch.float64).add_(1).requires_grad_()
    y = f(x)
    assert names(y) == ("SqrtBackward0" if reads_first else "CloneBackward0")
    with torch.no_grad():
        y.add_(1)
    if reads_first:
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        return
    # the backward pass reads another one
    torch.testing.assert_close(torch.autograd.grad(y.sum(), x)[0], 0.5 / x.sqrt())


def test_a_gather_has_a_derivative() -> None:
    """As a line, by the library's operators: those of places outside are 0."""
    f = ed.compile("Y[n] = E[I[n]]*2", E=(4,), I=(3,), dtypes={"E": "float64", "I": "int64"})
    (line, *_) = rivals(f.derivation.source, "cpu")
    e = torch.randn(4, dtype=torch.float64, requires_grad=True)
    given = {"E": e, "I": torch.tensor([2, 7, 2])}
    y = line.call(*(given[tensor.name] for tensor in line.inputs))
    (slope,) = torch.autograd.grad(y.sum(), e)
    assert slope.tolist() == [0, 0, 4, 0]


@pytest.mark.usefixtures("every_line_is_faster")
def test_the_choice_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EINDERIVE_CACHE", str(tmp_path))

    def compiled() -> Any:
        return ed.compile("Y[i] = sin(x[i])*2", x=(5,), dtypes="float64", grad=True, **QUICK)

    (x,) = operands((5,))
    assert names(compiled()(x)) == "MulBackward0"
    monkeypatch.setattr(choose, "_chosen", None)
    assert names(compiled()(x)) == "MulBackward0"


@pytest.mark.usefixtures("every_line_is_faster")
def test_results_have_memory_of_their_own() -> None:
    f = ed.compile("Y[j,i] = A[i,j]", A=(3, 2), dtypes="float64", grad=True, **QUICK)
    (a,) = operands((3, 2))
    y = f(a)
    assert names(y) == "CloneBackward0"
    assert y.untyped_storage().data_ptr() != a.untyped_storage().data_ptr()


def test_kept_bytes() -> None:
    x = torch.randn(10, requires_grad=True)
    assert kept_bytes(lambda: x.tanh()) == 40  # the result
    assert kept_bytes(lambda: (x * x[::2].repeat(2)).tanh()) == 120
    assert kept_bytes(lambda: x + 1) == 0
