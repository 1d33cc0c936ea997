"""The sign that is known of a term, beside signs of its values."""

import numpy as np
import pytest

from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.facts.signs import NOT_NEGATIVE, POSITIVE, UNKNOWN, least_sign, not_zero
from einderive.ta.notation.parse import parse

SHAPES = {"A": (6,), "B": (6,)}


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("exp(B[i])", POSITIVE),
        ("exp(B[i])*B[i]", UNKNOWN),
        ("A[i]", POSITIVE),
        ("A[i-1]", NOT_NEGATIVE),
        ("A{fill=-1}[i-1]", UNKNOWN),
        ("A{fill=1}[i-1]", POSITIVE),
        ("B[i]", UNKNOWN),
        ("B[i]^2", NOT_NEGATIVE),
        ("B[i]^2+1/2", POSITIVE),
        ("B[i]^3", UNKNOWN),
        ("A[i]^3", POSITIVE),
        ("1/A[i]", POSITIVE),
        ("A[i]-1", UNKNOWN),
        ("A[i]+A[i-1]", POSITIVE),
        ("abs(B[i])", NOT_NEGATIVE),
        ("abs(A[i])", POSITIVE),
        ("relu(B[i])", NOT_NEGATIVE),
        ("relu(A[i])", POSITIVE),
        ("sigmoid(B[i])", NOT_NEGATIVE),
        ("sqrt(A[i])", POSITIVE),
        ("sin(B[i])+1", NOT_NEGATIVE),
        ("2-cos(B[i])", POSITIVE),
        ("1-sigmoid(B[i])", NOT_NEGATIVE),
        ("3*tanh(B[i])+3", NOT_NEGATIVE),
        ("-3*tanh(B[i])+2", UNKNOWN),
        ("A[i]+sin(B[i])", UNKNOWN),
        ("sin(B[i])", UNKNOWN),
        ("maximum(A[i],B[i])", POSITIVE),
        ("minimum(A[i],B[i])", UNKNOWN),
        ("minimum(A[i],2)", POSITIVE),
        ("sum[k](A[k]*exp(B[i]))", POSITIVE),
        ("sum[k](A[k]*B[i])", UNKNOWN),
        ("max[k](A[k]+B[i]^2)", POSITIVE),
        ("where(i < 2, A[i], 0)", NOT_NEGATIVE),
        ("where(i < 2, A[i], B[i])", UNKNOWN),
        ("exp(B{fill=-inf}[i-1])", NOT_NEGATIVE),
    ],
)
def test_what_is_known_of_a_sign(body: str, known: int) -> None:
    assumption = "assume A > 0; " if "A" in body else ""
    used = {name: shape for name, shape in SHAPES.items() if name in body}
    (root,) = parse(f"{assumption}Y[i] = {body} where i in 0:6", used).roots()
    assert least_sign(root.body, root.domain) == known
    random = np.random.default_rng(0)
    for _ in range(20):
        data = {"A": np.abs(random.standard_normal(6)) + 1e-3, "B": random.standard_normal(6)}
        values = evaluate(root, {name: data[name] for name in used}, RealField())
        assert known < NOT_NEGATIVE or np.all(values >= 0)
        assert known < POSITIVE or np.all(values > 0)


@pytest.mark.parametrize(
    ("assumption", "body", "known"),
    [
        ("A < 1", "1-A[i]", POSITIVE),
        ("A <= 1", "1-A[i]", NOT_NEGATIVE),
        ("A < 1", "3-2*A[i]-A[i]", POSITIVE),
        ("A > -1", "A[i]+1+exp(B[i])", POSITIVE),
        ("0 < A <= 1", "2-A[i]-A[i]^2", NOT_NEGATIVE),
        ("0 <= A < 1", "1-A[i]^2", POSITIVE),
        ("-1 < A < 1", "1-A[i]^2", POSITIVE),
        ("0 <= A < 1", "1-A[i]*sigmoid(B[i])", POSITIVE),
        ("A < 0", "B[i]^2-A[i]", POSITIVE),
        ("A < 0", "abs(A[i])", POSITIVE),
        ("A != 0", "A[i]^2", POSITIVE),
        ("A != 0", "A[i]", UNKNOWN),
        ("A < 1", "1-A[i-1]", POSITIVE),
        ("A > 1", "A[i-1]-1", UNKNOWN),
        ("A < 1", "5-sum[k](A[k])", UNKNOWN),
        ("A < 1", "6-sum[k](A[k])", POSITIVE),
        ("A < 1", "1-max[k](A[k])", POSITIVE),
        ("A < 1", "where(B[i] > 0, 1-A[i], exp(B[i]))", POSITIVE),
        ("A < 1", "1+i-A[i]", POSITIVE),
    ],
)
def test_an_end_that_is_left_out_stays_so(assumption: str, body: str, known: int) -> None:
    used = {name: shape for name, shape in SHAPES.items() if name in body}
    (root,) = parse(f"assume {assumption}; Y[i] = {body} where i in 0:6", used).roots()
    assert least_sign(root.body, root.domain) == known


@pytest.mark.parametrize(
    ("assumption", "body", "known"),
    [
        ("A < 1", "A[i]-1", True),
        ("A != 0", "-2*A[i]", True),
        ("A != 0", "A[i]*exp(A[i])", True),
        ("A != 0", "A[i]^3", True),
        ("A != 0", "A[i-1]", False),
        ("A != 0", "A[i]+1", False),
        ("A <= 1", "A[i]-1", False),
    ],
)
def test_whether_a_term_may_be_zero(assumption: str, body: str, known: bool) -> None:
    (root,) = parse(f"assume {assumption}; Y[i] = {body} where i in 0:6", {"A": (6,)}).roots()
    assert not_zero(root.body, root.domain) == known
