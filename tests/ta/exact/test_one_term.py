"""A reduction of which an equality leaves one term is evaluated as this term, and means what it
means when all terms are visited."""

from __future__ import annotations

import numpy as np
import pytest

from einderive.ta.exact import interp
from einderive.ta.exact.fields import Array, Field, ModularField, RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.rationals import ExactField
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse
from tests.amount import sampled

SHAPES = {"E": (6, 4), "I": (5,), "J": (5,), "x": (6,), "Z": (0,)}
FOUND = [
    "Y[n,d] = sum[v](where(I[n] == v, E[v,d], 0))",
    "Y[n,d] = sum[v](where(v == I[n]+n, E[v,d], 0)) where n in -2:7",
    "Y[n] = sum[v,w](where(I[n] == v and J[n] == w, E[v,w], 0))",
    "Y[n] = sum[v,w](where(I[n] == v, E[v,w], 0))",
    "Y[n] = sum[v,w](where(J[n] == w and w == x[v], E[v,w]*v, 0))",
    "Y[n] = sum[v](where(I[n] == v and x[v] > 0, where(v > n, x[v], v), 0))",
    "Y[n] = max[v](where(x[n] == v, x[v], -inf))",
    "Y[n] = sum[v](where(v == x[n]/2, x[v], 0)) where v in 1:4",
    "Y[n] = sum[v](where(v == sum[w](where(I[n] == w, x[w], 0)), x[v], 0))",
    "Y[n] = sum[v,k](where(v == I[k], x[v]*E[n,0], 0))",
]
OTHERS = [
    "Y[n] = sum[v](where(I[n] == v, x[v], 1))",
    "Y[n] = sum[v](where(x[v] == v, x[v] + I[n], 0))",
    "Y[v] = sum[n](where(I[n] == v, J[n], 0)) where v in 0:4",
    "Y[n] = sum[v](where(I[n] == 2*v, x[v], 0))",
    "Y[n] = sum[v](where(I[n] <= v, x[v], 0))",
    "Y[n] = sum[v](where(x[v], I[n] + v, 0))",
    "Y[n] = sum[v](tanh(x[v] + I[n]))",
    "Y[n] = sum[v](where(sum[w](E[v,w]) == I[n], x[v], 0))",
    "Y[n] = sum[v](where(I[n] == v, Z[v], 0))",
]


def values(scope: Scope, seed: int, bad: float | None) -> dict[str, Array]:
    generator = np.random.default_rng(seed)
    found: dict[str, Array] = {}
    for tensor in interp.input_tensors(scope):
        given = generator.integers(-3, 9, tensor.shape).astype(np.float64)
        if bad is not None and given.size:
            given.reshape(-1)[generator.integers(given.size)] = bad
        found[tensor.name] = given
    return found


@sampled(6)
@pytest.mark.parametrize("bad", [None, np.nan, np.inf, 1e300, 0.5])
@pytest.mark.parametrize("field", [RealField(), ExactField()], ids=["real", "exact"])
@pytest.mark.parametrize("text", [*FOUND, *OTHERS])
def test_one_term_is_the_sum(
    text: str, field: Field, bad: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
    for seed in range(3):
        given = values(scope, seed, bad)
        found = evaluate(scope, given, field)
        with monkeypatch.context() as patch:
            patch.setattr(interp, "one_term", lambda scope: None)
            wanted = evaluate(scope, given, field)
        assert not field.differs(found, wanted).any()
        if isinstance(field, RealField):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("text", FOUND)
def test_it_is_found(text: str) -> None:
    (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
    assert any(one_term(stage) for stage in interp.stages(scope))


def test_other_equalities_fix_nothing() -> None:
    for text in OTHERS[:-1]:
        (scope,) = parse(text, {n: s for n, s in SHAPES.items() if n in text}).roots()
        assert one_term(scope) is None


def test_residues_stay_opaque() -> None:
    (scope,) = parse(FOUND[0], {"E": (6, 4), "I": (5,)}).roots()
    generator = np.random.default_rng(0)
    field = ModularField()
    given = {"E": field.random((6, 4), generator), "I": np.arange(5)}
    assert not np.array_equal(evaluate(scope, given, field), given["E"][:5])
