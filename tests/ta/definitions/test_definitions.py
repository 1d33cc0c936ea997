"""Definitions against the NumPy and torch lines of their files, and how they are written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import einderive as ed
from einderive.frontend.baselines.rival import rivals
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.errors import FormulaSyntaxError
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.listing import table
from einderive.ta.notation.definitions import MOST_PARTS, written_out
from einderive.ta.notation.parse import parse
from einderive.ta.printing.show import show_program
from einderive.ta.syntax.reader import read_expression
from einderive.ta.syntax.tree import Defined
from einderive.ta.syntax.walks import iterator_names
from tests.amount import sampled

rng = np.random.default_rng(3)
ALL = [pytest.param(each, id=each.head) for each in DEFINITIONS.values()]


def instance(definition: Definition, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A statement with the definition, and its operands' values."""
    operands = [name for name, default in definition.operands.items() if not default]
    given = [f"{each}[i,k]" for each in operands]
    given += [f"{name}={value}" for name, value in options.items()]
    over = "[k]" if definition.binder else ""
    left = "i" if definition.binder and not definition.free else "i,k"
    text = f"Y[{left}] = {definition.name}{over}({', '.join(given)})"
    return text, {each: rng.normal(size=(4, 7)) for each in operands}


def value(text: str, **values: Any) -> Any:
    """What the interpreter makes of one statement."""
    arrays = {name: np.asarray(array) for name, array in values.items()}
    program = parse(text, {name: array.shape for name, array in arrays.items()}, "float64")
    (scope,) = program.roots()
    with np.errstate(all="ignore"):
        return evaluate(scope, arrays, RealField())


@pytest.mark.parametrize("name", ["std", "softmax", "clip", "any"])
def test_arrays_of_numpy_and_tensors_of_torch(name: str) -> None:
    (definition,) = (known for (word, _), known in DEFINITIONS.items() if word == name)
    text, values = instance(definition, {})
    found = ed.evaluate(text, **values)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, value(text, **values), rtol=1e-12)
    tensors = {name: torch.from_numpy(array) for name, array in values.items()}
    expected = line(definition.torch, tensors, defaults(definition))
    torch.testing.assert_close(ed.evaluate(text, **tensors), expected, rtol=1e-12, atol=1e-12)


def defaults(definition: Definition) -> dict[str, float]:
    return {name: float(text) for name, text in definition.operands.items() if text}


def line(text: str, values: dict[str, Any], options: dict[str, Any]) -> Any:
    names = {"np": np, "torch": torch, "F": F, "axis": -1, **values, **options}
    return eval(text, names)


@sampled(2)
@pytest.mark.parametrize("definition", ALL)
@pytest.mark.parametrize("changed", [False, True], ids=["defaults", "options"])
def test_a_definition_is_what_its_lines_say(definition: Definition, changed: bool) -> None:
    given = {name: value + 1 for name, value in defaults(definition).items()} if changed else {}
    text, values = instance(definition, given)
    tensors = {name: torch.from_numpy(value) for name, value in values.items()}
    found = value(text, **values)
    options = {name: int(v) if v == int(v) else v for name, v in defaults(definition).items()}
    options |= {name: int(v) if v == int(v) else v for name, v in given.items()}
    assert definition.numpy or definition.torch
    if definition.numpy:
        expected = line(definition.numpy, values, options)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    if definition.torch:
        expected = line(definition.torch, tensors, options).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@sampled(2)
@pytest.mark.parametrize("definition", ALL)
def test_printed_text_is_the_same_program(definition: Definition) -> None:
    text, values = instance(definition, {})
    shapes = {name: value.shape for name, value in values.items()}
    program = parse(text, shapes, "float64")
    assert parse(str(program), shapes, "float64").roots() == program.roots()
    unicode = show_program(program, unicode=True)
    assert parse(unicode, shapes, "float64").roots() == program.roots()
    assert program.latex()


@pytest.mark.parametrize("definition", ALL)
def test_whether_the_value_is_over_k(definition: Definition) -> None:
    text, _ = instance(definition, {})
    call = read_expression(text.partition(" = ")[2])
    assert isinstance(call, Defined)
    inside = {name.name for name in iterator_names(written_out(call))} - {"pi"}
    assert inside == {name.name for name in iterator_names(call)}
    assert not definition.binder or definition.free is ("k" in inside)


