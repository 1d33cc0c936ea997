"""Results are memory of their own: writing to one element changes that element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import einderive as ed
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.running.execute import executable
from einderive.frontend.running.results import Layout, layout, meet, owned, repeats
from einderive.frontend.timed.timing import Timing
from einderive.frontend.trial import races as module
from tests.amount import sampled
from tests.frontend.races import nobody_is_slow

KINDS: tuple[Callable[..., Any], ...] = (np.array, torch.tensor)
FORMULAS: dict[str, tuple[str, dict[str, Any]]] = {
    "a copy": ("Y[i,j] = A[i,j]", {"A": (3, 4)}),
    "transposed": ("Y[j,i] = A[i,j]", {"A": (3, 4)}),
    "broadcast": ("Y[i,j] = x[j] where i in 0:3", {"x": (4,)}),
    "broadcast after a product": ("Y[i,j] = A[j,k]*x[k] where i in 0:3", {"A": (2, 4), "x": (4,)}),
    "a diagonal": ("Y[i] = A[i,i]", {"A": (4, 4)}),
    "a row": ("Y[j] = A[1,j]", {"A": (3, 4)}),
    "reversed": ("Y[i] = x[3-i] where i in 0:4", {"x": (4,)}),
    "windows": ("Y[i,j] = x[i+j] where i in 0:3, j in 0:3", {"x": (5,)}),
    "windows of a product": (
        "T[i] = A[i,k]*x[k]; Y[i,j] = T[i+j] where i in 0:2, j in 0:3",
        {"A": (4, 3), "x": (3,)},
    ),
    "padded": ("Y[i] = x[i-1] where i in 0:6", {"x": (4,)}),
    "unfolded": ("Y[i,j] = x[4*i+j] where i in 0:3, j in 0:4", {"x": (12,)}),
    "folded up": ("Y[k] = A[k//4,k%4] where k in 0:12", {"A": (3, 4)}),
    "two equal results": ("Y[i] = 2*x[i]; Z[i] = 2*x[i]", {"x": (4,)}),
    "two equal inputs": ("Y[i] = x[i]; Z[i] = x[i]", {"x": (4,)}),
    "one result in two orders": (
        "P[i,j] = A[i,k]*B[k,j]; Y[i,j] = P[i,j]; Z[j,i] = P[i,j]",
        {"A": (3, 4), "B": (4, 2)},
    ),
    "a result and a row of it": (
        "P[i,j] = A[i,k]*B[k,j]; Z[j] = P[0,j]; Y[i,j] = P[i,j]",
        {"A": (3, 4), "B": (4, 2)},
    ),
    "halves": (
        "P[i,j] = A[i,k]*B[k,j]; Y[i,j] = P[i,j] where j in 0:2; Z[i,j] = P[i,j+2] where j in 0:2",
        {"A": (3, 4), "B": (4, 4)},
    ),
    "ones": ("Y[i] = 1", {"Y": (4,)}),
    "a number": ("Y = 3", {}),
    "a mask": ("Y[i,j] = where(j <= i, 1, 0)", {"Y": (3, 3)}),
    "no dimension": ("Y = x[0]", {"x": (4,)}),
    "a full contraction": ("Y = x[i]*x[i]", {"x": (4,)}),
    "no elements": ("Y[i,j] = A[j,i]", {"A": (0, 3)}),
    "nothing to sum": ("Y[i] = A[i,k]*x[k]", {"A": (3, 0), "x": (0,)}),
    "weights": ("Y[i] = 2*K[i]", {"K": (4,), "weights": ["K"]}),
    "weights as they are": ("Y[i,j] = K[j,i]", {"K": (3, 4), "weights": ["K"]}),
    "weights in a view": (
        "T[i,j] = 2*K[i,j]; Y[j,i] = T[i,j]; Z[i] = T[i,i]",
        {"K": (3, 3), "weights": ["K"]},
    ),
    "weights that are read again": (
        "T[k,j] = 2*K[j,k]; Y[i,j] = A[i,k]*T[k,j]; Z[k,j] = T[k,j]",
        {"K": (3, 4), "A": (2, 4), "weights": ["K"]},
    ),
    "two projections": (
        "Q[t,d] = X[t,i]*W[i,d]; K[t,d] = X[t,i]*V[i,d]",
        {"X": (3, 4), "W": (4, 2), "V": (4, 2)},
    ),
}


def arrays(run: CompiledFunction, kind: Callable[..., Any]) -> dict[str, Any]:
    """Integers in the inputs' types: every program computes the same with them."""
    generator = np.random.default_rng(3)
    return {
        tensor.name: kind(generator.integers(1, 9, tensor.shape).astype(tensor.dtype))
        for tensor in run.derivation.source.inputs
    }


