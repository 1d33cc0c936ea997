"""Statements that add to elements, against NumPy's `add.at` on the elements that there are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import FormulaSyntaxError, NameUnknownError, RangeError, TextError
from tests.amount import sampled

GENERATOR = np.random.default_rng(5)
A, B, M = (GENERATOR.standard_normal(shape) for shape in ((7, 3), (4,), (7, 7)))
I = np.array([0, 4, -1, 5, 2, 2, 100])  # noqa: E741  # as in the formulas
J = np.array([1, 0, 2, 3, -1, 1, 1])
C = GENERATOR.integers(-1, 6, (4, 3))


def add(shape: tuple[int, ...], *at: Any, by: Any = 1, to: Any = 0) -> Any:
    """`to` in this shape, with `by` added at the places that it has."""
    by, *at = np.broadcast_arrays(by, *at)
    inside = np.logical_and.reduce([(i >= 0) & (i < n) for i, n in zip(at, shape, strict=True)])
    result = np.zeros(shape, np.result_type(by, to)) + to
    np.add.at(result, tuple(i[inside] for i in at), by[inside])
    return result


N, D = np.arange(7)[:, None], np.arange(3)
CASES: list[tuple[str, dict[str, Any], tuple[int, ...], Any]] = [
    ("Y[I[n]] += 1", {"I": I}, (5,), add((5,), I)),
    ("Y[I[n],d] += A[n,d]", {"I": I, "A": A}, (5, 3), add((5, 3), I[:, None], D, by=A)),
    ("Y[d,I[n]+1] -= 2*A[n,d]", {"I": I, "A": A}, (3, 4),
     add((3, 4), D, I[:, None] + 1, by=-2 * A)),
    ("Y[I[n],J[n]] += A[n,0]", {"I": I, "J": J, "A": A}, (5, 3), add((5, 3), I, J, by=A[:, 0])),
    ("Y[I[n],J[m]] += M[n,m]", {"I": I, "J": J, "M": M}, (5, 3), add((5, 3), I[:, None], J, by=M)),
    ("Y[I[n]] += A[n,d]", {"I": I, "A": A}, (5,), add((5,), I, by=A.sum(1))),
    ("Y[I[n]] += sum[d](exp(A[n,d]))", {"I": I, "A": A}, (5,), add((5,), I, by=np.exp(A).sum(1))),
    ("Y[I[n],n] += A[n,1]", {"I": I, "A": A}, (3, 7), add((3, 7), I, N[:, 0], by=A[:, 1])),
    ("Y[C[i,k]] += B[i]*A[k,0] where k in 0:3", {"C": C, "B": B, "A": A}, (5,),
     add((5,), C, by=np.outer(B, A[:3, 0]))),
    ("Y[I[n]-J[n]] += n", {"I": I, "J": J}, (5,), add((5,), I - J, by=N[:, 0])),
    ("Y[I[n]%3,I[n]//3] += A[n,2]", {"I": I, "A": A}, (3, 2),
     add((3, 2), I % 3, I // 3, by=A[:, 2])),
    ("Y[i+j] += B[i]*A[j,0]", {"A": A, "B": B}, (10,), np.convolve(B, A[:, 0])),
    ("Y[2*i+1] += B[i]", {"B": B}, (8,), add((8,), 2 * np.arange(4) + 1, by=B)),
    ("Y[i,i] += B[i]", {"B": B}, (4, 4), np.diag(B)),
    ("Y[3] += B[i]", {"B": B}, (4,), np.eye(4)[3] * B.sum()),
    ("Y[...,I[n]] += A[...,n]", {"I": I, "A": A.T}, (3, 5), add((3, 5), D, I[:, None], by=A)),
    ("Y[I[C[i,k]]] += A[i,k]", {"I": I, "C": C, "A": A[:4]}, (5,),
     add((5,), np.where((C < 0) | (C > 6), 0, I[C]), by=A[:4])),
    ("Y[I[n]] += A[n,0] > 0", {"I": I, "A": A}, (5,), add((5,), I, by=(A[:, 0] > 0).astype(int))),
]  # fmt: skip


@sampled(4)
@pytest.mark.parametrize(
    ("text", "values", "shape", "wanted"), CASES, ids=[text for text, *_ in CASES]
)
def test_a_scatter_is_add_at(
    text: str, values: dict[str, Any], shape: tuple[int, ...], wanted: Any
) -> None:
    given = {**values, "Y": shape}
    program = ed.parse(text, **given)
    assert [*ed.parse(str(program), **given).roots()] == [*program.roots()]
    few = ed.Budget(states=20)
    np.testing.assert_allclose(ed.evaluate(text, budget=few, **given), wanted, rtol=1e-12)
    compiled = ed.compile(text, budget=few, seconds=0.01, **given)
    np.testing.assert_allclose(compiled(**values), wanted, rtol=1e-12)
    assert ed.derive(program, budget=few).check()


def test_what_was_there_before() -> None:
    text = """
        Y[i] = 2*b[i]
        Z[i] = Y[i]^2
        Y[I[n]] += A[n,0]
        out Y[i] -= Y[0]*Z[i]      # the Y before this line
    """
    b = GENERATOR.standard_normal(5)
    first = add((5,), I, by=A[:, 0], to=2 * b)
    program = ed.parse(text, I=I, A=A, b=b)
    assert [s.name for s in program.statements] == ["Y0", "Z", "Y1", "Y"]
    assert [s.name for s in program.outputs] == ["Y"]
    assert [*ed.parse(str(program), I=I, A=A, b=b).roots()] == [*program.roots()]
    found = ed.evaluate(text, I=I, A=A, b=b)
    np.testing.assert_allclose(found, first - first[0] * 4 * b**2, rtol=1e-12)


def test_a_scatter_is_the_sum_written_by_hand() -> None:
    given: dict[str, Any] = {"A": (7, 3), "I": (7,), "dtypes": {"I": "int64"}, "Y": (5, 3)}
    short = ed.parse("Y[I[n],d] += A[n,d]", **given)
    long = ed.parse("Y[v,d] = sum[n](where(I[n] == v, A[n,d], 0))", **given)
    assert [*short.roots()] == [*long.roots()]


def test_sizes_may_have_names() -> None:
    program = ed.parse("Y[I[n]+h] += A[n]", I=(7,), A=("m",), Y=("V",), V=9, h=2,
                       dtypes={"I": "int64"})  # fmt: skip
    assert program.roots()[0].shape == (9,)
    assert str(program) == (
        "assume V == 9, h == 2, m == 7\nY[v] = sum[n](where(v == I[n] + 2, A[n], 0)) where v in 0:9"
    )


@pytest.mark.parametrize(
    ("kind", "text", "message", "place"),
    [
        (RangeError, "Y[I[n]] += A[n]", "dimension 1 of Y has no size", "I[n]"),
        (RangeError, "Y[n,2*n] += A[n]", "dimension 2 of Y has no size", "2*n"),
        (
            RangeError,
            "Z[I[n],m] += A[n]",
            "Z has 2 indices here, but its shape has 1",
            "Z[I[n],m] += ",
        ),
        (RangeError, "Z[A[n]] += A[n]", "A is an index here, and its type is float32", "A[n]"),
        (RangeError, "Z[I[n,0]] += 1", "I is read with 2 indices but has 1 dimension", "I[n,0]"),
        (FormulaSyntaxError, "Z[exp(I[n])] += 1", "an index must be built", "exp(I[n])"),
        (FormulaSyntaxError, "Z[I[n]] += exp(M[n,k])", "the iterator k is not on the left", "k"),
        (FormulaSyntaxError, "Z[I[n]] += sum[n](A[n])", "n is already bound here", "n"),
        (FormulaSyntaxError, "Z[I[n]] = A[n]", "an index of `Z[I[n]]` is not", "Z[I[n]]"),
        (FormulaSyntaxError, "Z[i+1] = A[i]", "an index of `Z[i+1]` is not", "Z[i+1]"),
        (NameUnknownError, "Z[L[n]] += 1", "the tensor L has no shape", "L"),
        (NameUnknownError, "A[i] = Z[i]; Z[I[n]] += 1", "Z is read before it is defined", "Z"),
    ],
)
def test_errors_stay_on_the_text(
    kind: type[TextError], text: str, message: str, place: str
) -> None:
    shapes = {"A": (7,), "I": (7,), "M": (7, 7), "Z": (5,)}
    given: Any = {name: shape for name, shape in shapes.items() if name in text}
    if "A[i] =" in text:
        del given["A"]
    with pytest.raises(kind) as found:
        ed.parse(text, dtypes={"I": "int64"} if "I" in given else "float32", **given)
    assert message in str(found.value)
    assert found.value.span is not None
    start, end = found.value.span
    assert text[start:end] == place