@pytest.mark.parametrize("definition", ALL)
def test_the_file_has_the_name(definition: Definition) -> None:
    assert Definition(**table("einderive.ta.definitions", f"{definition.name}.toml")) == definition


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
def test_infinities_are_those_of_torch(name: str) -> None:
    inf, nan = np.inf, np.nan
    rows = [[-inf, -inf, -inf], [-inf, 1.0, 2.0], [inf, 1.0, -inf], [nan, 1.0, 2.0], [1e3, 0, -1e3]]
    x = torch.tensor(rows, dtype=torch.float64)
    left = "i" if name == "logsumexp" else "i,k"
    text, expected = f"Y[{left}] = {name}[k](x[i,k])", getattr(torch, name)(x, 1)
    np.testing.assert_allclose(value(text, x=x.numpy()), expected.numpy())
    if name == "log_softmax":
        torch.testing.assert_close(ed.evaluate(text, x=x), expected, equal_nan=True)


X = rng.normal(size=(3, 4, 5))
B = rng.normal(size=(4, 6))


def softmax(x: Any, axis: int) -> Any:
    return torch.softmax(torch.from_numpy(np.asarray(x)), axis).numpy()


CASES = [
    ("Y[i] = mean[j,k](X[i,j,k])", lambda: X.mean((1, 2))),
    ("Y = std[i,j,k](X[i,j,k], ddof=1)", lambda: X.std(ddof=1)),
    ("Y[i] = sum[j,k](X[i,j,k])/size(j,k)", lambda: X.mean((1, 2))),
    ("Y[i,j] = X[i,j,k]/size(k)", lambda: X.mean(2)),
    ("Y[i,j,k] = softmax[j,k](X[i,j,k])", lambda: softmax(X.reshape(3, 20), 1).reshape(X.shape)),
    ("Y[i,m] = softmax[j](X[i,j,k])*B[j,m] where k in 0:1",
     lambda: np.einsum("ij,jm->im", softmax(X[:, :, 0], 1), B)),
    # an argument has its own sums: the variance of a sum, not a sum of variances
    ("Y[i] = var[j](X[i,j,k])", lambda: X.sum(2).var(1)),
    ("Y[m] = mean[j](X[i,j,k]*B[j,m])", lambda: (X.sum((0, 2))[:, None] * B).mean(0)),
    # k within k
    ("Y[i,j,k] = softmax[k](2*softmax[k](X[i,j,k]))", lambda: softmax(2 * softmax(X, 2), 2)),
    ("Y[i,j] = var[k](softmax[k](X[i,j,k]))", lambda: softmax(X, 2).var(2)),
    ("Y[i,j] = var[k](X[i,j,k] - norm[l](X[i,j,l]))", lambda: X.var(2)),
    ("Y[i] = std[j](std[k](X[i,j,k]))", lambda: X.std(2).std(1)),
    ("Y[i] = var[k](X[i,k+1,0]) where k in -1:5",
     lambda: np.pad(X[:, :, 0], ((0, 0), (0, 2))).var(1)),
    ("Y[j,k] = max(X[0,j,k], X[1,j,k], X[2,j,k], 0)", lambda: X.max(0).clip(0)),
    ("Y[j,k] = min(X[0,j,k], max(X[1,j,k], 1), max[i](X[i,j,k]))",
     lambda: np.minimum(np.minimum(X[0], X[1].clip(1)), X.max(0))),
    ("Y[j,k] = clip(X[0,j,k], hi=X[1,j,k], lo=-1)", lambda: np.clip(X[0], -1, X[1])),
    ("Y[j] = {L[h:0:4] clip(B[h,0], size(h)-4, 1)}[j]", lambda: np.clip(B[:, 0], 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), CASES, ids=lambda value: value[:60] if isinstance(value, str) else "value"
)
def test_meaning(text: str, expected: Any) -> None:
    values = {name: value for name, value in (("X", X), ("B", B)) if name in text}
    np.testing.assert_allclose(value(text, **values), expected(), rtol=1e-12)


@pytest.mark.parametrize("name", ["mean", "clip", "softmax", "size", "norm", "var"])
def test_a_definitions_name_is_a_tensors_name_too(name: str) -> None:
    a, b = rng.normal(size=5), rng.normal(size=5)
    found = value(f"Y[i] = {name}[i]*b[i] - mean[k](b[k])", **{name: a, "b": b})
    np.testing.assert_allclose(found, a * b - b.mean())
    found = value(f"Y[{name}] = a[{name}] - size({name})", a=a)
    np.testing.assert_allclose(found, a - 5)


def test_what_is_written_out_is_not_too_long() -> None:
    text = "x[k]"
    for _ in range(20):
        text = f"softmax[k]({text})"
    with pytest.raises(FormulaSyntaxError, match=f"more than {MOST_PARTS} parts") as caught:
        parse(f"Y[k] = 1 + {text}", {"x": (5,)})
    assert caught.value.span is not None
    assert caught.value.span[0] == len("Y[k] = ")


def test_an_error_in_a_definition_shows_the_call() -> None:
    with pytest.raises(FormulaSyntaxError, match=r"inside \{\.\.\.\}") as caught:
        parse("Y[i] = 1 + {L[j:0:3] mean[k](x[k])}[i]", {"x": (5,)})
    assert caught.value.span == (21, 34)


M = np.array([[0, 1.5, -2, np.nan], [0, 0, 0, 0], [-1, -2, 1e30, 3], [np.inf, -0.0, 1, 2]])
CONDITIONS = [
    ("{}[k](M[i,k])", M),
    ("{}[k](M[i,k] > 0)", M > 0),
    ("{}[k](not M[i,k] >= -1)", ~(M >= -1)),
    ("{}[k](M[i,k] > 0 and k != 2)", (M > 0) & (np.arange(4) != 2)),
    ("{}[k](isfinite(M[i,k]) or k < i)", np.isfinite(M) | (np.arange(4) < np.arange(4)[:, None])),
    ("{}[k](M[i,k]) where k in 0:0", M[:, :0]),
]


@pytest.mark.parametrize(
    ("text", "values"),
    CONDITIONS,
    ids=lambda value: value[:30] if isinstance(value, str) else "value",
)
@pytest.mark.parametrize(
    ("name", "line"), [("any", np.any), ("all", np.all), ("count", np.count_nonzero)]
)
def test_conditions_anywhere_and_everywhere(text: str, values: Any, name: str, line: Any) -> None:
    found = value(f"Y[i] = {text.format(name)}", M=M)
    np.testing.assert_array_equal(found, line(values, axis=1))


@pytest.mark.parametrize(
    ("name", "line"), [("any", np.any), ("all", np.all), ("count", np.count_nonzero)]
)
def test_conditions_are_bools_and_counts_whole_numbers(name: str, line: Any) -> None:
    found, expected = ed.evaluate(f"Y[i] = {name}[k](M[i,k])", M=M), line(M, axis=1)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    chosen = value(f"Y[i] = where({name}[k](M[i,k] > 1), M[i,2], -1)", M=M)
    np.testing.assert_array_equal(chosen, np.where(line(M > 1, axis=1), M[:, 2], -1))


Z = rng.normal(size=(3, 5)) + 1j * rng.normal(size=(3, 5))
COMPLEX = [
    ("Y[i] = norm[k](Z[i,k])", lambda: np.linalg.norm(Z, axis=1)),
    ("Y = norm[i,k](1j*Z[i,k] + 1)", lambda: np.linalg.norm(1j * Z + 1)),
    ("Y[i] = var[k](Z[i,k])", lambda: Z.var(1)),
    ("Y[i] = var[k](exp(2j*real(Z[i,k])), ddof=1)", lambda: np.exp(2j * Z.real).var(1, ddof=1)),
    ("Y = std[i,k](Z[i,k])", lambda: Z.std()),
    ("Y[i] = std[k](Z[i,k]*conj(Z[0,k]), ddof=1)", lambda: (Z * Z[0].conj()).std(1, ddof=1)),
]


@pytest.mark.parametrize(("text", "expected"), COMPLEX, ids=[text for text, _ in COMPLEX])
def test_lengths_and_deviations_of_complex_numbers(text: str, expected: Any) -> None:
    found = ed.evaluate(text, Z=Z)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected(), rtol=1e-12)


