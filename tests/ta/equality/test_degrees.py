"""How large numbers may grow, across stages."""

from __future__ import annotations

import pytest

from einderive.ta.equality.degrees import MOST_COUNTED, greatest_bits, greatest_degree
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse


def roots(text: str) -> tuple[Scope, ...]:
    shapes = {"A": (3,), "b": ()}
    return parse(text, {name: shape for name, shape in shapes.items() if name in text}).roots()


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("Y = b", 0),
        ("Y = 8*b", 3),
        ("Y = 3*b/5", 2 + 3),
        ("Y[i] = A[i] + 9", 4),
        ("T = 8; U = T^1000; V = U^1000; Y = V*b", 3_000_000),
        ("T = 8; U = T^(-10); Y = U*b", 30),
        ("X[i] = 8 where i in 0:4; Y = prod[i](X[i])*b", 12),
        ("X[i] = 8 where i in 0:4; S = sum[i](X[i]); Y = S^10*b", 50),
        ("S = sum[i](8*A[i]); Y = S^10*b", 30),
        ("T = exp(8*b); Y = T^10", 3),
        ("T = 8; U = T^1000; V = exp(U*b); Y = V^10", 3000),
        ("X[i] = A{fill=8}[i-1] where i in 0:4; Y[i] = X[i]^5", 15),
        ("X[i] = where(i > 1, 8, A[i]); Y[i] = X[i]^5", 15),
        ("T = 8; U = relu(T); Y = U^5*b", 15),
    ],
)
def test_bits_of_constants(text: str, bits: int) -> None:
    found = greatest_bits(*roots(text))
    assert found == bits


def test_bits_are_counted_to_an_end() -> None:
    chain = "T0 = 3; " + "; ".join(f"T{k + 1} = T{k}^1000000" for k in range(60))
    assert greatest_bits(*roots(f"{chain}; Y = T60*b")) == MOST_COUNTED
    assert (
        greatest_bits(*roots(f"{chain}; X[i] = T60*A[i+3] where i in 0:0; Y = prod[i](X[i])")) == 0
    )


def test_the_degree_of_a_chain() -> None:
    assert greatest_degree(*roots("T = b^3; U = T^4*b; Y = U + b")) == 13
