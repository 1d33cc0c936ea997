"""Several baselines, one's own among them: who is judged, who is left out, and who sets the bar."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any, cast

import pytest
import torch

import einderive as ed
from einderive.frontend.report.measured import underived
from einderive.frontend.timed.steady import WITHIN
from einderive.frontend.timed.timing import Timing
from einderive.frontend.timed.trial import GIVEN, Trial
from einderive.frontend.trial import choose, entrants, general, races, winner
from einderive.frontend.trial.entrants import Judge
from einderive.frontend.trial.races import YOURS
from einderive.ta.errors import OperandError
from tests.amount import sampled
from tests.frontend.derived import DISTANCES, derived
from tests.frontend.races import candidates_win, nobody_is_slow

SIZES: dict[str, Any] = {"A": (48, 40), "B": (44, 40)}


def quickly(text: str, **options: Any) -> ed.CompiledFunction:
    return ed.compile(text, target="cpu", seconds=0.01, **options)


def distances(**options: Any) -> ed.CompiledFunction:
    return derived(DISTANCES, **SIZES).compile(seconds=0.01, **options)


def trial(run: ed.CompiledFunction, word: str) -> Any:
    return next(t for t in run.trials if word in t.words)


def in_order(*words: str) -> Any:
    """Races that end as told: the named programs first, all others a second later."""

    def race(calls: Any, **_: Any) -> list[Timing]:
        return [Timing(1.0 + place, 0.0, (1.0 + place,) * 4) for place in range(len(calls))]

    return race


def test_every_baseline_is_a_trial_and_the_ratio_is_against_the_fastest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody_is_slow(monkeypatch)
    run = quickly("Y[b,o] = X[b,i]*W[o,i] + C[o]", X=(9, 8), W=(7, 8), C=(7,))
    plain = [t for t in run.trials if t.plan is None]
    assert {t.words[0] for t in plain} >= {"linear", "matmul", "torch.einsum"}
    assert [t.label for t in plain] == [f"baseline {n}" for n in range(1, len(plain) + 1)]
    accepted = [t.seconds for t in plain if t.verdict == "baseline"]
    assert min(accepted) <= run.baseline.seconds <= WITHIN * min(accepted)
    assert run.ratio == run.baseline.seconds / run.chosen.seconds
    assert "F.linear(X, W, C)" in trial(run, "linear").text


def test_where_no_candidate_wins_the_function_is_the_fastest_baseline() -> None:
    run = quickly("Y[i,j] = A[i,k]*B[k,j]", A=(16, 16), B=(16, 16))
    a, b = torch.randn(16, 16), torch.randn(16, 16)
    torch.testing.assert_close(run(a, b), a @ b)
    if run.chosen.plan is None:
        assert run.chosen is run.baseline
        assert run.run.words == run.baseline.words


def test_your_own_function_is_checked_and_timed_as_it_is() -> None:
    calls = []

    def mine(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        calls.append(len(a))
        return ((a[:, None] - b) ** 2).sum(-1)

    run = quickly(DISTANCES, baseline=mine, **SIZES)
    own = next(t for t in run.trials if t.label == YOURS)
    assert own.verdict == "baseline"
    assert 0 < own.error < 1e-6
    assert own.seconds < 1
    assert set(calls) == {48}


@sampled(4)
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda a, b: a @ b.T, "refused: error"),
        (lambda a, b: (a @ b.T).double(), "refused: error"),
        (lambda a, b: (a @ b.T)[:5], "refused: error"),
        (lambda a, b: (a, b), "does not give 1 tensors"),
        (lambda a, b: 3, "does not give 1 tensors"),
        (lambda a: a, "left out"),
        (lambda a, b: 1 / 0, "left out: division by zero"),
    ],
)
def test_a_function_of_your_own_that_is_wrong_stops_nothing(wrong: Any, said: str) -> None:
    run = distances(baseline=wrong)
    own = next(t for t in run.trials if t.label == YOURS)
    assert said in own.verdict
    assert run.chosen is not own
    a, b = torch.randn(48, 40), torch.randn(44, 40)
    wanted = ((a[:, None] - b) ** 2).sum(-1)
    torch.testing.assert_close(run(a, b), wanted, rtol=1e-3, atol=1e-3)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(OperandError, match="baseline is a function"):
        distances(baseline=cast(Any, 5))


def test_a_library_operator_that_loses_digits_sets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """cdist expands the square from 26 rows on: on data with an offset no digit is right.  As the
    first in the race it would be the fastest."""
    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(races, "race", in_order())
    run = distances()
    library = trial(run, "cdist, squared")
    assert library.verdict.startswith("refused")
    assert "lost on inputs with" in library.verdict
    assert run.baseline is not library
    a, b = 1000 + torch.randn(48, 40), 1000 + torch.randn(44, 40)
    exact = ((a.double()[:, None] - b.double()) ** 2).sum(-1)
    assert (run(a, b) - exact).abs().max() < 1e-4 * exact.abs().max()


def test_a_plain_program_of_too_many_operations_is_left_out_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The gradient of a strided convolution as one with the whole image as its window: it would
    run for minutes."""
    nobody_is_slow(monkeypatch)
    text = "dA[b,c,i,j] = K[f,c,i-2*h+1,j-2*w+1]*dY[b,f,h,w] where i in 0:128, j in 0:128"
    run = quickly(text, K=(32, 16, 3, 3), dY=(1, 32, 64, 64))
    verdict = trial(run, "conv2d").verdict
    assert verdict.startswith("left out: its 3.4e+10 operations take at least")
    k, dy = torch.randn(32, 16, 3, 3), torch.randn(1, 32, 64, 64)
    wanted = torch.nn.grad.conv2d_input((1, 16, 128, 128), k, dy, stride=2, padding=1)
    torch.testing.assert_close(run(k, dy), wanted, rtol=1e-3, atol=1e-3)


