"""Integers: every program gives the formula's numbers, whatever their type holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.derivations.matching.match import match
from einderive.derivations.rules import RULES
from einderive.derivations.search.graph import FOLDED
from einderive.eops.dtypes import LIMITS
from einderive.eops.library import OPERATORS
from einderive.eops.torch_views.stage import lower, lower_all
from einderive.eops.torch_views.types import StageTypes, stage_types, types_of
from einderive.frontend.accuracy.accept import reference
from einderive.frontend.accuracy.accept_integers import (
    WrappingField,
    exact_case,
    greatest_entry,
    output_types,
    stays_whole,
)
from einderive.frontend.accuracy.inputs.drawn import whole_range_inputs
from einderive.frontend.api.compiled import CompiledFunction
from einderive.frontend.baselines.stage_by_stage import stage_by_stage
from einderive.frontend.running.execute import executable
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.subst import sources
from einderive.ta.notation.parse import parse_expression
from tests.amount import sampled
from tests.frontend.races import nobody_is_slow


@pytest.fixture(autouse=True)
def at_any_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_is_slow(monkeypatch)


SMALL_TYPES = ("bool", "uint8", "int8", "int16", "int32")
FORMULAS: dict[str, dict[str, tuple[int, ...]]] = {
    "{L[i:0:4,j:0:3] S[k:0:5] (A[i,k]-B[j,k])^2}": {"A": (4, 5), "B": (3, 5)},
    "{L[i:0:4,j:0:3] S[k:0:5] A[i,k]*(B[j,k]+C[j,k])}": {"A": (4, 5), "B": (3, 5), "C": (3, 5)},
    "{L[i:0:4,j:0:3] S[k:0:5] A[i,k]*B[j,k]*C[j,k]}": {"A": (4, 5), "B": (3, 5), "C": (3, 5)},
    "{L[i:0:4] S[k:0:4] {L[i:0:4,k:0:4] B[i]*C[k]}[i,k]}": {"B": (4,), "C": (4,)},
    "{L[i:0:4] max[k:0:5] A[i,k]+B[i]}": {"A": (4, 5), "B": (4,)},
    "{L[i:0:4] max[k:0:3] A{fill=-inf}[i+k-1]}": {"A": (4,)},
    "{L[i:0:6] S[k:0:3] A{fill=300}[i+k-1]*B[k]}": {"A": (6,), "B": (3,)},
    "{L[i:0:4] A[i]*{L[i:0:4] B[i]*C[i]}[i]}": {"A": (4,), "B": (4,), "C": (4,)},
}


def parsed(text: str, shapes: dict[str, tuple[int, ...]], dtype: str) -> Scope:
    return parse_expression(text, {n: expr.tensor(n, s, dtype) for n, s in shapes.items()})


@pytest.mark.parametrize("dtype", SMALL_TYPES)
@pytest.mark.parametrize("text", FORMULAS)
def test_no_step_changes_an_integer(text: str, dtype: str) -> None:
    """The stages of both sides of every step, on data of the type's whole range.  One that cuts
    off a read with an infinite fill is in float64, which holds these numbers."""
    root = parsed(text, FORMULAS[text], dtype)
    inputs = whole_range_inputs(input_tensors(root), "cpu")
    values = {t.name: v.numpy() for t, v in inputs.items()}
    wanted = evaluate(root, values, WrappingField())
    sides = [root, *(step.after for rule in RULES for step in rule.steps(root))]
    assert len(sides) > 1
    for side in sides:
        found = lower_all(side)(inputs)
        assert found.dtype == torch.float64 or not found.dtype.is_floating_point
        np.testing.assert_array_equal(found.to(torch.int64).numpy(), wanted, err_msg=str(side))


PROGRAMS: dict[str, dict[str, tuple[int, ...]]] = {
    "Y[i,j] = sum[k](A[i,k]*B[k]*C[k]*D[j,k])": {"A": (30, 20), "B": (20,), "D": (30, 20)},
    "T[i,k] = B[i]*C[k]; Y[i] = T[i,k]*A[k]": {"B": (51,), "A": (51,)},
    "T[i,k] = B[i]+C[k]; Y[i] = max[k](T[i,k])": {"B": (51,)},
    "Y[t,o] = X[t,i]*(W[o,i] + D[o,i])": {"X": (9, 8), "W": (7, 8), "D": (7, 8)},
    "Y[i] = A[i]*B[i]": {"A": (9,), "B": (9,)},
    "Y[i] = relu(A[i])": {"A": (9,)},
    "Y[i] = A[i+1] where i in 0:9": {"A": (9,)},
}


def shapes_of(text: str) -> dict[str, Any]:
    given: dict[str, Any] = dict(PROGRAMS[text])
    if "C[k]" in text:
        given["C"] = given.get("B", (51,))
    return given


@sampled(8)
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_all_programs_give_the_formula_in_the_same_type(text: str, dtype: str) -> None:
    found = ed.derive(text, dtypes=dtype, **shapes_of(text))
    inputs = whole_range_inputs(found.source.inputs, "cpu", greatest_entry(found.source), seed=3)
    expected = exact_case(found.source, inputs)
    compiled = found.compile(seconds=0.01)
    assert compiled.error == 0
    chosen = compiled.run(inputs)
    for trial in compiled.trials:
        if trial.plan is not None and trial.verdict == "accepted":
            (output,) = executable(trial.plan, "cpu")(inputs)
            assert output.dtype == chosen[0].dtype
            np.testing.assert_array_equal(output.to(torch.int64), expected.outputs[0])
    np.testing.assert_array_equal(chosen[0].to(torch.int64), expected.outputs[0])
    kept = torch.int64 if "*" in text or "+ " in text or "sum" in text else None
    if kept is not None:
        assert chosen[0].dtype == kept


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "bool"])
@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("Y[i] = A[i+1] where i in 0:9", True),
        ("Y[i] = where(i >= 3, A[i], 1)", True),
        ("Y[i] = maximum(A[i], B[i])", True),
        ("Y[i] = relu(A[i])", True),
        ("Y[i] = where(i >= 3, A[i], 999999)", False),
        ("Y[i] = A[i] + B[i]", False),
        ("Y[i] = abs(A[i])", False),
        ("Y[i] = max[k](A[k] + 0*B[i])", False),
    ],
)
def test_only_choices_keep_their_type(text: str, keeps: bool, dtype: str) -> None:
    shapes = {name: (9,) for name in "AB" if f"{name}[" in text}
    (root,) = ed.parse(text, dtypes=dtype, **shapes).roots()
    inputs = whole_range_inputs(input_tensors(root), "cpu")
    assert lower(root)(inputs).dtype == (getattr(torch, dtype) if keeps else torch.int64)


def both(text: str, dtypes: Any, **shapes: Any) -> tuple[list[torch.Tensor], CompiledFunction]:
    """The outputs of the baseline and of all accepted programs, on data of the whole range."""
    compiled = ed.derive(text, dtypes=dtypes, **shapes).compile(seconds=0.01)
    program, trials = compiled.derivation.source, compiled.trials[1:]
    expected = reference(program, "cpu")
    inputs = whole_range_inputs(program.inputs, "cpu", greatest_entry(program), seed=5)
    plans = [t.plan for t in trials if t.plan is not None and t.verdict == "accepted"]
    assert plans
    runs = [executable(plan, "cpu", expected.types) for plan in plans]
    runs.append(stage_by_stage(program, ()))
    return [run(inputs)[0] for run in runs], compiled


CONSTANTS = {
    "T[i] = 3 where i in 0:9; Y[i] = T[i]*A[i]": {"A": (9,)},
    "T[i] = where(i >= 4, 3, 2^53+1) where i in 0:9; Y[i] = sum[k](T[k]*A[i,k])": {"A": (9, 9)},
    "T[i] = 3 where i in 0:9; U[i] = T[i]^2 - 1; Y[i] = maximum(U[i], A[i])": {"A": (9,)},
}


@sampled(2)
@pytest.mark.parametrize("dtype", ["int64", "int8", "bool"])
@pytest.mark.parametrize("text", CONSTANTS)
def test_a_constant_statement_over_integers_is_one(text: str, dtype: str) -> None:
    program = ed.parse(text, dtypes=dtype, **CONSTANTS[text])
    assert stays_whole(program)
    outputs, _ = both(text, dtype, **CONSTANTS[text])
    for output in outputs:
        assert output.dtype == torch.int64
        assert torch.equal(output, outputs[0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("constant", ["3", "1/3"])
def test_a_constant_statement_leaves_floats_as_they_are(constant: str, dtype: str) -> None:
    text = f"T[i] = {constant} where i in 0:9; Y[i] = T[i]*A[i]; Z[i] = T[i] + 1"
    direct = stage_by_stage(ed.parse(text, dtypes=dtype, A=(9,)), ())
    run, scope = direct.runs[0], direct.scopes[0]
    inputs = {expr.tensor("A", (9,), dtype): torch.ones(9, dtype=getattr(torch, dtype))}
    assert run(inputs).dtype == lower(scope)(inputs).dtype == getattr(torch, dtype)
    mixed = {"A": dtype, "B": "int64"}
    program = ed.parse(f"{text}; X[i] = T[i]*B[i]", dtypes=mixed, A=(9,), B=(9,))
    types = output_types(program)
    whole = constant == "3"
    assert types[0] == getattr(torch, dtype)
    assert (types[1] == torch.int64, types[2] == torch.int64) == (whole, whole)


def test_a_folded_constant_knows_the_type_of_the_inputs() -> None:
    text = "T[i] = 3 where i in 0:9; Y[i] = T[i]*A[i]*W[i]"
    found = ed.derive(text, dtypes="int64", weights=["W"], A=(9,), W=(9,))
    run = executable(found.unchanged, "cpu")
    assert FOLDED in run.words
    number = 2**40 + 1
    inputs = {t: torch.full((9,), number if t.name == "A" else 1) for t in found.source.inputs}
    assert run(inputs)[0].tolist() == [3 * number] * 9


@pytest.mark.parametrize(
    ("types", "wanted"),
    [
        (("int64",), (torch.int64, torch.float32)),
        (("float16",), (torch.float16, torch.float16)),
        (("float16", "int8"), (torch.int64, torch.float16)),
    ],
)
def test_constants_of_a_gpu_program_have_the_same_types(types: Any, wanted: Any) -> None:
    """A kernel knows the types it reads, and not those of the program."""
    text = "T[i] = 3 where i in 0:9; U[i] = 1/(T[i]+4); Y[i] = T[i]*U[i]*A[i]*B[i]"
    dtypes = dict(zip("AB", types * 2, strict=False))
    found = ed.derive(text, dtypes=dtypes, target="cuda:90", A=(9,), B=(9,))
    run = executable(found.unchanged, "cuda")
    assert run.words[1:] == ("eOperator (strided views)", "eOperator (Triton)")
    buffers: dict[Any, torch.Tensor] = {
        t: torch.ones(9, dtype=getattr(torch, t.dtype)) for t in found.source.inputs
    }
    for scope, stage in zip(run.scopes[:2], run.runs[:2], strict=True):
        buffers[scope] = stage(buffers)
    assert tuple(buffers[scope].dtype for scope in run.scopes[:2]) == wanted


@sampled(2)
@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("T[i] = A[i]/2; Y[i] = T[i]*2", torch.float32),
        ("T[i] = 1/2 where i in 0:9; Y[i] = 2*T[i]*A[i]", torch.float32),
        ("Y[i] = where(i >= 1, A{fill=-inf}[i-1], 0) where i in 0:9", torch.float64),
        ("T[i] = A[i]/2; Y[i] = T[i] + T[i]", torch.float32),
    ],
)
@pytest.mark.parametrize("given", ["int64", "int8"])
def test_the_formula_decides_on_the_type(text: str, dtype: torch.dtype, given: str) -> None:
    outputs, compiled = both(text, given, A=(9,))
    assert {output.dtype for output in outputs} == {dtype}
    assert compiled.chosen.verdict in ("baseline", "accepted")
    inputs = whole_range_inputs(compiled.derivation.source.inputs, "cpu", 2**20)
    assert compiled.run(inputs)[0].dtype == dtype


def test_a_float_in_the_place_of_an_integer_is_refused() -> None:
    """Its numbers may be right, for these data."""
    found = ed.derive("Y[i] = A[i] + B[i]", dtypes="int8", A=(9,), B=(9,))
    expected = reference(found.source, "cpu")
    run = executable(found.unchanged, "cpu", expected.types)
    assert expected.error_of(run) == 0

    def floating(buffers: Any) -> torch.Tensor:
        return run.runs[0](buffers).double()

    assert expected.error_of(replace(run, runs=(floating,))) == inf


@sampled(4)
@pytest.mark.parametrize("dtype", ["int8", "bool"])
@pytest.mark.parametrize("fill", ["200", "1/2", "inf"])
@pytest.mark.parametrize(
    ("read", "kept"),
    [
        ("M{fill=F}[j//2,j]", True),
        ("M{fill=F}[j//2,j]*2", False),
        ("sum[k](M{fill=F}[j//2,k])", False),
        ("max[k](M{fill=F}[j//2,k])", False),
        ("where(j >= 1, M{fill=F}[j//2,j], M{fill=F}[j,0])", True),
    ],
)
def test_a_fill_that_is_never_read_need_not_fit(
    read: str, kept: bool, fill: str, dtype: str
) -> None:
    """3 is no multiple of 2: the box of j's digits reaches beyond M, where nothing is kept."""
    text = f"Y[j] = {read} where j in 0:3".replace("F", fill)
    derivation = ed.derive(text, dtypes=dtype, M=(4, 3), budget=ed.Budget(states=100))
    found = derivation.compile(seconds=0.01)
    assert found.error == 0
    inputs = whole_range_inputs(found.derivation.source.inputs, "cpu", 2**40)
    (root,) = ed.parse(text.replace(fill, "0"), dtypes=dtype, M=(4, 3)).roots()
    wanted = evaluate(root, {t.name: v.numpy() for t, v in inputs.items()}, WrappingField())
    (output,) = found.run(inputs)
    assert output.dtype == (getattr(torch, dtype) if kept else torch.int64)
    np.testing.assert_array_equal(output.to(torch.int64).numpy(), wanted)


