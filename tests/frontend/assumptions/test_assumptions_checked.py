"""`assume A > 0` at run time: a program that rests on it checks it, no other does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import einderive as ed
from einderive.frontend.assumptions.check import check_of
from einderive.frontend.call.record import Call
from einderive.frontend.trial.choose import choose
from einderive.ta.errors import AssumptionError
from tests.frontend.races import candidates_win

TEXT = "assume A > 0; Y[i,j] = exp(log(A[i,j]))*B[j]"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> ed.CompiledFunction:
    candidates_win(monkeypatch)
    return ed.compile(TEXT, A=(3, 4), B=(4,))


def test_a_call_checks_what_the_program_rests_on(compiled: ed.CompiledFunction) -> None:
    a, b = torch.rand(3, 4) + 0.5, torch.randn(4)
    assert "exp" not in str(compiled.derivation.staged(compiled.chosen.plan))
    for _ in range(2):  # the second call is the flat function's
        assert torch.equal(compiled(a, b), a * b)
    for value, said in ((-2.5, "-2.5"), (float("nan"), "nan"), (0.0, "0.0")):
        wrong = a.clone()
        wrong[2, 1] = value
        for operand, other in ((wrong, b), (wrong.numpy(), b.numpy()), (wrong.double(), b)):
            with pytest.raises(AssumptionError, match=r"`assume A > 0` does not hold") as caught:
                compiled(operand, other)
            assert f"A[2,1] is {said}\n" in str(caught.value)
    assert "_check" in " ".join(names(compiled, a, b))
    assert torch.equal(compiled(a, b), a * b)
    assert "it rests on what is assumed, A > 0; each call checks it" in str(compiled)


def test_the_check_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    f = ed.compile(TEXT, A=(3, 4), B=(4,), check_assumptions=False)
    a, b = -torch.ones(3, 4), torch.ones(4)
    for _ in range(2):
        assert torch.equal(f(a, b), -torch.ones(3, 4))
    assert "A > 0; no call checks it" in str(f)
    assert "_check" not in " ".join(names(f, a, b))
    assert torch.equal(ed.evaluate(TEXT, A=a, B=b, check_assumptions=False), f(a, b))
    with pytest.raises(AssumptionError):
        ed.evaluate(TEXT, A=a, B=b)


def names(f: ed.CompiledFunction, *operands: torch.Tensor) -> list[str]:
    """Of the functions that a call runs."""
    steps = f.recorded(*operands).steps
    found = [step.function for step in steps if isinstance(step, Call)]
    return [repr(getattr(each, "__wrapped__", each)) for each in found]


def test_a_program_that_used_none_checks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    f = ed.compile("assume A > 0; Y[i] = A[i]*B[i,k]", A=(4,), B=(4, 3))
    a, b = -torch.rand(4), torch.randn(4, 3)
    assert f.chosen.plan is not None
    assert f.chosen.plan.steps
    assert torch.allclose(f(a, b), a * b.sum(1))
    assert "_check" not in " ".join(names(f, a, b))
    assert "rests on" not in str(f)


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_no_check_where_tensors_have_no_elements(compiled: ed.CompiledFunction) -> None:
    with FakeTensorMode():
        found = compiled(torch.empty(3, 4), torch.empty(4))
    assert found.shape == (3, 4)


def test_a_saved_derivation_rests_on_the_same(compiled: ed.CompiledFunction, tmp_path: Any) -> None:
    path = tmp_path / "d.json"
    compiled.derivation.save(path)
    loaded = ed.load(path)
    assert loaded.check()
    again = choose(loaded)
    assert [str(t.name) for t in again.run.assumed] == ["A"]


@pytest.mark.parametrize(
    ("text", "dtype", "values", "broken"),
    [
        ("A < 1", "float32", [0, 2, 5, 1], "A[2] is 5.0"),
        ("A != 0", "float32", [1, -2, 0, 0], "A[2] is 0.0"),
        ("A != 0", "complex64", [1, 2j, 0, 3], "A[2] is 0j"),
        ("A != 0", "float32", [1, -2, float("nan"), 3], "A[2] is nan"),
        ("0 <= A < 8", "int8", [7, 0, 8, 1], "A[2] is 8"),
        ("A == 1", "bool", [True, True, False, True], "A[2] is False"),
        ("A < inf", "bfloat16", [1, -float("inf"), float("inf"), 2], "A[2] is inf"),
        ("A <= 0.1", "float32", [0.1, -1, 0, 0], ""),
        ("A <= 0.1", "float32", [0.1, 0, 0.1001, 0], "A[2] is 0.1"),
        ("A > 0", "float64", [], ""),
    ],
)
def test_the_element_that_breaks_it(text: str, dtype: str, values: list[Any], broken: str) -> None:
    shape = (len(values),)
    (tensor,) = ed.parse(f"assume {text}; Y[i] = 2*A[i]", A=shape, dtypes=dtype).inputs
    given = torch.tensor(values, dtype=getattr(torch, dtype))
    check = check_of(tensor)
    if not broken:
        check(given)
        return
    with pytest.raises(AssumptionError) as caught:
        check(given)
    assert broken in str(caught.value)


def test_a_scalar_is_named_without_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates_win(monkeypatch)
    f = ed.compile("assume c > 0; Y[i] = exp(log(c))*B[i]", c=(), B=(4,))
    with pytest.raises(AssumptionError, match=r": c is -1.0"):
        f(np.float32(-1), np.ones(4, np.float32))