def test_what_does_not_fit_into_memory_is_left_out_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody_is_slow(monkeypatch)
    shapes: Any = {"C": (64, 64), "D": (64, 64), "E": (64, 64), "X": (64, 64, 64)}
    run = quickly("Y[u,v,t] = C[u,i]*D[v,j]*E[t,k]*X[i,j,k]", **shapes)
    assert "temporaries take 768.0 GiB" in trial(run, "broadcast and reduce").verdict
    operands = [torch.randn(shape) for shape in shapes.values()]
    wanted = torch.einsum("ui,vj,tk,ijk->uvt", *operands)
    torch.testing.assert_close(run(*operands), wanted, rtol=1e-3, atol=1e-2)


def test_a_chain_of_ten_is_checked_though_an_entry_sums_2_to_the_54_terms() -> None:
    names = "ABCDEFGHPQ"
    text = "Y[a,k] = " + "*".join(
        f"{n}[{i},{j}]" for n, i, j in zip(names, "abcdefghij", "bcdefghijk", strict=True)
    )
    run = ed.compile(text, target="cpu", seconds=0.01, budget=0.2, **dict.fromkeys(names, (64, 64)))
    operands = [torch.randn(64, 64) / 8 for _ in names]
    wanted = torch.linalg.multi_dot([operand.double() for operand in operands])
    assert (run(*operands) - wanted).abs().max() < 1e-4 * wanted.abs().max()
    assert run.error < 1e-5


def test_several_outputs_of_a_plain_program() -> None:
    run = quickly("S[j] = R[i]*A[i,j]; Q[i] = A[i,k]*P[k]", R=(9,), A=(9, 8), P=(8,))
    r, a, p = torch.randn(9), torch.randn(9, 8), torch.randn(8)
    s, q = run(r, a, p)
    torch.testing.assert_close(s, r @ a)
    torch.testing.assert_close(q, a @ p)


def test_a_chosen_baseline_takes_what_any_compiled_function_takes() -> None:
    run = ed.compile("Y[i,k] = exp(X[i,k])/sum[l](exp(X[i,l]))", target="cpu", X=(6, 5), seconds=0)
    x = torch.randn(5, 6).T
    torch.testing.assert_close(run(X=x), torch.softmax(x, 1))
    torch.testing.assert_close(torch.from_numpy(run(x.numpy())), torch.softmax(x, 1))
    torch.testing.assert_close(run(x.double()), torch.softmax(x.double(), 1))
    with pytest.raises(OperandError):
        run(torch.randn(6, 6))


def test_progress_is_told_in_words() -> None:
    said: list[str] = []
    distances(progress=said.append)
    assert said[0] == "computing the reference in float64"
    assert said[-1] == "timing"
    assert any(words.startswith("checking candidate 1 of") for words in said)


def test_a_race_can_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)
    seen: list[tuple[Trial, ...]] = []
    found = distances(watch=seen.append)
    assert len(seen) > 1  # once a round
    for trials in seen:
        assert [each.label for each in trials] == [each.label for each in found.trials]
    assert sum(isfinite(each.seconds) and each.spread > 0 for each in seen[-1]) > 1


def test_a_program_far_behind_the_fastest_is_left_out() -> None:
    judge = Judge(cast(Any, None), cast(Any, None), "cpu", 0.0, fastest=1e-3)
    assert judge.far_behind(5e-3)
    assert not judge.far_behind(3e-3)
    judge.fastest = 0.1
    assert judge.far_behind(0.3)
    assert not Judge(cast(Any, None), cast(Any, None), "cpu", 0.0).far_behind(1e9)


def test_a_run_that_a_busy_machine_stopped_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(self: entrants._Timed, inputs: Any) -> Any:
        self.seconds = 0.05
        return self.run(inputs)

    monkeypatch.setattr(entrants._Timed, "__call__", stopped)
    monkeypatch.setattr(entrants, "first", lambda *_: 1e-5)
    monkeypatch.setattr(general, "first", lambda *_: 1e-5)
    verdicts = [trial.verdict for trial in distances().trials]
    assert not any("on its first run" in verdict for verdict in verdicts), verdicts