FILLS = (Fraction(-1), Fraction(2), Fraction(300), Fraction(1, 2), -inf, inf, Fraction(2**70))
READS = (
    "{L[i:0:8] A{fill=F}[i-1]}",
    "{L[i:0:8] A{fill=F}[2*(i//2)-1]}",
    "{L[i:0:8] A{fill=F}[i+20]}",
    "{L[i:0:8] 2*A{fill=F}[i-1]}",
    "{L[i:0:6] S[k:0:3] A{fill=F}[i+k-1]}",
    "{L[i:0:6] max[k:0:3] A{fill=F}[i+k-1]}",
    "{L[i:0:12] min[k:0:3] A{fill=F}[i+k-1]}",
    "{L[i:0:6] S[k:0:3] A{fill=F}[i+k-1]*B[k]}",
    "{L[i:0:6,j:0:2] S[k:0:7] A{fill=F}[i+k-1]*C[k,j]}",
)


@sampled(6)
@pytest.mark.parametrize("fill", FILLS, ids=str)
@pytest.mark.parametrize("dtype", [*SMALL_TYPES, "int64"])
def test_a_fill_need_not_fit_the_type(dtype: str, fill: Any) -> None:
    shapes = {"A": (6,), "B": (3,), "C": (7, 2)}
    for text in READS:
        root = parsed(text.replace("F", str(fill)), shapes, dtype)
        inputs = whole_range_inputs(input_tensors(root), "cpu", 2**31)
        inputs = {t: v if t.name == "A" else v.clamp(0, 1) for t, v in inputs.items()}
        reals = {t.name: v.numpy().astype(np.float64) for t, v in inputs.items()}
        wanted = evaluate(root, reals, RealField())
        found = [(operator, match(operator, root)) for operator in OPERATORS]
        runs = [op.launch(binding) for op, binding in found if isinstance(binding, Binding)]
        for run in (lower(root), lower(root, as_written=True), *runs):
            np.testing.assert_allclose(
                run(inputs).double().numpy(), wanted, rtol=1e-15, err_msg=f"{text} {fill}"
            )