def results(run: Callable[..., Any], inputs: Mapping[str, Any]) -> list[np.ndarray]:
    """The results as arrays of the same memory."""
    found = run(**inputs)
    return [np.asarray(y) for y in (found if isinstance(found, tuple) else (found,))]


def stays_alone(run: Callable[..., Any], inputs: Mapping[str, Any]) -> None:
    """Writes to every element of every result, and looks at everything else each time."""
    given_values = {name: np.asarray(value).copy() for name, value in inputs.items()}
    first = results(run, inputs)
    wanted = [np.array(y) for y in first]
    expected = [np.array(y) for y in first]
    for number, result in enumerate(first):
        for index in np.ndindex(result.shape):
            result[index] = expected[number][index] = -7.0
            for found, values in zip(first, expected, strict=True):
                np.testing.assert_array_equal(found, values)
            for name, values in given_values.items():
                np.testing.assert_array_equal(np.asarray(inputs[name]), values)
    for found, values in zip(results(run, inputs), wanted, strict=True):
        np.testing.assert_array_equal(found, values)


@sampled(6)
@pytest.mark.parametrize("name", FORMULAS)
def test_writing_to_a_result_changes_nothing_else(name: str) -> None:
    text, options = FORMULAS[name]
    found = ed.derive(text, target="cpu", **options)
    chosen = found.compile(seconds=0.01)
    programs = [chosen]
    programs += [replace(chosen, run=executable(p, "cpu")) for p in found.candidates]
    for run in programs:
        for kind in KINDS:
            stays_alone(run, arrays(run, kind))


@pytest.mark.gpu
@pytest.mark.parametrize("name", FORMULAS)
def test_writing_to_a_result_on_a_gpu_changes_nothing_else(name: str) -> None:
    text, options = FORMULAS[name]
    run = ed.compile(text, target="cuda", seconds=0.01, **options)
    inputs = {name: value.cuda() for name, value in arrays(run, torch.tensor).items()}
    before = {name: value.clone() for name, value in inputs.items()}

    def call() -> list[torch.Tensor]:
        found = run(**inputs)
        values = found if isinstance(found, tuple) else (found,)
        return [torch.as_tensor(y) for y in values]  # without operands, they are arrays

    first = call()
    expected = [y.clone() for y in first]
    wanted = [y.clone() for y in first]
    for number, result in enumerate(first):
        for index in np.ndindex(tuple(result.shape)):
            result[index] = expected[number][index] = -7.0
            assert all(map(torch.equal, first, expected))
    assert all(torch.equal(inputs[name], before[name]) for name in inputs)
    assert all(map(torch.equal, call(), wanted))


@pytest.mark.parametrize("kind", KINDS)
def test_weights_seen_through_another_tensor(kind: Callable[..., Any]) -> None:
    """The same memory as a tensor of its own, beginning elsewhere in its storage."""
    run = ed.compile("Y[i] = K[i]; Z[i] = 2*K[i]", target="cpu", K=(4,), weights=["K"])
    whole = np.arange(5, dtype=np.float32)
    run(torch.from_numpy(whole)[1:])
    weights = torch.from_numpy(whole[1:])
    stays_alone(run, {"K": weights if kind is torch.tensor else whole[1:]})
    assert whole.tolist() == [0, 1, 2, 3, 4]


def test_a_result_that_is_no_view_is_not_copied() -> None:
    matrix = torch.rand(6, 8)
    halves = matrix[:, :4], matrix[:, 4:]
    found = owned([matrix.t()], [torch.rand(3)])
    assert found[0].data_ptr() == matrix.data_ptr()
    assert [y.data_ptr() for y in owned(halves, [])] == [h.data_ptr() for h in halves]


def test_of_two_results_that_overlap_the_smaller_one_is_copied() -> None:
    matrix = torch.rand(6, 8)
    row, whole, again = owned([matrix[0], matrix, matrix], [])
    assert whole.data_ptr() == matrix.data_ptr()
    assert len({y.data_ptr() for y in (row, whole, again)}) == 3
    assert torch.equal(row, matrix[0])
    assert torch.equal(again, matrix)


