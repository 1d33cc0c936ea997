"""What `compile` remembers: the same function again, without a search and without a race."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.eops.cache_folder import VARIABLE
from einderive.frontend.api import optimize
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.api.record import places_of, recalled
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.compile import anew, remembered
from einderive.frontend.compile.remembered import (
    CHOICE,
    Request,
    recall,
    remember_choice,
    remember_derivation,
)
from einderive.frontend.memory import surroundings
from einderive.frontend.memory.kept import store
from einderive.frontend.running.execute import executable
from einderive.frontend.timed.trial import Trial
from einderive.frontend.trial import choose
from tests.amount import sampled
from tests.prepared import python

ROOT = Path(__file__).parents[3]
DISTANCES = "D[i,j] = (A[i,k]-B[j,k])^2"
SHAPES = {"A": (9, 4), "B": (8, 4)}
BUDGETS: dict[str, Any] = {"seconds": 0.05, "budget": Budget(states=300)}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@contextmanager
def no_search_and_no_race() -> Iterator[None]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("searched or measured")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimize, "search", refuse)
        patch.setattr(choose, "choose", refuse)
        yield


def distances(**options: Any) -> CompiledFunction:
    return ed.compile(DISTANCES, **{**SHAPES, **BUDGETS, **options})


class Asked(Exception):
    """Carries a request."""


def asked(**options: Any) -> Request:
    """What `compile` looks for."""

    def tell(request: Request) -> None:
        raise Asked(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anew, "recall", tell)
        with pytest.raises(Asked) as found:
            distances(**options)
    request = found.value.args[0]
    assert isinstance(request, Request)
    return request


@pytest.fixture(scope="module")
def compiled() -> CompiledFunction:
    """One that was compiled without memory."""
    return distances(remember=False)


@pytest.fixture
def kept(compiled: CompiledFunction) -> CompiledFunction:
    """The same, remembered."""
    remember_choice(asked(), compiled)
    return compiled


def check(function: CompiledFunction) -> None:
    a, b = torch.randn(9, 4), torch.randn(8, 4)
    wanted = torch.cdist(a.double(), b.double()) ** 2
    torch.testing.assert_close(function(a, b).double(), wanted, rtol=1e-4, atol=1e-4)


def test_the_second_time_nothing_is_searched_or_measured() -> None:
    first = distances()
    assert first.remembered is None
    assert "remembered" not in str(first)
    with no_search_and_no_race():
        again = distances()
    check(again)
    assert again.remembered is not None
    assert "remembered from 20" in str(again)
    assert again.chosen == replace(first.chosen, plan=again.chosen.plan)
    assert [t.seconds for t in again.trials] == [t.seconds for t in first.trials]
    assert len(again.derivation.candidates) == len(first.derivation.candidates)
    assert again.derivation.check()


def test_names_of_iterators_do_not_count_and_stay_the_caller_s(kept: CompiledFunction) -> None:
    with no_search_and_no_race():
        again = ed.compile("D[p,q] = (A[p,r]-B[q,r])^2", **SHAPES, **BUDGETS)
    assert "D[p,q]" in str(again)
    assert again.derivation.check()


def test_evaluate_and_einsum_remember_too() -> None:
    a, b = torch.randn(9, 4), torch.randn(4, 8)
    ed.einsum("ik,kj->ij", a, b, derive=True)
    ed.evaluate("Y[i] = 2*A[i,k]", A=a)
    from einderive.frontend.compile import evaluate
    from einderive.frontend.einsum import call

    evaluate._kept.clear()
    call._derived.cache_clear()
    with no_search_and_no_race():
        torch.testing.assert_close(ed.einsum("ik,kj->ij", a, b, derive=True), a @ b)
        torch.testing.assert_close(ed.evaluate("Y[i] = 2*A[i,k]", A=a), 2 * a.sum(1))


@pytest.mark.parametrize(
    "options",
    [
        {"dtypes": "float64"},
        {"A": (10, 4)},
        {"accuracy": "fast"},
        {"nan": "strict"},
        {"weights": "B"},
        {"laws": "exp-sum"},
        {"budget": Budget(states=100)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_another_request_has_other_keys(options: dict[str, Any]) -> None:
    one, other = asked(), asked(**options)
    assert one.derivation_key != other.derivation_key
    assert one.choice_key != other.choice_key
    assert asked(**options).choice_key == other.choice_key


@pytest.mark.parametrize("options", [{"seconds": 0.5}, {"check_assumptions": False}])
def test_another_race_has_the_same_derivation(options: dict[str, Any]) -> None:
    one, other = asked(), asked(**options)
    assert one.derivation_key == other.derivation_key
    assert one.choice_key != other.choice_key


@pytest.mark.parametrize(
    "options",
    [{"remember": False}, {"baseline": lambda a, b: ((a[:, None] - b) ** 2).sum(-1)}],
    ids=lambda options: next(iter(options)),
)
def test_what_is_neither_recalled_nor_kept(options: dict[str, Any], kept: CompiledFunction) -> None:
    before = [(each.key, each.made) for each in store().every()]
    function = distances(**options)
    assert function.remembered is None
    check(function)
    assert [(each.key, each.made) for each in store().every()] == before


CHANGES: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "threads": (torch, "get_num_threads", lambda: 77),
    "precision": (torch, "get_float32_matmul_precision", lambda: "medium"),
    "processor": (surroundings, "_processor", lambda: "another"),
    "numba": (surroundings, "_version", lambda name: f"another {name}"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_on_another_machine_the_derivation_is_measured_anew(
    change: str, kept: CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = asked()
    before = one.derivation_key, one.choice_key
    monkeypatch.setattr(*CHANGES[change])
    other = asked()
    assert other.derivation_key == before[0]
    assert other.choice_key != before[1]
    if change == "threads":
        monkeypatch.setattr(optimize, "search", None)
        function = distances()
        assert function.remembered is None
        check(function)


def test_other_software_derives_anew(
    kept: CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = asked().derivation_key
    monkeypatch.setattr(surroundings, "_files", lambda: "others")
    surroundings.software.cache_clear()
    try:
        assert asked().derivation_key != before
    finally:
        surroundings.software.cache_clear()


def request(text: str, **shapes: Any) -> Request:
    program = ed.parse(text, **shapes)
    return Request(program, "cpu", (), (), "normwise", "ignore", Budget(states=300))


FORMULAS = {
    DISTANCES: SHAPES,
    "Y[i,j] = max[k](A[i,k] + B[j,k])": SHAPES,
    "S[i,j] = A[i,k]*B[j,k]; Y[i,j] = exp(S[i,j])/sum[l](exp(S[i,l]))": SHAPES,
    "Y[h] = A[h+r-1]*K[r] where h in 0:20": {"A": (20,), "K": (3,)},
}


@sampled(4)
@pytest.mark.compiled
@pytest.mark.parametrize("text", FORMULAS, ids=range(len(FORMULAS)))
def test_every_program_that_might_be_chosen_is_put_together_again(text: str) -> None:
    wish = request(text, **FORMULAS[text])
    function = ed.derive(wish.program, budget=wish.budget).compile(seconds=0.05)
    inputs = [torch.randn(t.shape) for t in wish.program.inputs]
    tensors = dict(zip(wish.program.inputs, inputs, strict=True))
    wide = [value.double() for value in inputs]
    (wanted,) = stage_by_stage(wish.program, [torch.float64])(
        dict(zip(wish.program.inputs, wide, strict=True))
    )
    labels = set()
    for trial in function.trials:
        if trial.verdict not in ("baseline", "accepted"):
            continue
        remember_choice(wish, replace(function, chosen=trial))
        again = recall(wish)
        assert again is not None, trial
        assert again.chosen == replace(trial, plan=again.chosen.plan)
        assert again.run.words == trial.words
        (found,) = again.run(tensors)
        torch.testing.assert_close(found.double(), wanted, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(again(*inputs), found)
        labels.add(trial.label.split()[0])
    assert "baseline" in labels
    assert labels & {"as", "candidate"}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["trials"][data["chosen"]].update(families=[{}]),
        lambda data: data["trials"][data["chosen"]].pop("seconds"),
        lambda data: data.update(chosen=99),
        lambda data: data.pop("trials"),
        lambda data: data["trials"][data["chosen"]].update(plan=99, text=""),
    ],
)
def test_a_choice_that_cannot_be_read_is_as_good_as_none(
    change: Callable[[Any], Any], kept: CompiledFunction
) -> None:
    (text,) = [each for each in store().every() if each.kind == CHOICE]
    data = json.loads(text.text)
    change(data)
    assert store().put(CHOICE, text.key, json.dumps(data))
    assert recall(asked()) is None
    remember_choice(asked(), kept)
    assert recall(asked()) is not None


def test_a_step_that_does_not_hold_is_not_believed(
    compiled: CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, plan = next((n, p) for n, p in enumerate(compiled.derivation.candidates) if p.steps)
    run = executable(plan, "cpu", (torch.float32,))
    trial = Trial(f"candidate {number + 1}", plan, run.words, 1.0, 0.0, "accepted")
    remember_choice(asked(), replace(compiled, trials=(trial,), chosen=trial))
    found = recall(asked())
    assert found is not None
    check(found)
    monkeypatch.setattr(remembered, "not_shown", lambda *_: "no")
    assert recall(asked()) is None


def test_what_was_cut_short_is_not_kept(compiled: CompiledFunction) -> None:
    remember_choice(asked(), replace(compiled, interrupted=True))
    assert not [*store().every()]


def test_nothing_is_kept_when_it_is_off(
    folder: Path, compiled: CompiledFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = asked()
    monkeypatch.setenv(VARIABLE, "off")
    remember_choice(wish, compiled)
    assert recall(wish) is None
    assert not [*folder.iterdir()]
    assert "off" in store().state().problem


def test_a_choice_among_other_candidates_is_not_believed(kept: CompiledFunction) -> None:
    other = ed.derive(asked().program, budget=Budget(states=10))
    remember_derivation(asked(), other)
    assert recall(asked()) is None
    function = distances()
    assert function.remembered is None
    assert len(function.derivation.candidates) == len(other.candidates)
    with no_search_and_no_race():
        check(distances())


@pytest.mark.parametrize("name", ["structure", "show_program", "places_of"])
def test_what_cannot_be_written_down_is_compiled_all_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deep(*_: Any, **__: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr(remembered, name, deep)
    check(distances())


def test_a_folder_that_cannot_be_made_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(folder / "file"))
    function = distances()
    assert function.remembered is None
    check(function)


def test_another_process_remembers(kept: CompiledFunction) -> None:
    lines = [
        "import einderive as ed, torch",
        "from einderive.frontend.trial import choose",
        "choose.choose = None",
        f"torch.set_num_threads({torch.get_num_threads()})",
        "budget = ed.Budget(states=300)",
        f"f = ed.compile({DISTANCES!r}, **{SHAPES!r}, seconds=0.05, budget=budget)",
        "assert f.remembered is not None",
        "print(f.chosen.label, *map(float, f(torch.ones(9, 4), torch.zeros(8, 4))[0]))",
    ]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    said = python("-c", "\n".join(lines), env=os.environ | {"PYTHONPATH": path})
    assert said.stdout.split()[-8:] == ["4.0"] * 8, said.stderr
    assert said.stdout.startswith(kept.chosen.label)


def test_steps_are_made_again_without_their_text(compiled: CompiledFunction) -> None:
    source, candidates = compiled.derivation.source, compiled.derivation.candidates
    data = json.loads(json.dumps(compiled.derivation.data()))
    places = {str(n): places_of(source, plan) for n, plan in enumerate(candidates)}
    known = {n: found for n, found in places.items() if found is not None}
    assert sum(map(len, known.values())) > 1
    for candidate in data["candidates"]:
        for step in candidate["steps"]:
            step["before"] = step["after"] = "no expression"
    again = recalled(data, source, known).candidates
    for number in map(int, known):
        assert again[number].steps == candidates[number].steps
        assert again[number].roots == candidates[number].roots
        assert again[number].stages == candidates[number].stages


SAME = ("Y[i] = A[i,k]*B[i,k]", "Y[p] = A[p,q]*B[p,q]", "Y[j] = sum[i](A[j,i]*B[j,i])")
OTHERS = (
    *("Y[i] = A[i,k]*A[i,k] + B[i,k]", "Y[i] = A[i,k]*B[i,k+1]", "Y[i] = A[i,k]*B[i,k]*2"),
    *("Y[i] = A[i,k]*B[i,k]*2.5", "Y[k] = A[i,k]*B[i,k]", "Y[i] = max[k](A[i,k]*B[i,k])"),
    *("Y[i] = A[i,k]*B{fill=1}[i,k+1]", "Y[i,k] = A[i,k]*B[i,k]", "Z[i] = A[i,k]*B[i,k]"),
    *("assume A > 0\nY[i] = A[i,k]*B[i,k]", "Y[i] = B[i,k]*i + A[i,k]", "Y[i] = B[i,k]*A[i,k]"),
)


def test_other_formulas_have_another_structure() -> None:
    shapes = {"A": (4, 4), "B": (4, 4)}
    found = [request(text, **shapes).formula for text in (*SAME, *OTHERS)]
    assert len({*found[: len(SAME)]}) == 1
    assert len({*found}) == 1 + len(OTHERS)
