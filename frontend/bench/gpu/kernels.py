"""Formulas that memory bounds, and the same in torch.

Operands of 8192 x 8192 are beyond all caches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import torch
from torch.nn import functional


@dataclass(frozen=True)
class KernelCase:
    """A formula whose stages become kernels, and the same in torch."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    torch: Callable[..., torch.Tensor]

    def at(self, edge: int) -> KernelCase:
        """The same for matrices of another extent."""
        text = self.text.replace(str(N), str(edge))
        return replace(self, text=text, shapes=dict.fromkeys(self.shapes, (edge, edge)))


@lru_cache
def _laplacian(dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    points = [[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]
    return torch.tensor([[points]], dtype=dtype, device=device)


N = 8192
SQUARE = {"A": (N, N)}
KERNELS = (
    KernelCase("scaled", "Y[i,j] = 2*A[i,j]", SQUARE, lambda a: 2 * a),
    KernelCase("sum of two", "Y[i,j] = A[i,j]+B[i,j]", {**SQUARE, "B": (N, N)}, torch.add),
    KernelCase(
        "chain",
        "Y[i,j] = (A[i,j]*B[i,j]+A[i,j])/(1+B[i,j]^2)-A[i,j]",
        {**SQUARE, "B": (N, N)},
        lambda a, b: (a * b + a) / (1 + b * b) - a,
    ),
    KernelCase(
        "gated gelu",
        "Y[i,j] = gelu(A[i,j])*B[i,j]",
        {**SQUARE, "B": (N, N)},
        lambda a, b: functional.gelu(a) * b,
    ),
    KernelCase("transpose", "Y[i,j] = 2*A[j,i]", SQUARE, lambda a: (2 * a.t()).contiguous()),
    KernelCase("row sums", "Y[i] = sum[k](A[i,k])", SQUARE, lambda a: a.sum(1)),
    KernelCase("row maxima", "Y[i] = max[k](A[i,k])", SQUARE, lambda a: a.amax(1)),
    KernelCase(
        "row sums of squares", "Y[i] = A[i,k]*A[i,k]", SQUARE, lambda a: torch.linalg.vecdot(a, a)
    ),
    KernelCase("column sums", "Y[k] = sum[i](A[i,k])", SQUARE, lambda a: a.sum(0)),
    KernelCase(
        "5-point Laplacian",
        "Y[i,j] = A[i-1,j]+A[i+1,j]+A[i,j-1]+A[i,j+1]-4*A[i,j] where i in 0:8192, j in 0:8192",
        SQUARE,
        lambda a: functional.conv2d(a[None, None], _laplacian(a.dtype, a.device), padding=1)[0, 0],
    ),
    KernelCase(
        "row softmax",
        "M[i] = max[j](A[i,j]); D[i] = sum[j](exp(A[i,j]-M[i])); Y[i,j] = exp(A[i,j]-M[i])/D[i]",
        SQUARE,
        lambda a: torch.softmax(a, 1),
    ),
    KernelCase(
        "layer norm",
        "M[i] = A[i,k]/8192; V[i] = (A[i,k]-M[i])^2/8192;"
        " Y[i,k] = (A[i,k]-M[i])*rsqrt(V[i]+1/100000)",
        SQUARE,
        lambda a: functional.layer_norm(a, a.shape[1:]),
    ),
)