def test_parts_of_one_product_are_handed_on_as_they_are() -> None:
    """What the joint projections save is not spent on copies."""
    shapes: dict[str, Any] = {"X": (64, 32), "W": (32, 32), "V": (32, 32)}
    text = "Q[t,d] = X[t,i]*W[i,d]; K[t,d] = X[t,i]*V[i,d]"
    found = ed.derive(text, target="cpu", weights=["W", "V"], **shapes)
    joint = next(plan for plan in found.candidates if any(s.rule == "join" for s in plan.steps))
    inputs = {t: torch.rand(t.shape) for t in found.source.inputs}
    first, second = executable(joint, "cpu")(inputs)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def test_what_is_timed_gives_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The copies are part of the time that programs are compared by."""
    timed: list[Callable[[], Any]] = []

    def race(runs: Sequence[Callable[[], Any]], **_: Any) -> list[Timing]:
        timed.extend(runs)
        return [Timing(1.0, 0.0, (1.0,)) for _ in runs]

    nobody_is_slow(monkeypatch)
    monkeypatch.setattr(module, "race", race)
    run = ed.compile("Y[j,i] = A[i,j]; Z[j,i] = A[i,j]", target="cpu", A=(3, 4))
    assert len(timed) == sum(trial.seconds == 1.0 for trial in run.trials) > 0
    for call in timed:
        found = [*call(), *call(), *call.args]  # type: ignore[attr-defined]
        assert len({y.untyped_storage().data_ptr() for y in found}) == len(found) == 5


def offsets(found: Layout) -> list[int]:
    """The elements' places, each from its indices."""
    return [
        found.offset + sum(i * s for i, s in zip(index, found.strides, strict=True))
        for index in product(*map(range, found.shape))
    ]


def layouts() -> st.SearchStrategy[Layout]:
    dimension = st.tuples(st.integers(0, 5), st.integers(0, 12))
    return st.builds(
        lambda steps, offset: Layout(
            tuple(n for n, _ in steps), tuple(s for _, s in steps), offset
        ),
        st.lists(dimension, max_size=3),
        st.integers(0, 40),
    )


@given(layouts(), layouts())
def test_layouts_meet_where_they_share_a_place(left: Layout, right: Layout) -> None:
    assert meet(left, right) == bool({*offsets(left)} & {*offsets(right)})


@given(layouts())
def test_no_layout_that_repeats_is_missed(found: Layout) -> None:
    places = offsets(found)
    assert repeats(found) or len(set(places)) == len(places)


@given(st.permutations([(7, 40), (4, 10), (3, 2)]))
def test_permuted_and_cut_layouts_do_not_repeat(steps: list[tuple[int, int]]) -> None:
    assert not repeats(Layout(tuple(n for n, _ in steps), tuple(s for _, s in steps), 3))


def test_layouts_too_tangled_to_follow_count_as_meeting() -> None:
    odd = Layout((400, 400), (2, 800), 0)
    across = Layout((400, 399), (802, 2), 1)
    assert not {*offsets(odd)} & {*offsets(across)}
    assert meet(odd, across)


def test_columns_of_a_large_matrix_are_told_apart() -> None:
    matrix = torch.empty(2048, 3, 512)
    for left, right in product(range(3), repeat=2):
        assert meet(layout(matrix[:, left]), layout(matrix[:, right])) == (left == right)


EINSUMS = [
    ("ij->ij", [(3, 4)]),
    ("ij->ji", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("iij->ji", [(3, 3, 2)]),
    ("...->...", [(3, 4)]),
    ("ij->i", [(3, 1)]),
    ("i,->i", [(4,), ()]),
    ("i,i->i", [(4,), (1,)]),
    ("ij,jk->ik", [(3, 4), (4, 2)]),
    ("->", [()]),
    ("ij->ji", [(0, 4)]),
]


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
@pytest.mark.parametrize(("equation", "shapes"), EINSUMS)
def test_einsum_shares_no_memory(equation: str, shapes: list[tuple[int, ...]], order: Any) -> None:
    def run(**inputs: Any) -> Any:
        options = {} if isinstance(inputs["a"], torch.Tensor) else {"order": order}
        return ed.einsum(equation, *inputs.values(), **options)

    generator = np.random.default_rng(5)
    values = [generator.integers(1, 9, shape).astype(float) for shape in shapes]
    for kind in KINDS:
        inputs = dict(zip("ab", map(kind, values), strict=False))
        found = run(**inputs)
        if isinstance(found, np.generic):  # a scalar of NumPy's cannot be written to
            continue
        stays_alone(run, inputs)


def test_einsum_of_expanded_operands() -> None:
    row = torch.arange(4.0)
    found = ed.einsum("ij->ji", row.expand(3, 4))
    found[0, 0] = 5.0
    assert found[0].tolist() == [5.0, 0.0, 0.0]
    assert row.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_einsum_keeps_gradients_and_transformations() -> None:
    x = torch.rand(3, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(ed.einsum("ii->i", x).sum(), x)
    assert torch.equal(gradient, torch.eye(3))
    found = torch.func.vmap(lambda row: ed.einsum("i->i", row))(x.detach())
    assert torch.equal(found, x.detach())
