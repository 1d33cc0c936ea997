"""Small formulas of many builds, and their searches, each done once for all tests."""

from __future__ import annotations

from functools import cache

from einderive.derivations.matching.cost import CPU
from einderive.derivations.matching.machine import Machine, constant
from einderive.derivations.rules import LAWLESS
from einderive.derivations.search.run import SearchResult, search
from einderive.derivations.search.strategy import Budget
from einderive.eops.library import OPERATORS
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program
from einderive.ta.notation.parse import parse

Shapes = dict[str, tuple[int, ...]]

FORMULAS: dict[str, tuple[str, Shapes]] = {
    "padded convolution": (
        "Y[n,f,h,w] = A[n,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:4, w in 0:5",
        {"A": (1, 2, 4, 5), "K": (3, 2, 3, 3)},
    ),
    "strided convolution": (
        "Y[f,h] = A[c,2*h+r]*K[f,c,r] where h in 0:5",
        {"A": (2, 11), "K": (3, 2, 3)},
    ),
    "dilated convolution": (
        "Y[f,h] = A[c,h+3*r-3]*K[f,c,r] where h in 0:9",
        {"A": (2, 9), "K": (3, 2, 3)},
    ),
    "transposed convolution": (
        "Y[f,o] = sum[c,h,r](A[c,h]*K[c,f,r]*where(o == 2*h + r, 1, 0)) where o in 0:9",
        {"A": (2, 4), "K": (2, 3, 3)},
    ),
    "band matmul": (
        "Y[b,m,w] = A[b,m,k]*B[b,m+2*w-4,k] where w in 0:5",
        {"A": (2, 8, 3), "B": (2, 8, 3)},
    ),
    "band matmul of a skew": (
        "Y[m,e] = P[m,w]*V[m+w-2,e] where w in 0:5",
        {"P": (8, 5), "V": (8, 3)},
    ),
    "squared distances": (
        "D[i,j] = (A[i,k] - B[j,k])^2",
        {"A": (5, 3), "B": (4, 3)},
    ),
    "box filter": (
        "Y[h,w] = sum[r,s](A[h+r-2,w+s-2]) where r in 0:5, s in 0:5, h in 0:7, w in 0:6",
        {"A": (7, 6)},
    ),
    "product of three": (
        "Y[i,l] = A[i,j]*B[j,k]*C[k,l]",
        {"A": (4, 5), "B": (5, 3), "C": (3, 6)},
    ),
    "low rank": (
        "Y[t,o] = X[t,i]*(W[o,i] + B[o,r]*A[r,i])",
        {"X": (4, 6), "W": (5, 6), "B": (5, 2), "A": (2, 6)},
    ),
    "softmax": (
        "M[i] = max[j](X[i,j]); E[i,j] = exp(X[i,j] - M[i]); Y[i,j] = E[i,j]/sum[k](E[i,k])",
        {"X": (4, 5)},
    ),
    "maximum pool": (
        "Y[h] = max[r](A{fill=-inf}[2*h+r-1]) where r in 0:3, h in 0:5",
        {"A": (9,)},
    ),
}

STATES = 300


def program(name: str) -> Program:
    text, shapes = FORMULAS[name]
    return parse(text, shapes)


def roots(name: str) -> tuple[Scope, ...]:
    return program(name).roots()


LIBRARY = Machine(
    name="library",
    bandwidth={"dense": constant(1e12)},
    rates={"matmul": constant(1e9), "convolution": constant(1e6), "vector": constant(1e3)},
    call_seconds=0.0,
    fused=True,
)
"""Only matrix products are cheap here, so that small formulas are derived as far as large ones."""

MACHINES = {machine.name: machine for machine in (CPU, LIBRARY)}


@cache
def searched(name: str, machine: str = "library", states: int = STATES) -> SearchResult:
    """The search from the formula, with the whole library."""
    return search(roots(name), LAWLESS, OPERATORS, MACHINES[machine], Budget(states=states))
