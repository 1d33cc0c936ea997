"""Verdicts on pairs of formulas."""

import pytest

import einderive as ed

PAIRS = [
    ("Y[i] = A[i]*B[i]", "Y[i] = B[i]*A[i]", "identical"),
    ("Y[i] = A[i,k]*(x[k]+y[k])", "Y[i] = A[i,k]*x[k] + A[i,k]*y[k]", "evaluated"),
    ("Y[i] = relu(2*A[i])", "Y[i] = 2*relu(A[i])", "evaluated"),
    ("Y[i] = A[i] - B[i]", "Y[i] = B[i] - A[i]", "different"),
    ("Y[i] = exp(A[i])", "Y[i] = exp(2*A[i])", "different"),
    ("Y[i] = exp(A[i]+B[i])", "Y[i] = exp(A[i])*exp(B[i])", "undecided"),
    ("Y[i] = A[i]; Z[i] = 2*A[i]", "Z[i] = 2*A[i]; Y[i] = A[i]", "identical"),
    ("Y[i] = A[i]; Z[i] = 2*A[i]", "Y[i] = 2*A[i]; Z[i] = A[i]", "different"),
    ("Y[i] = A[i]", "Y[i] = A[i]; Z[i] = A[i]", "different"),
    ("Y[i] = A[i]", "Y[i] = A[i] where i in 0:3", "different"),
    ("Y[i] = A{fill=-inf}[i-1] where i in 0:4", "Y[i] = A[i-1] where i in 0:4", "different"),
]


@pytest.mark.parametrize(("left", "right", "kind"), PAIRS)
def test_verdict(left: str, right: str, kind: str) -> None:
    shapes = {"A": (4, 3) if "A[i,k]" in left else (4,), "B": (4,), "x": (3,), "y": (3,)}
    used = {name: extents for name, extents in shapes.items() if f"{name}[" in left + right}
    used |= {"A": shapes["A"]}
    verdict = ed.equivalent(left, right, **used)
    assert verdict.kind == kind, verdict
    assert bool(verdict) == (kind in ("identical", "evaluated"))
    assert str(verdict).startswith(f"{kind}: ")


def test_a_difference_is_shown_in_plain_numbers() -> None:
    verdict = ed.equivalent("Y[i] = A[i]", "Y[i] = 2*A[i]", A=(4,))
    found = verdict.counterexample
    assert found is not None
    assert float(found.right) == 2 * float(found.left)
    assert f"{float(found.left):.10g}" in str(verdict)