def test_what_did_not_race_bars_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Left out of the race with a first run that was shorter than the others' times in it."""

    def raced(entrants: Any, judge: Judge, seconds: float) -> Any:
        found, left_out = [], False
        for entrant in entrants:
            if entrant.run is not None:
                time = 1.0 if entrant.plain else 0.02 if left_out else 0.01
                timing = Timing(time, 0.0, (time,) * 4) if entrant.plain or left_out else None
                left_out |= not entrant.plain
                trial = replace(entrant.trial, seconds=time)
                entrant = replace(entrant, trial=trial, timing=timing)
            found.append(entrant)
        return found, False

    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(choose, "raced", raced)
    monkeypatch.setattr(winner, "wins_again", lambda *_, **__: True)
    run = distances()
    assert run.chosen.plan is not None
    assert run.chosen.seconds == 0.02


@pytest.mark.parametrize(
    ("again", "left", "chosen"),
    [(0.9, 1.0, True), (0.99, 1.0, False), (0.9, -0.1, True), (0.9, -1.0, False)],
)
def test_a_close_winner_of_many_races_once_more_if_there_is_time(
    monkeypatch: pytest.MonkeyPatch, again: float, left: float, chosen: bool
) -> None:
    wins_again = winner.wins_again
    candidates_win(monkeypatch)
    monkeypatch.setattr(Judge, "left", left)
    monkeypatch.setattr(winner, "wins_again", wins_again)
    times = Timing(again, 0.0, (again,) * 4), Timing(1.0, 0.0, (1.0,) * 4)
    monkeypatch.setattr(races, "duel", lambda *_, **__: times)
    monkeypatch.setattr(races, "CLOSE", 0.0)
    run = distances()
    assert (run.chosen.plan is not None) is chosen


def test_what_was_far_behind_a_refused_candidate_races_after_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first race leaves one candidate alone; where it is refused, the others have theirs."""
    races_held: list[int] = []
    tried: list[str] = []

    def raced_by_turns(entrants: Any, judge: Judge, seconds: float) -> Any:
        races_held.append(1)
        found = []
        for entrant in entrants:
            if entrant.run is not None:
                time = 1.0 if entrant.plain else 0.01 if not tried else 0.02
                first = not any(e.timing and not e.plain for e in found)
                racing = entrant.plain or len(races_held) > 1 or first
                timing = Timing(time, 0.0, (time,) * 4) if racing else None
                trial = replace(entrant.trial, seconds=time)
                entrant = replace(entrant, trial=trial, timing=timing)
            found.append(entrant)
        return found, False

    def refused_once(entrant: Any, *_: Any) -> Any:
        tried.append(entrant.trial.label)
        return entrant.out("refused: for the test") if len(tried) == 1 else entrant

    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(choose, "raced", raced_by_turns)
    monkeypatch.setattr(winner, "wins_again", lambda *_, **__: True)
    monkeypatch.setattr(winner, "checked", refused_once)
    run = distances()
    assert run.chosen.plan is not None
    assert run.chosen.label == tried[-1] != tried[0]
    everything_refused: list[str] = []

    def refused_always(entrant: Any, *_: Any) -> Any:
        everything_refused.append(entrant.trial.label)
        return entrant.out("refused: for the test")

    monkeypatch.setattr(winner, "checked", refused_always)
    assert distances().chosen.plan is None
    assert everything_refused


def test_a_long_program_as_written_is_run_only_where_nothing_else_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choose, "rivals", lambda *_: ())
    monkeypatch.setattr(general, "MOST_POINTS", 10)
    text = "Y[i,j] = 2*sum[k](A[i,k]*B[k,j]) + 1"
    shapes: Any = {"A": (20, 30), "B": (30, 10)}
    run = ed.derive(text, **shapes).compile()
    assert run.chosen.plan is not None
    assert all(each.plan is not None for each in run.trials)
    monkeypatch.setattr(choose, "worth_compiling", lambda *_: ())
    other = ed.derive(text, **shapes).compile(tried=0)
    assert other.chosen.plan is None
    a, b = torch.randn(20, 30), torch.randn(30, 10)
    for found in (run(a, b), other(a, b)):
        torch.testing.assert_close(found, 2 * a @ b + 1, rtol=1e-4, atol=1e-4)


def test_where_no_line_is_right_the_operators_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The candidates of the search are other programs here: only the operators are left."""
    monkeypatch.setattr(choose, "rivals", lambda *_: ())
    monkeypatch.setattr(general, "MOST_POINTS", 10)
    monkeypatch.setattr(choose, "worth_compiling", lambda *_: ())
    monkeypatch.setattr(choose, "worth_trying", lambda *_: [])
    run = quickly("Y[i,j] = A[i,k]*B[k,j]", A=(20, 30), B=(30, 10))
    assert run.chosen.label == GIVEN
    assert "by the library's operators" in underived(run)
    a, b = torch.randn(20, 30), torch.randn(30, 10)
    torch.testing.assert_close(run(a, b), a @ b, rtol=1e-4, atol=1e-4)
