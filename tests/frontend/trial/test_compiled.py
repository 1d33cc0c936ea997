"""What is accepted, chosen and refused when candidates are built and timed."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

import einderive as ed
from einderive.frontend.accuracy.accept import error, reference
from einderive.frontend.accuracy.standard import standard_error
from einderive.ta.errors import BuildError, FormulaSyntaxError
from tests.amount import sampled
from tests.frontend.derived import DISTANCES, derived

PRODUCT = "Y[i] = A[i,k]*x[k]"
INTEGERS = ["bool", "uint8", "int8", "int32", "int64"]


@sampled(2)
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("text", [PRODUCT, "Y[i] = A[i,k] + 0*x[k]"])
def test_sums_of_integers_do_not_wrap(dtype: str, text: str) -> None:
    """Whatever program is chosen: the element type does not depend on which one was faster."""
    run = ed.compile(text, dtypes=dtype, seconds=0.01, A=(3, 70), x=(70,))
    high = 2 if dtype == "bool" else 120
    a, x = np.random.default_rng(0).integers(0, high, (2, 70)).astype(dtype)
    matrix = np.stack([a, x, a])
    wide, vector = matrix.astype(np.int64), x.astype(np.int64)
    wanted = wide @ vector if text == PRODUCT else wide.sum(1)
    result = run(A=matrix, x=x)
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, wanted)


def test_complex_numbers_keep_their_imaginary_part() -> None:
    text = "Y[i,j] = exp(A[i,j])/sum[k](exp(A[i,k]))"
    run = ed.compile(text, dtypes="complex64", seconds=0.01, A=(4, 5), target="cpu")
    a = torch.randn(4, 5, dtype=torch.complex64)
    wanted = a.exp() / a.exp().sum(1, keepdim=True)
    torch.testing.assert_close(run(a), wanted)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_torch_lacks_is_one_error(dtype: str) -> None:
    with pytest.raises(BuildError, match="cannot be evaluated here"):
        ed.compile("Y[i] = trigamma(A[i])", dtypes=dtype, A=(3,))


@pytest.mark.parametrize("text", ["Y[i] = max[k](A[i,k])", "Y[i] = relu(A[i,0])"])
def test_what_complex_numbers_lack_is_said_of_the_text(text: str) -> None:
    with pytest.raises(FormulaSyntaxError, match="A is complex"):
        ed.compile(text, dtypes="complex64", A=(3, 4))


def test_too_large_for_the_memory_is_one_error() -> None:
    found = ed.derive(PRODUCT, A=(10**11, 5), x=(5,))
    with pytest.raises(BuildError, match=r"(?s)memory.*smaller shapes"):
        found.compile()


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y = mean[i](log1p(exp(sum[j](X[i,j]*w[j]))))", {"X": (40, 9000), "w": (9000,)}),
        ("V[b] = sum[t](C[b,t]/(1 + y[b])^(t+1))", {"C": (900, 70), "y": (900,)}),
    ],
)
def test_what_overflows_on_standard_normal_numbers_is_judged_on_smaller_ones(
    text: str, shapes: dict[str, tuple[int, ...]]
) -> None:
    program = ed.parse(text, **shapes)
    assert standard_error(program, reference(program, "cpu")) == math.inf
    f = ed.derive(program, budget=0.1).compile(tried=0, seconds=0.01)
    assert f.error < 1e-4


def test_a_baseline_without_correct_digits_sets_no_standard() -> None:
    """10^5*x^2 overflows in float16 where it is written, and nothing else is tried."""
    text = "P[i] = 100000*A[i]^2; Y[i] = P[i]/100000"
    with pytest.raises(BuildError, match="gives numbers that its element types hold"):
        ed.derive(text, dtypes="float16", A=(40,)).compile(tried=0)


@pytest.mark.parametrize(
    ("dtypes", "result"),
    [
        ({"A": "float16"}, torch.float32),
        ({"A": "float64"}, torch.float64),
        ({"A": "int32"}, torch.float32),
        ({"A": "complex64"}, torch.complex64),
    ],
    ids=str,
)
def test_element_types_may_be_mixed(dtypes: dict[str, str], result: torch.dtype) -> None:
    run = ed.compile(PRODUCT, dtypes=dtypes, seconds=0.01, A=(6, 7), x=(7,), target="cpu")
    wrong = ("refused", "not built")  # what is left out was slow on a busy machine
    assert [trial for trial in run.trials if trial.verdict.startswith(wrong)] == []
    a = (torch.randn(6, 7) * 3).to(getattr(torch, dtypes["A"]))
    x = torch.randn(7)
    found = run(A=a, x=x)
    assert found.dtype == result
    torch.testing.assert_close(found, a.to(result) @ x.to(result))


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("got", "wanted", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.5], [1.0, 2.0], 0.25),
        ([1.0, 0.0], [1.0, NAN], INF),
        ([1.0, NAN], [1.0, NAN], 0.0),
        ([1.0, NAN], [1.0, 2.0], INF),
        ([1.0, INF], [1.0, -INF], INF),
        ([1.0, INF], [1.0, 1e300], 0.0),
        ([1.0, -INF], [1.0, 1e300], INF),
    ],
)
def test_error(got: list[float], wanted: list[float], expected: float) -> None:
    value = torch.tensor(got, dtype=torch.float32)
    assert error([value], [torch.tensor(wanted, dtype=torch.float64)]) == expected


def test_a_lost_imaginary_part_is_an_error() -> None:
    assert error([torch.ones(2)], [torch.ones(2, dtype=torch.complex128)]) == INF


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("where", ["choose.candidate", "races.race"])
def test_interrupted_with_the_best_so_far(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = derived(DISTANCES, A=(64, 32), B=(64, 32))
    monkeypatch.setattr(f"einderive.frontend.trial.{where}", interrupt)
    run = found.compile(seconds=0.02)
    assert run.interrupted
    assert "interrupted" in str(run)
    a, b = torch.randn(64, 32), torch.randn(64, 32)
    torch.testing.assert_close(run(a, b), torch.cdist(a, b) ** 2, rtol=1e-3, atol=1e-3)


def test_the_table_says_what_was_tried() -> None:
    found = derived(DISTANCES, A=(64, 32), B=(64, 32))
    run = found.compile(seconds=0.02)
    text = str(run)
    assert "* " in text
    assert text.count("baseline: the formula as one writes it in torch") == 1
    assert f"<CompiledFunction of 'Y[i,j] = (A[i,k] - B[j,k])^2', {run.chosen.label}" in repr(run)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ed.derive(PRODUCT, budget=0, A=(4, 5), x=(5,)),
        lambda: ed.derive(PRODUCT, budget=-1.0, A=(4, 5), x=(5,)),
        lambda: ed.derive(PRODUCT, budget=math.nan, A=(4, 5), x=(5,)),
        lambda: ed.derive(PRODUCT, budget=ed.Budget(states=0), A=(4, 5), x=(5,)),
        lambda: ed.derive(PRODUCT, budget="3", A=(4, 5), x=(5,)),  # type: ignore[arg-type]
        lambda: ed.derive(PRODUCT, most=0, A=(4, 5), x=(5,)),
        lambda: ed.derive(PRODUCT, target="gpu", A=(4, 5), x=(5,)),
        lambda: ed.derive(b"Y[i] = A[i]", A=(4,)),  # type: ignore[arg-type]
        lambda: ed.derive(ed.parse(PRODUCT, A=(4, 5), x=(5,)), dtypes="float64"),
        lambda: ed.derive(ed.parse(PRODUCT, A=(4, 5), x=(5,)), ranges={"k": (0, 3)}),
    ],
)
def test_options_that_make_no_sense(call: Callable[[], object]) -> None:
    with pytest.raises(ed.EinderiveError):
        call()


@pytest.mark.parametrize("dtype", ["float16", torch.float16, np.float16, np.dtype("float16")])
def test_element_types_by_any_name(dtype: object) -> None:
    program = ed.parse(PRODUCT, dtypes={"A": dtype}, A=(4, 5), x=(5,))
    assert [tensor.dtype for tensor in program.inputs] == ["float16", "float32"]


def test_tensors_may_be_called_like_the_first_argument() -> None:
    assert str(ed.derive("Y[i] = 2*text[i]", text=(4,)).program) == "Y[i] = 2*text[i]"
    assert str(ed.derive("Y[i] = 2*formula[i]", formula=(4,)).program) == "Y[i] = 2*formula[i]"


def test_given_statements_keep_their_names() -> None:
    text = "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); Y[i,j] = E[i,j]/sum[k](E[i,k])"
    found = ed.derive(text, X=(32, 64))
    (given,) = [plan for plan in found.candidates if not plan.steps] or [found.unchanged]
    names = [statement.name for statement in found.staged(given).statements]
    assert [name for name in names if not name.startswith("T")] == ["M", "E", "Y"]
    for plan in found.candidates:
        assert found.staged(plan).statements[-1].name == "Y"
