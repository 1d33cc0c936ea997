"""Recorded calls that are made once although several stages ask for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.call import simplify
from einderive.frontend.call.record import Call, record
from einderive.frontend.call.simplify import TRANSFORMS, simplified
from einderive.frontend.call.source import body
from einderive.frontend.running.execute import executable

Run = Callable[[Sequence[torch.Tensor]], Sequence[torch.Tensor]]


def transforms(run: Run, x: torch.Tensor) -> int:
    """How many transforms the simplified recording of the run makes; its results are the run's."""
    trace, results = record(run, [x])
    simple = simplified(trace)
    found = body(simple)(x)
    for one, other in zip(found, results, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    return sum(isinstance(step, Call) and step.function in TRANSFORMS for step in simple.steps)


@pytest.mark.parametrize("n", [1, 2, 9, 16])
@pytest.mark.parametrize("of_rows", [False, True])
def test_one_transform_serves_the_sums_of_cosines_and_sines(n: int, of_rows: bool) -> None:
    b = "b," if of_rows else ""
    text = (
        f"R[{b}k] = 2*sum[i](x[{b}i]*cos(2*pi*k*i/n)) where k in 0:n//2+1\n"
        f"I[{b}k] = sum[i](x[{b}i]*sin(2*pi*k*i/n)) where k in 0:n//2+1\n"
        f"P[{b}k] = R[{b}k]^2/4 + I[{b}k]^2"
    )
    shape = (3, n) if of_rows else (n,)
    x = np.random.default_rng(n).standard_normal(shape)
    derivation = ed.derive(text, x=x, n=n, budget=ed.Budget(states=20))
    words = [stage.operator for stage in derivation.unchanged.stages]
    if n > 2:
        assert {"fft_real", "fft_imaginary"} <= {*words}
    run = executable(derivation.unchanged, "cpu")
    (name,) = derivation.source.inputs

    def called(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return run({name: given[0]})

    tensor = torch.from_numpy(x)
    assert transforms(called, tensor) == words.count("fft_real")
    np.testing.assert_allclose(called([tensor])[0], np.abs(np.fft.rfft(x)) ** 2, atol=1e-9)


def test_a_result_that_is_written_to_is_made_again() -> None:
    def run(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        one = torch.fft.rfft(given[0])
        one.mul_(2)
        return (one.abs() + torch.fft.rfft(given[0]).abs(),)

    assert transforms(run, torch.randn(8)) == 2


def test_so_are_results_that_are_the_users_and_other_lengths() -> None:
    def run(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return torch.fft.fft(given[0]), torch.fft.fft(given[0])

    def unequal(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        x = given[0]
        return (torch.fft.fft(x, 4).abs() + torch.fft.fft(x, norm="forward").abs().sum(),)

    assert transforms(run, torch.randn(8)) == 2
    assert transforms(unequal, torch.randn(8)) == 2


@pytest.mark.parametrize("room", [0, 100, 200, 300, 1 << 20])
def test_memory_is_written_once_or_at_each_call(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that is written in parts: some of the parts alone are never made once."""
    monkeypatch.setattr(simplify, "MOST_KEPT", room)

    def run(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        table = torch.empty(12)
        for k in range(4):
            part = torch.arange(3.0) * 2 + k
            table.narrow(0, 3 * k, 3).copy_(part)
        return (given[0] * table,)

    x = torch.randn(12)
    trace, results = record(run, [x])
    simple = simplified(trace)
    for given in (x, torch.randn(12)):
        found = body(simple)(given)
        torch.testing.assert_close(found[0], run([given])[0], rtol=0, atol=0)
    torch.testing.assert_close(results[0], run([x])[0], rtol=0, atol=0)
    writes = sum(isinstance(step, Call) and bool(step.writes) for step in simple.steps)
    assert writes == (0 if room >= 48 else 4)
    assert len(simple.constants) == (1 if room >= 48 else len(simple.constants))


def test_what_was_there_before_stays_for_calls_that_are_made_each_time() -> None:
    table = torch.arange(12.0)

    def run(given: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return (given[0] * (table * 2) + table,)

    x = torch.randn(12)
    trace, results = record(run, [x])
    simple = simplified(trace)
    torch.testing.assert_close(body(simple)(x)[0], results[0], rtol=0, atol=0)
    assert len(simple.constants) == 2
