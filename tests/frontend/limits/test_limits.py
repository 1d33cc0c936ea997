"""`memory=` and `deterministic=`: what a call needs at once, and programs whose bits may change."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.limits import repeatable
from einderive.frontend.limits.asked import Limits, limits_of
from einderive.frontend.limits.observed import Operation, observed
from einderive.frontend.limits.refusal import least_bytes, refused
from einderive.frontend.limits.repeatable import why_not_repeatable
from einderive.frontend.running import execute
from einderive.frontend.trial import hard
from einderive.ta.errors import BuildError, TextError
from tests.frontend.derived import DISTANCES, derived
from tests.frontend.races import nobody_is_slow

N = 100
TENSOR = N * N * 4
CHAIN = "Y[i,l] = A[i,j]*B[j,k]*C[k,l]"
SHAPES: dict[str, Any] = {"A": (40, 40), "B": (40, 40), "C": (40, 2)}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (0, 0),
        (10**9, 10**9),
        (np.int64(7), 7),
        ("123", 123),
        ("2GB", 2 * 10**9),
        ("2 gb", 2 * 10**9),
        ("1.5GiB", 3 << 29),
        ("512MiB", 512 << 20),
        ("64k", 64_000),
        ("7B", 7),
        (None, None),
    ],
)
def test_amounts_of_memory(given: Any, wanted: int | None) -> None:
    assert limits_of(given, False) == Limits(wanted)


@pytest.mark.parametrize("given", [-1, 1.5, True, "", "GB", "two", "2XB", "-2GB", [], "2G B"])
def test_what_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(TextError, match="memory is a number of bytes"):
        ed.compile(CHAIN, **SHAPES, memory=given)


def test_deterministic_is_a_truth_value() -> None:
    with pytest.raises(TextError, match="deterministic is True or False"):
        ed.compile(CHAIN, **SHAPES, deterministic=1)  # type: ignore[arg-type]


def dropped(a: torch.Tensor) -> torch.Tensor:
    first = a @ a
    second = first + 1
    del first
    return second * 2


def two_at_once(a: torch.Tensor) -> torch.Tensor:
    first = a @ a
    second = first + 1
    return first * second


def within_einsum(a: torch.Tensor) -> torch.Tensor:
    return torch.einsum("ij,jk,kl->il", a, a, a)


def broadcast(a: torch.Tensor) -> torch.Tensor:
    return (a[:, None] * a).sum(-1)


def a_view_of_the_result(a: torch.Tensor) -> torch.Tensor:
    return (a + 1)[3:4]


def in_place(a: torch.Tensor) -> torch.Tensor:
    found = a + 1
    return found.mul_(a).add_(a)


@pytest.mark.parametrize(
    ("run", "tensors"),
    [
        (dropped, 2),
        (two_at_once, 2),
        (within_einsum, 1),
        (broadcast, N),
        (a_view_of_the_result, 0),
        (in_place, 0),
        (lambda a: a.T, 0),
    ],
)
def test_the_temporaries_of_a_call(run: Callable[..., Any], tensors: int) -> None:
    assert observed(run, [torch.ones(N, N)]).peak == tensors * TENSOR


def test_a_program_takes_what_its_stages_take_and_no_more() -> None:
    """The bound before it runs is below what is seen."""
    derivation = derived(CHAIN, **SHAPES)
    judge = hard.judge_of(derivation, "cpu", 0.0)
    seen = 0
    for plan in derivation.candidates:
        bound = least_bytes(plan)
        found = refused(Limits(0), judge.program, judge.built(plan), "cpu", judge.operands)
        assert (0 if found is None else found.needed) >= bound
        seen += bound > 0
    assert seen


@pytest.mark.compiled
def test_results_of_compiled_loops_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """torch's dispatcher does not see them."""
    monkeypatch.setattr(execute, "CLEARLY", math.inf)  # loops also where a library is faster
    text = "T[i,j] = exp(A[i,j])*x; Y[j] = sum[i](T[i,j]/sum[k](T[i,k]))"
    derivation = derived(text, A=(90, 500), x=())
    judge = hard.judge_of(derivation, "cpu", 0.0)
    run = judge.built(derivation.unchanged, compiled=True)
    assert set(run.words) == {"eOperator (compiled loops)"}
    assert len(run.words) == 2  # or nothing is between them
    found = refused(Limits(0), judge.program, run, "cpu", judge.operands)
    assert found is not None
    assert found.needed == 90 * 500 * 4 + 90 * 4


