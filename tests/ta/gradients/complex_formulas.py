"""Formulas of complex numbers, with the types of their operands and their shapes."""

from __future__ import annotations

from typing import Any, Final

C: Final = "complex128"
R: Final = "float64"
FORMULAS: Final[list[tuple[str, dict[str, str], dict[str, Any]]]] = [
    ("Y[i,j] = A[i,k]*B[k,j]", {"A": C, "B": C}, {"A": (3, 4), "B": (4, 2)}),
    ("Y[i] = A[i]*B[i,k]", {"A": C, "B": R}, {"A": (3,), "B": (3, 2)}),
    ("Y[i] = A[i+r]*conj(K[r]) where i in 0:4", {"A": C, "K": C}, {"A": (5,), "K": (2,)}),
    ("Y[i] = abs(A[i])", {"A": C}, {"A": (3,)}),
    ("Y[i] = angle(A[i])", {"A": C}, {"A": (3,)}),
    ("Y[i] = exp(1j*A[i])", {"A": R}, {"A": (3,)}),
    (
        "Y[i] = abs(sum[k](exp(1j*A[i])*Z[k]*M[i,k]))^2",
        {"A": R, "Z": C, "M": R},
        {"A": (3,), "Z": (4,), "M": (3, 4)},
    ),
    ("Y[i] = sign(A[i])*imag(A[i]) + conj(A[i])^2", {"A": C}, {"A": (3,)}),
    ("Y = prod[i](A[i])/abs(A[0])", {"A": C}, {"A": (3,)}),
    (
        "Y = sum[i](real(A[i])*A[i+1]); Z[i] = imag(A[i]) + sin(B[i])",
        {"A": C, "B": R},
        {"A": (3,), "B": (3,)},
    ),
    ("Y[i] = max[k](abs(A[i,k]))*A[i,0]", {"A": C}, {"A": (3, 4)}),
    ("Y[i] = sqrt(A[i]) + log(A[i])*tanh(A[i]) + sin(A[i])", {"A": C}, {"A": (3,)}),
    ("Y[i] = A[i]^3/B[i]", {"A": R, "B": C}, {"A": (3,), "B": (3,)}),
    ("Y[i] = where(abs(A[i]) > 1, A[i]^2, conj(A[i]))", {"A": C}, {"A": (3,)}),
    ("Y[k] = A[n]*exp(-2j*pi*k*n/4) where k in 0:4", {"A": R}, {"A": (4,)}),
    (
        "Y[n] = A[I[n]]*conj(B[n])",
        {"A": C, "I": "int64", "B": C},
        {"A": (4,), "I": (3,), "B": (3,)},
    ),
]
"""Their derivatives are defined at random operands."""