@pytest.mark.parametrize("number", [2**24 + 1, 2**53 + 1, 2**63 - 1, -(2**63)])
def test_an_infinite_fill_that_never_comes_out_costs_no_digit(number: int) -> None:
    root = parsed("{L[i:0:4] max[k:0:3] A{fill=-inf}[i+k-1]}", {"A": (4,)}, "int64")
    found = lower(root)({input_tensors(root)[0]: torch.full((4,), number)})
    assert found.dtype == torch.int64
    assert found.tolist() == [number] * 4


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("max[k:0:3] A{fill=-inf}[i+k-1]", torch.int64),
        ("max[k:0:3] A{fill=-inf}[i+9*k]", torch.int64),
        ("max[k:0:3] A{fill=-inf}[i+k-3]", torch.float64),  # i = 0 reads A[-3:0]
        ("max[k:0:3] A{fill=-inf}[i+11*k-9]", torch.float64),  # steps over A
        ("max[k:0:3] 2*A{fill=-inf}[i+k-1]", torch.float64),
        ("max[k:0:3] A{fill=inf}[i+k-1]", torch.float64),
        ("S[k:0:3] A{fill=-inf}[i+k-1]", torch.float64),
        ("min[k:0:3] A{fill=inf}[i+k-1]", torch.int64),
        ("S[k:0:3] exp(A[i+k])", torch.float32),
        ("max[k:3:3] A[i+k]", torch.float32),
    ],
)
def test_what_leaves_the_integers(text: str, dtype: torch.dtype) -> None:
    root = parsed(f"{{L[i:0:9] {text}}}", {"A": (9,)}, "int64")
    assert stage_types(root, [torch.int64]).result == dtype