def test_a_definition_of_complex_numbers_is_one_function_of_torch() -> None:
    for text, called in (("norm", "vector_norm"), ("std", "torch.std")):
        program = parse(f"Y[i] = {text}[k](Z[i,k])", {"Z": (3, 5)}, "complex64")
        lines = [str(each) for each in rivals(program, "cpu")]
        assert any(called in each for each in lines), lines
        program = parse("Y[i] = sqrt(sum[k](Z[i,k]^2))", {"Z": (3, 5)}, "complex64")
        assert not any(called in str(each) for each in rivals(program, "cpu"))


REAL = [
    ("norm[k](x[i,k]*y[k])", "sqrt(sum[k]((x[i,k]*y[k])^2))"),
    ("var[k](exp(x[i,k]))", "sum[k]((exp(x[i,k]) - mean[l](exp(x[i,l])))^2)/size(k)"),
    ("std[k](1/x[i,k])", "sqrt(sum[k]((1/x[i,k] - mean[l](1/x[i,l]))^2)/size(k))"),
]


@pytest.mark.parametrize(("defined", "meant"), REAL)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_definitions_of_real_numbers_square(defined: str, meant: str, dtype: str) -> None:
    shapes = {"x": (3, 5)} | ({"y": (5,)} if "y[" in defined else {})
    one, other = (parse(f"Y[i] = {text}", shapes, dtype) for text in (defined, meant))
    assert one.roots() == other.roots()
