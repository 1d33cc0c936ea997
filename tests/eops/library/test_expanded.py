"""Sums of products of differences, multiplied out: the same tensor, and a bound of its terms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from einderive.derivations.checker import not_equal
from einderive.eops.expanded import expanded, product_of
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import access, apply, const, mul, split_coefficient
from einderive.ta.ir.expr import add as total_of
from einderive.ta.ir.node import Access, Add, Scope
from einderive.ta.notation.parse import parse

Shapes = Mapping[str, tuple[int, ...]]
CASES: list[tuple[str, Shapes]] = [
    ("Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (4, 3), "B": (5, 3)}),
    ("Y[i,j] = (2*A[i,k]-3*B[j,k])^4/7", {"A": (4, 3), "B": (5, 3)}),
    ("Y[i,j,l] = P[k,l]*(A[i,k]-B[j,k])", {"A": (4, 3), "B": (5, 3), "P": (3, 2)}),
    (
        "Y[i,j] = (A[i,k]-B[j,k])*M[k,l]*(A[i,l]-B[j,l])",
        {"A": (4, 3), "B": (5, 3), "M": (3, 3)},
    ),
    ("Y[h] = (A[h+r-1]-T[r])^2 where h in 0:8", {"A": (8,), "T": (3,)}),
    ("Y[k] = -W[i]^2*(M[k]-A[i,k])^3", {"A": (6, 3), "M": (3,), "W": (6,)}),
]


def scope_of(text: str, shapes: Shapes) -> Scope:
    (root,) = parse(text, shapes, "float64").roots()
    return root


@pytest.mark.parametrize(("text", "shapes"), CASES)
def test_the_checker_shows_that_it_is_the_same_tensor(text: str, shapes: Shapes) -> None:
    scope = scope_of(text, shapes)
    found = expanded(scope)
    assert found is not None
    assert found.fast is not scope
    assert not_equal(scope, found.fast) is None


@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize(("text", "shapes"), CASES)
def test_the_bound_is_one_of_the_sizes_of_all_terms(
    text: str, shapes: Shapes, offset: float
) -> None:
    """sum of |terms| <= 2^(n-1) * U, the terms those of `fast` on absolute values."""
    scope = scope_of(text, shapes)
    found, product = expanded(scope), product_of(scope)
    assert found is not None
    assert product is not None
    generator = np.random.default_rng(0)
    values = {t.name: generator.standard_normal(t.shape) + offset for t in input_tensors(scope)}
    sizes = _on_absolute_values(found.fast)
    terms = evaluate(sizes, values, RealField())
    bound = evaluate(found.bound, values, RealField())
    assert (terms <= 2.0 ** (product.degree - 1) * bound * (1 + 1e-9)).all()
    assert (np.abs(evaluate(scope, values, RealField())) <= terms * (1 + 1e-9)).all()
    assert bound.max() < 1e3 * terms.max()


def _on_absolute_values(fast: Scope) -> Scope:
    """The sum of the sums of the absolute values of the products."""
    parts = []
    for term in fast.body.terms if isinstance(fast.body, Add) else (fast.body,):
        coefficient, core = split_coefficient(term)
        assert isinstance(core, Access)
        nested = core.source
        assert isinstance(nested, Scope)
        size = make_scope(nested.loops, nested.sums, apply("abs", nested.body))
        parts.append(mul(const(abs(coefficient)), access(size, core.rows)))  # type: ignore[arg-type]
    return make_scope(fast.loops, (), total_of(*parts))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("Y[i,j] = (A[i,k]+B[j,k])^2", {"A": (4, 3), "B": (5, 3)}),
        ("Y[i] = (A[i,k]-B[i,k])^2", {"A": (4, 3), "B": (4, 3)}),
        ("Y[i,j] = exp(A[i,k]-B[j,k])*P[k]", {"A": (4, 3), "B": (5, 3), "P": (3,)}),
        ("Y[i,j] = (A[i,k]-B[j,k])^20", {"A": (4, 3), "B": (5, 3)}),
        ("Y[i,j] = max[k]((A[i,k]-B[j,k])^2)", {"A": (4, 3), "B": (5, 3)}),
        ("Y[i] = A[i,k]*B[k]", {"A": (4, 3), "B": (3,)}),
        ("Y[i] = (A[i,k]-B[k])^2/A[i,k]", {"A": (4, 3), "B": (3,)}),
    ],
)
def test_what_is_no_such_product(text: str, shapes: Shapes) -> None:
    assert expanded(scope_of(text, shapes)) is None