def narrowing(scope: Scope) -> Callable[..., StageTypes]:
    """An elementwise stage over one integer type gives that type, and so wraps."""
    wide = types_of(scope)

    def types(buffers: Any) -> StageTypes:
        found = wide(buffers)
        read = {buffers[source].dtype for source in sources(scope.body)}
        whole = found.compute == torch.int64 and not scope.sums
        return StageTypes(found.compute, read.pop()) if whole and len(read) == 1 else found

    return types


def test_a_wrapping_candidate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Y[i,j] = sum[k](A[i,k]*B[k]*C[k]*D[j,k])"
    found = ed.derive(text, dtypes="int8", **shapes_of(text))
    monkeypatch.setattr("einderive.eops.torch_views.stage.types_of", narrowing)
    compiled = found.compile(seconds=0.01)
    wrapping = [t for t in compiled.trials if t.plan is not None and len(t.plan.stages) > 1]
    assert wrapping
    assert any(t.verdict.startswith("refused") for t in wrapping)
    inputs = whole_range_inputs(found.source.inputs, "cpu", seed=4)
    assert exact_case(found.source, inputs).agrees(compiled.run)


def test_a_wrapping_candidate_beside_floats_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "T[i,k] = A[i,k]*B[k]; Y[i] = T[i,k]*X[k]"
    types = {"A": "int8", "B": "int8"}
    found = ed.derive(text, dtypes=types, A=(9, 8), B=(8,), X=(8,))
    expected = reference(found.source, "cpu")
    run = executable(found.unchanged, "cpu")
    right = expected.error_of(run)
    assert right < 1e-6
    monkeypatch.setattr("einderive.eops.torch_views.stage.types_of", narrowing)
    assert expected.error_of(executable(found.unchanged, "cpu")) > 0.1


