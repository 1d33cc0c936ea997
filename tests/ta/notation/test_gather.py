"""Reads at an index that is data: the sum that they are written out to, and their values, against
NumPy's own indexing.  What lies outside, -1 too, reads the fill."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import einderive as ed
from einderive.ta.errors import FormulaSyntaxError, RangeError, TextError
from tests.amount import sampled

GENERATOR = np.random.default_rng(5)
E, F = GENERATOR.standard_normal((6, 4)), GENERATOR.standard_normal((6, 6))
N = np.array([0, 5, -1, 6, 2, 2, 100, -100])
C = GENERATOR.integers(-2, 8, (3, 5))
W = GENERATOR.standard_normal((3, 5))


def at(x: Any, *indices: Any, fill: float = 0) -> Any:
    """x at the indices, which broadcast; the fill outside."""
    inside = np.logical_and.reduce(
        np.broadcast_arrays(*((i >= 0) & (i < n) for i, n in zip(indices, x.shape, strict=False)))
    )
    found = x[tuple(np.clip(i, 0, n - 1) for i, n in zip(indices, x.shape, strict=False))]
    return np.where(inside.reshape(inside.shape + (1,) * (found.ndim - inside.ndim)), found, fill)


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("Y[n,d] = E[N[n],d]", {"E": E, "N": N}, at(E, N)),
    ("Y[n,d] = E{fill=7}[N[n],d]", {"E": E, "N": N}, at(E, N, fill=7)),
    ("Y[n,d] = E{fill=-inf}[N[n]+1,d]", {"E": E, "N": N}, at(E, N + 1, fill=-np.inf)),
    ("Y[n,m] = F[N[n],N[m]]", {"F": F, "N": N}, at(F, N[:, None], N[None, :])),
    ("Y[n] = F[N[n],5-2*N[n]]", {"F": F, "N": N}, at(F, N, 5 - 2 * N)),
    ("y[i] = W[i,k]*x[C[i,k]]", {"W": W, "C": C, "x": E[:, 0]}, (W * at(E[:, 0], C)).sum(1)),
    ("Y[d] = E[N[n],d]", {"E": E, "N": N}, at(E, N).sum(0)),
    ("Y[i,k] = E[N[C[i,k]],k] where k in 0:4", {"E": E, "N": N, "C": C[:, :4]},
     at(E, at(N, C[:, :4]), np.arange(4))),
    ("Y[n] = max[d](E[N[n],d])", {"E": E, "N": N}, at(E, N).max(1)),
    ("m[d] = mean[n](E[N[n],d])", {"E": E, "N": N}, at(E, N).mean(0)),
    ("Y[n,d] = exp(E[N[n],d]) - where(N[n] > 0, E[N[n]-1,d], n)", {"E": E, "N": N},
     np.exp(at(E, N)) - np.where(N[:, None] > 0, at(E, N - 1), np.arange(8)[:, None])),
    ("Y[n] = F[N[n]//2+1,(3*N[n]-1)%6]", {"F": F, "N": N}, at(F, N // 2 + 1, (3 * N - 1) % 6)),
    # in scopes
    ("Y[n,d] = {L[n:0:8,d:0:4] 2*E[N[n],d]}[n,d]", {"E": E, "N": N}, 2 * at(E, N)),
    ("Y[d] = {L[d:0:4] S[n:0:8] E{fill=7}[(N[n]+1)//2,d]}[d]", {"E": E, "N": N},
     at(E, (N + 1) // 2, fill=7).sum(0)),
    ("Y[n] = {L[n:0:8] {L[m:0:8] x[N[m]]}[n]*x[N[n]]}[n]", {"x": E[:, 0], "N": N},
     at(E[:, 0], N) ** 2),
    ("Y[n] = x[B[n]]", {"x": E[:, 1], "B": N > 0}, at(E[:, 1], (N > 0).astype(int))),
]  # fmt: skip


FEW = ed.Budget(states=20)


@sampled(4)
@pytest.mark.parametrize(("text", "values", "wanted"), CASES, ids=[text for text, _, _ in CASES])
def test_a_gather_is_numpys_indexing(text: str, values: dict[str, Any], wanted: Any) -> None:
    program = ed.parse(text, **values)
    assert [*ed.parse(str(program), **values).roots()] == [*program.roots()]
    compiled = ed.compile(text, budget=FEW, seconds=0.01, **values)
    np.testing.assert_allclose(compiled(**values), wanted, rtol=1e-12)
    assert ed.derive(program, budget=FEW).check()


def test_a_gather_is_the_sum_written_by_hand() -> None:
    given: dict[str, Any] = {"E": (6, 4), "N": (8,), "dtypes": {"N": "int64"}}
    short = ed.parse("Y[n,d] = E[N[n],d]", **given)
    long = ed.parse("Y[n,d] = sum[v](where(N[n] == v, E[v,d], 0))", **given)
    assert [*short.roots()] == [*long.roots()]


@pytest.mark.parametrize(
    ("kind", "text", "message", "place"),
    [
        (RangeError, "Y[n] = E[x[n],n]", "x is an index here, and its type is float32", "x[n]"),
        (RangeError, "Y[n] = E[N[x[n]],0]", "x is an index here, and its type is float32", "x[n]"),
        (RangeError, "Y[n] = E[N[n]]", "E is read with 1 index but has 2 dimensions", "E[N[n]]"),
        (RangeError, "Y[n] = E[N[n,0],0]", "N is read with 2 indices but has 1", "N[n,0]"),
        (FormulaSyntaxError, "Y[n] = E[exp(N[n]),0]", "an index must be built", "exp(N[n])"),
    ],
)
def test_errors_stay_on_the_text(
    kind: type[TextError], text: str, message: str, place: str
) -> None:
    with pytest.raises(kind) as found:
        ed.parse(text, dtypes={"N": "int64"}, E=(6, 4), N=(8,), x=(8,))
    assert message in str(found.value)
    assert found.value.span is not None
    start, end = found.value.span
    assert text[start:end] == place


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("J = argmax[n](E[n,0])\ny = E[J,1]", {}, E[E[:, 0].argmax(), 1]),
        ("J = argmax[n](E[n,0])\ny = E[J,1] + J", {}, E[E[:, 0].argmax(), 1] + E[:, 0].argmax()),
        ("y[d] = E[s,d]", {"s": np.array(3)}, E[3]),
        ("y = E[s-1,s//2]", {"s": np.array(3)}, E[2, 1]),
        ("y[n] = E[(n+s)%6,0] where n in 0:6", {"s": np.array(4)}, np.roll(E[:, 0], -4)),
        ("y[s] = 2*E[s,0]", {}, 2 * E[:, 0]),  # an iterator
        ("y = E[s,0]", {"s": np.array(7)}, 0.0),  # outside
    ],
)
def test_a_tensor_without_dimensions_as_an_index(
    text: str, given: dict[str, Any], wanted: Any
) -> None:
    found = ed.compile(text, E=E, **given, effort="instant")(E=E, **given)
    np.testing.assert_allclose(found, wanted)


def test_what_a_statement_binds_is_an_iterator() -> None:
    """Though there is a statement of this name."""
    found = ed.compile("J = argmax[n](E[n,0])\ny = sum[J](E[J,1])", E=E, effort="instant")(E=E)
    np.testing.assert_allclose(found[1], E[:, 1].sum())


def test_numbers_with_fractions_are_no_index() -> None:
    with pytest.raises(FormulaSyntaxError, match="iterators and integers"):
        ed.parse("y[n] = E[N[n]+0.5,0]", E=(6, 4), N=(3,), dtypes={"N": "int64"})
    with pytest.raises(RangeError, match="s is an index here, and its type is float64"):
        ed.parse("y = E[s,0]", E=(6, 4), s=(), dtypes="float64")
