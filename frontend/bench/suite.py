"""The formulas of the demo and the benchmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Case:
    """A formula with shapes; `ranges` where no tensor gives them."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)


DEMO: tuple[Case, ...] = (
    Case(
        "box filter 31x31",
        "Y[n,c,h,w] = A[n,c,h+r,w+s]/961 where h in 0:226, w in 0:226, r in 0:31, s in 0:31",
        {"A": (1, 16, 256, 256)},
    ),
    Case(
        "squared distances",
        "Y[i,j] = (A[i,k]-B[j,k])*(A[i,k]-B[j,k])",
        {"A": (1024, 128), "B": (1024, 128)},
    ),
    Case(
        "attention without softmax",
        "Y[b,i,e] = Q[b,i,d]*K[b,j,d]*V[b,j,e]",
        {"Q": (8, 2048, 64), "K": (8, 2048, 64), "V": (8, 2048, 64)},
    ),
    Case(
        "band matmul, dilation 4",
        "Y[b,m,w] = A[b,m,k]*B[b,m+4*(w-64),k] where w in 0:129",
        {"A": (8, 4096, 64), "B": (8, 4096, 64)},
    ),
    Case(
        "conv 3x3, 512 to 512",
        "Y[n,h,w,f] = A[n,h+r-1,w+s-1,c]*K[r,s,f,c] where h in 0:7, w in 0:7",
        {"A": (1, 7, 7, 512), "K": (3, 3, 512, 512)},
    ),
    Case(
        "low-rank update",
        "Y[t,o] = X[t,i]*(W[o,i] + B[o,r]*A[r,i])",
        {"X": (32, 4096), "W": (4096, 4096), "B": (4096, 16), "A": (16, 4096)},
    ),
)


def counted(words: Sequence[str]) -> str:
    """`matmul + eOperator x2`."""
    found = Counter(word.split("(")[0].strip() for word in words)
    return " + ".join(name if n == 1 else f"{name} x{n}" for name, n in found.items())
