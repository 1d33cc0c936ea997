"""Formulas that subtract what may be nearly equal, each with the lines that one writes in torch.

The list of `einderive bench digits`.  `data` are the tensors that have an offset or lie in
clusters; all others (weights, metrics, projections) are normal numbers.  A formula's plain lines
take its tensors in order of first appearance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Difference:
    """A formula, the shapes of its tensors, the ones with hard data, and its plain torch lines."""

    name: str
    text: str
    shapes: dict[str, tuple[int, ...]]
    data: tuple[str, ...]
    plain: Callable[..., Tensor]


POINTS: dict[str, tuple[int, ...]] = {"A": (512, 64), "B": (512, 64)}
IMAGE: dict[str, tuple[int, ...]] = {"A": (256, 256)}


def _pairs(a: Tensor, b: Tensor) -> Tensor:
    return a[:, None] - b[None]


def _patches(a: Tensor, size: int) -> Tensor:
    return a.unfold(0, size, 1).unfold(1, size, 1)


def _mahalanobis(a: Tensor, b: Tensor, m: Tensor) -> Tensor:
    d = _pairs(a, b)
    return ((d @ m) * d).sum(-1)


def _variance(a: Tensor, power: int) -> Tensor:
    return ((a - a.mean(-1, keepdim=True)) ** power).mean(-1)


def _covariance(a: Tensor) -> Tensor:
    c = a - a.mean(0)
    return c.T @ c / len(a)


def _cross_covariance(a: Tensor, b: Tensor) -> Tensor:
    return (a - a.mean(0)).T @ (b - b.mean(0)) / len(a)


def _correlation(a: Tensor) -> Tensor:
    c = a - a.mean(0)
    s = (c * c).sum(0).rsqrt()
    return (c.T @ c) * s[:, None] * s


def _local_variance(a: Tensor) -> Tensor:
    p = _patches(a, 9)
    return ((p - p.mean((2, 3), keepdim=True)) ** 2).sum((2, 3))


def _gradient(a: Tensor) -> Tensor:
    x = (a[:-2, 2:] - a[:-2, :-2]) + 2 * (a[1:-1, 2:] - a[1:-1, :-2]) + (a[2:, 2:] - a[2:, :-2])
    y = (a[2:, :-2] - a[:-2, :-2]) + 2 * (a[2:, 1:-1] - a[:-2, 1:-1]) + (a[2:, 2:] - a[:-2, 2:])
    return x * x + y * y


def _laplacian(a: Tensor) -> Tensor:
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4 * a[1:-1, 1:-1]


def _variation(a: Tensor) -> Tensor:
    return (a[1:, :-1] - a[:-1, :-1]).abs().sum() + (a[:-1, 1:] - a[:-1, :-1]).abs().sum()


D = "D[i,j] = (A[i,k]-B[j,k])^2; "
SQUARED: dict[str, Any] = {"shapes": POINTS, "data": ("A", "B")}
MEAN = "M[k] = A[i,k]/4096; "
ROWS: dict[str, tuple[int, ...]] = {"A": (2048, 512)}
SAMPLES: dict[str, tuple[int, ...]] = {"A": (4096, 128)}
SIGNALS: dict[str, tuple[int, ...]] = {"A": (1055,), "B": (1055,)}
CENTRED = "M[i] = A[i,k]/512; Y[i] = sum[k]((A[i,k]-M[i])^{power})/512"

DIFFERENCES: tuple[Difference, ...] = (
    Difference(
        "squared distances",
        "Y[i,j] = (A[i,k]-B[j,k])^2",
        plain=lambda a, b: (_pairs(a, b) ** 2).sum(-1),
        **SQUARED,
    ),
    Difference(
        "squared distances within a set",
        "Y[i,j] = (A[i,k]-A[j,k])^2",
        {"A": (512, 64)},
        ("A",),
        lambda a: (_pairs(a, a) ** 2).sum(-1),
    ),
    Difference(
        "weighted squared distances",
        "Y[i,j] = W[k]*(A[i,k]-B[j,k])^2",
        {"W": (64,), **POINTS},
        ("A", "B"),
        lambda w, a, b: (w * _pairs(a, b) ** 2).sum(-1),
    ),
    Difference(
        "scaled squared distances",
        "Y[i,j] = sum[k]((A[i,k]-B[j,k])^2/(1+V[k]^2))",
        {**POINTS, "V": (64,)},
        ("A", "B"),
        lambda a, b, v: (_pairs(a, b) ** 2 / (1 + v**2)).sum(-1),
    ),
    Difference(
        "distances, p = 4",
        "Y[i,j] = (A[i,k]-B[j,k])^4",
        plain=lambda a, b: (_pairs(a, b) ** 4).sum(-1),
        **SQUARED,
    ),
    Difference(
        "Mahalanobis distances",
        "Y[i,j] = (A[i,k]-B[j,k])*M[k,l]*(A[i,l]-B[j,l])",
        {"A": (256, 64), "M": (64, 64), "B": (256, 64)},
        ("A", "B"),
        _mahalanobis,
    ),
    Difference(
        "RBF kernel",
        D + "Y[i,j] = exp(-D[i,j]/128)",
        plain=lambda a, b: torch.exp(-(_pairs(a, b) ** 2).sum(-1) / 128),
        **SQUARED,
    ),
    Difference(
        "Cauchy kernel",
        D + "Y[i,j] = 1/(1+D[i,j])",
        plain=lambda a, b: 1 / (1 + (_pairs(a, b) ** 2).sum(-1)),
        **SQUARED,
    ),
    Difference(
        "kernel regression",
        D + "Y[i] = sum[j](exp(-D[i,j]/128)*W[j])",
        {**POINTS, "W": (512,)},
        ("A", "B"),
        lambda a, b, w: torch.exp(-(_pairs(a, b) ** 2).sum(-1) / 128) @ w,
    ),
    Difference(
        "distance to the nearest",
        D + "Y[i] = min[j](D[i,j])",
        plain=lambda a, b: (_pairs(a, b) ** 2).sum(-1).amin(-1),
        **SQUARED,
    ),
    Difference(
        "k-means objective",
        D + "N[i] = min[j](D[i,j]); Y = sum[i](N[i])",
        {"A": (4096, 64), "B": (64, 64)},
        ("A", "B"),
        lambda a, b: (_pairs(a, b) ** 2).sum(-1).amin(-1).sum(),
    ),
    Difference(
        "scatter about all points",
        "Y[i] = sum[j,k]((A[i,k]-B[j,k])^2)",
        plain=lambda a, b: (_pairs(a, b) ** 2).sum((1, 2)),
        **SQUARED,
    ),
    Difference(
        "projected differences",
        "Y[i,j,l] = (A[i,k]-B[j,k])*P[k,l]",
        {"A": (256, 64), "B": (256, 64), "P": (64, 16)},
        ("A", "B"),
        lambda a, b, p: _pairs(a, b) @ p,
    ),
    Difference(
        "weighted differences (mean shift)",
        "Y[i,k] = W[i,j]*(B[j,k]-A[i,k])",
        {"W": (512, 512), "B": (512, 64), "A": (512, 64)},
        ("A", "B"),
        lambda w, b, a: (w[:, :, None] * (b[None] - a[:, None])).sum(1),
    ),
    Difference(
        "energy on a weighted graph",
        "Y = W[i,j]*(A[i,k]-A[j,k])^2",
        {"W": (512, 512), "A": (512, 64)},
        ("A",),
        lambda w, a: (w * (_pairs(a, a) ** 2).sum(-1)).sum(),
    ),
    Difference(
        "differences weighted by entry",
        "Y[i,j] = (A[i,k]-B[j,k])*C[i,k]",
        {**POINTS, "C": (512, 64)},
        ("A", "B"),
        lambda a, b, c: (_pairs(a, b) * c[:, None]).sum(-1),
    ),
    Difference(
        "moments about given centres",
        "Y[k] = sum[i]((A[i,k]-C[k])^2)",
        {"A": (4096, 128), "C": (128,)},
        ("A", "C"),
        lambda a, c: ((a - c) ** 2).sum(0),
    ),
    Difference("variance", CENTRED.format(power=2), ROWS, ("A",), lambda a: _variance(a, 2)),
    Difference(
        "third central moment", CENTRED.format(power=3), ROWS, ("A",), lambda a: _variance(a, 3)
    ),
    Difference(
        "fourth central moment", CENTRED.format(power=4), ROWS, ("A",), lambda a: _variance(a, 4)
    ),
    Difference(
        "covariance",
        MEAN + "Y[k,l] = sum[i]((A[i,k]-M[k])*(A[i,l]-M[l]))/4096",
        SAMPLES,
        ("A",),
        _covariance,
    ),
    Difference(
        "cross-covariance",
        MEAN + "N[k] = B[i,k]/4096; Y[k,l] = sum[i]((A[i,k]-M[k])*(B[i,l]-N[l]))/4096",
        {"A": (4096, 128), "B": (4096, 128)},
        ("A", "B"),
        _cross_covariance,
    ),
    Difference(
        "correlation",
        MEAN + "C[k,l] = (A[i,k]-M[k])*(A[i,l]-M[l]); "
        "S[k] = rsqrt(sum[i]((A[i,k]-M[k])^2)); Y[k,l] = C[k,l]*S[k]*S[l]",
        SAMPLES,
        ("A",),
        _correlation,
    ),
    Difference(
        "template matching",
        "Y[h,w] = (A[h+r,w+s]-T[r,s])^2 where h in 0:241, w in 0:241",
        {**IMAGE, "T": (16, 16)},
        ("A", "T"),
        lambda a, t: ((_patches(a, 16) - t) ** 2).sum((2, 3)),
    ),
    Difference(
        "template matching, 16 templates",
        "Y[t,h,w] = (A[h+r,w+s]-T[t,r,s])^2 where h in 0:121, w in 0:121",
        {"A": (128, 128), "T": (16, 8, 8)},
        ("A", "T"),
        lambda a, t: ((_patches(a, 8)[None] - t[:, None, None]) ** 2).sum((3, 4)),
    ),
    Difference(
        "local contrast",
        "Y[h,w] = (A[h+r,w+s]-A[h+4,w+4])^2 where h in 0:248, w in 0:248, r in 0:9, s in 0:9",
        IMAGE,
        ("A",),
        lambda a: ((_patches(a, 9) - a[4:-4, 4:-4, None, None]) ** 2).sum((2, 3)),
    ),
    Difference(
        "local variance",
        "M[h,w] = A[h+r,w+s]/81 where h in 0:248, w in 0:248, r in 0:9, s in 0:9; "
        "Y[h,w] = (A[h+r,w+s]-M[h,w])^2 where r in 0:9, s in 0:9",
        IMAGE,
        ("A",),
        _local_variance,
    ),
    Difference(
        "Laplacian",
        "Y[h,w] = A[h,w+1]+A[h+2,w+1]+A[h+1,w]+A[h+1,w+2]-4*A[h+1,w+1] "
        "where h in 0:254, w in 0:254",
        IMAGE,
        ("A",),
        _laplacian,
    ),
    Difference(
        "gradient magnitude (Sobel)",
        "X[h,w] = (A[h,w+2]-A[h,w])+2*(A[h+1,w+2]-A[h+1,w])+(A[h+2,w+2]-A[h+2,w]) "
        "where h in 0:254, w in 0:254; "
        "Z[h,w] = (A[h+2,w]-A[h,w])+2*(A[h+2,w+1]-A[h,w+1])+(A[h+2,w+2]-A[h,w+2]) "
        "where h in 0:254, w in 0:254; Y[h,w] = X[h,w]^2+Z[h,w]^2",
        IMAGE,
        ("A",),
        _gradient,
    ),
    Difference(
        "total variation",
        "Y = sum[h,w](abs(A[h+1,w]-A[h,w])) + sum[h,w](abs(A[h,w+1]-A[h,w])) "
        "where h in 0:255, w in 0:255",
        IMAGE,
        ("A",),
        _variation,
    ),
    Difference(
        "matching of two signals",
        "Y[i,j] = (A[i+k]-B[j+k])^2 where i in 0:1024, j in 0:1024, k in 0:32",
        SIGNALS,
        ("A", "B"),
        lambda a, b: ((a.unfold(0, 32, 1)[:, None] - b.unfold(0, 32, 1)[None]) ** 2).sum(-1),
    ),
    Difference(
        "structure function",
        "Y[d] = sum[i]((A[i+d]-A[i])^2) where d in 0:256, i in 0:16384",
        {"A": (16640,)},
        ("A",),
        lambda a: ((a[:16639].unfold(0, 16384, 1) - a[:16384]) ** 2).sum(-1),
    ),
)