@pytest.mark.compiled
def test_programs_that_take_more_are_left_out_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    shapes: Any = {"A": (48, 40), "B": (44, 40)}
    free = derived(DISTANCES, **shapes).compile(seconds=0.01)
    whole = 48 * 44 * 40 * 4
    broadcasts = [t for t in free.trials if "broadcast and reduce" in t.words]
    assert any(trial.verdict == "baseline" for trial in broadcasts)
    run = derived(DISTANCES, **shapes).compile(seconds=0.01, memory=whole // 2)
    refused_now = [t for t in run.trials if "temporaries take" in t.verdict]
    assert any("broadcast and reduce" in trial.words for trial in refused_now)
    assert "memory= allows" in str(run)
    judge = hard.judge_of(run.derivation, "cpu", 0.0)
    assert refused(Limits(whole // 2), judge.program, run.run, "cpu", judge.operands) is None
    a, b = torch.randn(48, 40), torch.randn(44, 40)
    wanted = ((a[:, None] - b) ** 2).sum(-1)
    torch.testing.assert_close(run(a, b), wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("effort", ["instant", 1.0])
def test_where_nothing_fits_the_error_has_the_sizes(effort: Any) -> None:
    with pytest.raises(BuildError) as error:
        ed.compile(CHAIN, **SHAPES, memory=10, effort=effort, seconds=0.01)
    text = str(error.value)
    assert "no program keeps the temporaries of a call within memory=" in text
    assert "320 B" in text  # 40 x 2 numbers of B C
    assert "10 B are allowed" in text
    f = ed.compile(CHAIN, **SHAPES, memory=320, effort=effort, seconds=0.01)
    assert f.options["memory"] == 320
    with pytest.raises(BuildError):
        ed.compile(CHAIN, **SHAPES, memory=319, effort=effort, seconds=0.01)


def test_the_limit_holds_at_other_sizes() -> None:
    text = "Y[i] = sum[j](exp(A[i,j])*B[j])"
    f = ed.compile(text, A=("n", 8), B=(8,), n=8, memory=600, seconds=0.01)
    a, b = torch.randn(9, 8), torch.randn(8)
    torch.testing.assert_close(f(a, b), a.exp() @ b, rtol=1e-4, atol=1e-4)
    with pytest.raises(BuildError, match="within memory="):
        f(torch.randn(640, 8), b)


def test_gradients_are_compiled_with_the_same_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: Any = {"memory": "1MB", "deterministic": True}
    f = ed.compile(CHAIN, **SHAPES, **limits, effort="instant")
    module = import_module("einderive.frontend.compile.compile")
    asked: list[Any] = []
    real = module.compile

    def noted(*given: Any, **options: Any) -> Any:
        asked.append({name: options[name] for name in limits})
        return real(*given, **options)

    monkeypatch.setattr(module, "compile", noted)
    f.with_gradient()
    assert asked == [limits]


def test_limits_belong_to_what_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    given: Any = {**SHAPES, "effort": "instant"}
    ed.compile(CHAIN, **given)
    assert ed.compile(CHAIN, **given).remembered is not None
    for options in ({"memory": "1GB"}, {"deterministic": True}):
        assert ed.compile(CHAIN, **given, **options).remembered is None
        assert ed.compile(CHAIN, **given, **options).remembered is not None
    assert ed.compile(CHAIN, **given, memory=10**9).remembered is not None


def in_turn() -> Callable[[torch.Tensor], torch.Tensor]:
    """Other bits each time."""
    calls: list[int] = []

    def run(a: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return a * (1 + 1e-6 * len(calls))

    return run


def test_bits_that_differ_are_seen() -> None:
    a = torch.ones(8)
    assert "differed" in why_not_repeatable(in_turn(), [a], "cpu", None)
    assert why_not_repeatable(lambda a: a * 2, [a], "cpu", None) == ""


def test_operands_that_lie_elsewhere_are_seen() -> None:
    def by_address(a: torch.Tensor) -> torch.Tensor:
        return a * (2 if a.data_ptr() % 64 else 1)

    assert "differed" in why_not_repeatable(by_address, [torch.ones(8)], "cpu", None)


def test_additions_in_no_order() -> None:
    def named(name: str, rounds: bool = True, **words: Any) -> Operation:
        return Operation(name, words, rounds)

    unordered = repeatable._in_no_order
    assert unordered(named("index_add"), "cuda")
    assert not unordered(named("index_add", rounds=False), "cuda")  # exact in any order
    assert not unordered(named("index_add"), "cpu")
    assert unordered(named("index_put", accumulate=True), "cpu")
    assert not unordered(named("index_put", rounds=False, accumulate=True), "cuda")
    assert unordered(named("scatter_reduce", reduce="sum"), "cuda")
    assert not unordered(named("scatter_reduce", reduce="amax"), "cuda")
    assert unordered(named("convolution", transposed=True), "cuda")
    assert not unordered(named("convolution", transposed=True), "cpu")
    assert not unordered(named("mm"), "cuda")


def test_torch_agrees_that_these_have_no_order() -> None:
    """Operations that torch refuses or replaces in its deterministic mode, as they ran here."""
    put = torch.zeros(4).index_put
    places = (torch.tensor([1, 1]),)
    found = observed(lambda a: put(places, a, accumulate=True), [torch.ones(2)]).operations
    assert any(repeatable._in_no_order(each, "cpu") for each in found)


def test_what_adds_in_no_order_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU: here products of matrices count as such."""
    nobody_is_slow(monkeypatch)
    monkeypatch.setitem(repeatable.ADDING, "cpu", frozenset({"mm"}))
    f = ed.compile("Y[i,j] = A[i,k]*B[k,j]", A=(4, 5), B=(5, 3), deterministic=True, seconds=0.01)
    left_out = [t for t in f.trials if "in no fixed order" in t.verdict]
    assert any("matmul" in trial.words for trial in left_out)
    assert f.chosen not in left_out
    assert f.options["deterministic"] is True
    a, b = torch.randn(4, 5), torch.randn(5, 3)
    torch.testing.assert_close(f(a, b), a @ b, rtol=1e-4, atol=1e-4)
    every = frozenset({"mm", "bmm", "mul", "sum", "dot", "mv", "matmul", "addmm", "einsum"})
    monkeypatch.setitem(repeatable.ADDING, "cpu", every)
    with pytest.raises(BuildError, match="the same bits in each run on cpu"):
        ed.compile("Y[i,j] = A[i,k]*B[k,j]", A=(4, 5), B=(5, 3), deterministic=True, seconds=0.01)


@pytest.mark.compiled
def test_loops_whose_threads_share_a_sum_are_left_out() -> None:
    derivation = derived("y = sum[i](exp(A[i]))", A=(1_000_000,))
    judge = hard.judge_of(derivation, "cpu", 0.0)
    run = judge.built(derivation.unchanged, compiled=True)
    found = refused(Limits(None, True), judge.program, run, "cpu", judge.operands)
    assert found is not None
    assert "all threads compute a part of one sum" in found.reason


def test_the_command_line_takes_both(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from einderive.frontend.cli.main import main

    shapes = ["A=8,4", "x=4"]
    words = ["derive", "Y[i] = A[i,k]*x[k]", *shapes, "--effort", "instant"]
    record = str(tmp_path / "d.json")
    assert main([*words, "--run", "--memory", "1MB", "--deterministic", "--save", record]) == 0
    assert "chosen" in capsys.readouterr().out
    assert main([*words, "--memory", "much"]) == 2
    assert "memory is a number of bytes" in capsys.readouterr().err
    assert main(["run", record, "--effort", "instant", "--memory", "1MB"]) == 0
    assert "chosen" in capsys.readouterr().out
