"""Stages timed alone, by a clock that counts, and their keys."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from types import FrameType

import torch

import einderive as ed
from einderive.frontend.machine.clock import FEWEST, MOST, MOST_CALLS, least
from einderive.frontend.machine.stages import timed_stages

TWO = "T[i,j] = sum[k](A[i,k]*B[k,j]); Y[i] = max[j](T[i,j])"


def clock(steps: Iterator[float]) -> Callable[[], float]:
    """A clock that goes on by these steps, one each time that it is read."""
    now = 0.0

    def read() -> float:
        nonlocal now
        now += next(steps)
        return now

    return read


def test_the_least_batch_counts() -> None:
    calls = []
    steps = iter([0.0, 0.0, 3.0, 0.0, 2.0, 0.0, 5.0])
    assert least(lambda: calls.append(0), 8.0, clock=clock(steps)) == 2.0
    assert len(calls) == 4  # one of them is not counted


def test_a_few_batches_at_least() -> None:
    assert least(lambda: None, 0.0, clock=clock(iter([0.0, *[0.0, 7.0] * FEWEST]))) == 7.0


def test_short_calls_are_timed_in_batches() -> None:
    calls = []
    found = least(lambda: calls.append(0), 1.0, clock=clock(1e-9 * n for n in count()))
    assert found < 1e-8
    assert len(calls) == 1 + 1 + (MOST - 1) * MOST_CALLS


def keys(
    text: str, tensors: dict[str, torch.Tensor], known: dict[str, float] | None = None
) -> dict[str, float]:
    """The stages of the formula as it is given, each as long as the number of the call."""
    numbers = count(1)
    derivation = ed.derive(text, **tensors, budget=0.01)
    inputs = {tensor: tensors[tensor.name] for tensor in derivation.source.inputs}
    stages = derivation.unchanged.stages

    def time(run: Callable[[], object], seconds: float) -> float:
        run()
        return float(next(numbers))

    return {key: found for _, key, found in timed_stages(stages, inputs, time, (known or {}).get)}


def operands() -> dict[str, torch.Tensor]:
    return {"A": torch.randn(4, 5), "B": torch.randn(5, 6)}


def test_every_stage_is_timed_once() -> None:
    found = keys(TWO, operands())
    assert sorted(found.values()) == [1.0, 2.0]
    first = next(iter(found))
    again = keys(TWO, operands(), {first: 9.0})
    assert again == {**dict.fromkeys(found, 1.0), first: 9.0}


def test_names_and_what_comes_before_do_not_count() -> None:
    given = operands()
    found = list(keys(TWO, given))
    other = "S[a,b] = sum[c](X[a,c]*Z[c,b]); Y[a] = max[b](S[a,b])"
    assert list(keys(other, {"X": given["A"], "Z": given["B"]})) == found
    assert list(keys("Y[i] = max[j](T[i,j])", {"T": torch.randn(4, 6)})) == found[1:]


def test_shapes_layouts_types_and_operators_count() -> None:
    text = "Y[i] = max[j](T[i,j])"
    given = [
        torch.randn(4, 6),
        torch.randn(4, 7),
        torch.randn(6, 4).T,
        torch.randn(4, 6, dtype=torch.float64),
    ]
    found = [next(iter(keys(text, {"T": tensor}))) for tensor in given]
    found += keys("Y[i] = sum[j](T[i,j])", {"T": given[0]})
    assert len(set(found)) == len(found)


def test_an_iterator_as_a_value_is_no_operand() -> None:
    shape = {"A": torch.randn(4)}
    one, other = (list(keys(f"Y[i] = A[i]*{word}", shape)) for word in ("i", "A[i]"))
    assert one != other


def test_a_stage_is_timed_as_a_call_runs_it() -> None:
    """The views and types of a stage are found once, and not while the clock runs."""
    given = operands()
    derivation = ed.derive("Y[i,j] = A[i,k]*B[k,j]", **given, budget=0.01)
    inputs = {tensor: given[tensor.name] for tensor in derivation.source.inputs}
    called: list[str] = []

    def time(run: Callable[[], object], seconds: float) -> float:
        with profiled(called):
            run()
        return 1.0

    assert len([*timed_stages(derivation.unchanged.stages, inputs, time)]) == 1
    assert called == ["call"], "one function of Python: the recorded calls of torch"


@contextmanager
def profiled(called: list[str]) -> Iterator[None]:
    """Notes the names of the functions of Python that are called."""

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name not in ("profiled", "__exit__"):
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