def test_a_wrapping_baseline_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ed.derive("Y[i] = A[i]*B[i]", dtypes="int8", A=(9,), B=(9,))
    monkeypatch.setattr("einderive.eops.torch_views.stage.types_of", narrowing)
    monkeypatch.setattr("einderive.frontend.trial.choose.rivals", lambda *_: ())
    assert len(stage_by_stage(found.source, ()).scopes) == 1
    compiled = found.compile(seconds=0.01)
    assert compiled.chosen.words == ("as written",)
    inputs = whole_range_inputs(found.source.inputs, "cpu", seed=4)
    assert exact_case(found.source, inputs).agrees(compiled.run)


def test_a_result_of_another_integer_type_is_refused() -> None:
    program = ed.parse("Y[i] = A[i]*B[i]", dtypes="int8", A=(9,), B=(9,))
    expected = reference(program, "cpu")
    (root,) = program.roots()

    def narrow(inputs: Any) -> tuple[torch.Tensor]:
        return (lower(root)(inputs).to(torch.int32),)

    assert expected.error_of(narrow) == inf


@pytest.mark.parametrize("dtype", LIMITS)
def test_data_span_the_whole_range(dtype: str) -> None:
    tensor = expr.tensor("A", (200,), dtype)
    assert isinstance(tensor, Source)
    values = whole_range_inputs([tensor], "cpu")[tensor]
    assert values.dtype == getattr(torch, dtype)
    assert (values.min(), values.max()) == LIMITS[dtype]
    if dtype != "bool":
        assert len(values.unique()) > 90


def test_data_are_smaller_where_order_would_tell_an_overflow() -> None:
    product = ed.parse("Y[i] = A[i,k]*x[k]", dtypes="int64", A=(9, 8), x=(8,))
    assert greatest_entry(product) == 2**63
    largest = ed.parse("Y[i] = max[k](A[i,k]*x[k])", dtypes="int64", A=(9, 8), x=(8,))
    assert 2**29 <= greatest_entry(largest) < 2**32
    half = ed.parse("Y[i] = A[i,k]*x[k]", dtypes={"A": "int64", "x": "float16"}, A=(9, 8), x=(8,))
    assert 8 < greatest_entry(half) * 8 * 8 <= 65504
    grows = ed.parse("Y[i] = exp(A[i])", dtypes="int64", A=(9,))
    assert greatest_entry(grows) == 0
    assert not stays_whole(grows)


def test_integers_wrap_in_the_interpreter_as_in_torch() -> None:
    text = "{L[i:0:4] S[k:0:5] (A[i,k] - 3)^5*B[k] + 2^70*A[i,k]}"
    root = parsed(text.replace("2^70", str(2**62)), {"A": (4, 5), "B": (5,)}, "int64")
    inputs = whole_range_inputs(input_tensors(root), "cpu")
    values = {t.name: v.numpy() for t, v in inputs.items()}
    wanted = evaluate(root, values, WrappingField())
    np.testing.assert_array_equal(lower(root)(inputs).numpy(), wanted)
