"""Kernels of NPBench (https://github.com/spcl/npbench, A. Ziogas et al., ICS'21), one statement of
its NumPy sources a line; of time-stepping kernels one step."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional

from einderive.frontend.formulas.entry import Formula, Shapes, named

NP = "NPBench, "
_named = partial(named, NP)


def _three(n: int) -> Shapes:
    return {"A": (n, n), "B": (n, n), "C": (n, n)}


def _heat(a: torch.Tensor) -> torch.Tensor:
    inner = a[1:-1, 1:-1, 1:-1]
    x = a[2:, 1:-1, 1:-1] - 2 * inner + a[:-2, 1:-1, 1:-1]
    y = a[1:-1, 2:, 1:-1] - 2 * inner + a[1:-1, :-2, 1:-1]
    z = a[1:-1, 1:-1, 2:] - 2 * inner + a[1:-1, 1:-1, :-2]
    return 0.125 * x + 0.125 * y + 0.125 * z + inner


def _covariance(x: torch.Tensor) -> torch.Tensor:
    centred = x - x.mean(0)
    return centred.T @ centred / (len(x) - 1)


def _arc(a: torch.Tensor, c: torch.Tensor, b: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
    """The argument of the arcus: thetas a and b, phis c and d."""
    return ((a - b) / 2).sin() ** 2 + a.cos() * b.cos() * ((c - d) / 2).sin() ** 2


def _mlp(
    x: torch.Tensor,
    u: torch.Tensor,
    a: torch.Tensor,
    v: torch.Tensor,
    b: torch.Tensor,
    w: torch.Tensor,
    c: torch.Tensor,
) -> torch.Tensor:
    hidden = torch.relu(x @ u + a)
    hidden = torch.relu(hidden @ v + b)
    return functional.softmax(hidden @ w + c, -1)


def _gemver(
    a: torch.Tensor,
    u: torch.Tensor,
    v: torch.Tensor,
    p: torch.Tensor,
    q: torch.Tensor,
    y: torch.Tensor,
) -> torch.Tensor:
    return (a + torch.outer(u, v) + torch.outer(p, q)).T @ y


NPBENCH: tuple[Formula, ...] = (
    _named(
        "gemm",
        "Y[i,j] = 1.5*A[i,k]*B[k,j] + 1.2*C[i,j]",
        _three,
        lambda a, b, c: 1.5 * a @ b + 1.2 * c,
        lambda a, b, c: torch.addmm(c, a, b, alpha=1.5, beta=1.2),
    ),
    _named(
        "k2mm",
        "Y[i,j] = 1.5*A[i,k]*B[k,l]*C[l,j] + 1.2*D[i,j]",
        lambda n: {**_three(n), "D": (n, n)},
        lambda a, b, c, d: 1.5 * a @ b @ c + 1.2 * d,
        lambda a, b, c, d: torch.addmm(d, a @ b, c, alpha=1.5, beta=1.2),
    ),
    _named(
        "k3mm",
        "Y[i,j] = A[i,k]*B[k,l]*C[l,m]*D[m,j]",
        lambda n: {**_three(n), "D": (n, n)},
        lambda a, b, c, d: a @ b @ c @ d,
        lambda a, b, c, d: (a @ b) @ (c @ d),
        largest=512,
    ),
    _named(
        "atax",
        "Y[j] = A[i,k]*X[k]*A[i,j]",
        lambda n: {"A": (n, n), "X": (n,)},
        lambda a, x: (a @ x) @ a,
    ),
    _named(
        "bicg",
        "S[j] = R[i]*A[i,j]; Q[i] = A[i,k]*P[k]",
        lambda n: {"R": (n,), "A": (n, n), "P": (n,)},
        lambda r, a, p: (r @ a, a @ p),
    ),
    _named(
        "mvt",
        "Y[i] = X[i] + A[i,k]*P[k]; Z[i] = U[i] + A[k,i]*Q[k]",
        lambda n: {"X": (n,), "A": (n, n), "P": (n,), "U": (n,), "Q": (n,)},
        lambda x, a, p, u, q: (x + a @ p, u + q @ a),
        lambda x, a, p, u, q: (torch.addmv(x, a, p), torch.addmv(u, a.T, q)),
    ),
    _named(
        "gesummv",
        "Y[i] = 1.5*A[i,k]*X[k] + 1.2*B[i,k]*X[k]",
        lambda n: {"A": (n, n), "X": (n,), "B": (n, n)},
        lambda a, x, b: 1.5 * a @ x + 1.2 * b @ x,
        lambda a, x, b: 1.5 * (a @ x) + 1.2 * (b @ x),
    ),
    _named(
        "gemver, the updated matrix times a vector",
        "Z[j] = (A[i,j] + U[i]*V[j] + P[i]*Q[j])*Y[i]",
        lambda n: {"A": (n, n), "U": (n,), "V": (n,), "P": (n,), "Q": (n,), "Y": (n,)},
        _gemver,
        lambda a, u, v, p, q, y: a.T @ y + v * torch.dot(u, y) + q * torch.dot(p, y),
    ),
    _named(
        "doitgen",
        "Y[r,q,p] = A[r,q,s]*C[s,p]",
        lambda n: {"A": (16, n, n), "C": (n, n)},
        lambda a, c: a @ c,
        largest=512,
    ),
    _named(
        "jacobi_1d",
        lambda n: f"Y[i] = (A[i]+A[i+1]+A[i+2])/3 where i in 0:{n * n - 2}",
        lambda n: {"A": (n * n,)},
        lambda a: (a[:-2] + a[1:-1] + a[2:]) / 3,
    ),
    _named(
        "jacobi_2d",
        lambda n: (
            "Y[i,j] = 0.2*(A[i+1,j+1]+A[i+1,j]+A[i+1,j+2]+A[i+2,j+1]+A[i,j+1]) "
            f"where i in 0:{n - 2}, j in 0:{n - 2}"
        ),
        lambda n: {"A": (n, n)},
        lambda a: 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1]),
    ),
    _named(
        "heat_3d",
        lambda n: (
            "Y[i,j,k] = 0.125*(A[i+2,j+1,k+1]-2*A[i+1,j+1,k+1]+A[i,j+1,k+1]) "
            "+ 0.125*(A[i+1,j+2,k+1]-2*A[i+1,j+1,k+1]+A[i+1,j,k+1]) "
            "+ 0.125*(A[i+1,j+1,k+2]-2*A[i+1,j+1,k+1]+A[i+1,j+1,k]) + A[i+1,j+1,k+1] "
            f"where i in 0:{n - 2}, j in 0:{n - 2}, k in 0:{n - 2}"
        ),
        lambda n: {"A": (n, n, n)},
        _heat,
        largest=128,
    ),
    _named(
        "covariance",
        lambda n: f"M[j] = X[i,j]/{n}; Y[i,j] = (X[k,i]-M[i])*(X[k,j]-M[j])/{n - 1}",
        lambda n: {"X": (n, n)},
        _covariance,
        lambda x: torch.cov(x.T),
    ),
    _named(
        "syrk, whole",
        "Y[i,j] = 1.5*A[i,k]*A[j,k] + 1.2*C[i,j]",
        lambda n: {"A": (n, n), "C": (n, n)},
        lambda a, c: 1.5 * a @ a.T + 1.2 * c,
        lambda a, c: torch.addmm(c, a, a.T, alpha=1.5, beta=1.2),
    ),
    _named(
        "compute",
        "Y[i,j] = minimum(maximum(A[i,j], 2), 10)*4 + B[i,j]*3 + 9",
        lambda n: {"A": (n, n), "B": (n, n)},
        lambda a, b: a.clamp(2, 10) * 4 + b * 3 + 9,
    ),
    _named(
        "go_fast",
        "Y[i,j] = A[i,j] + sum[k](tanh(A[k,k]))",
        lambda n: {"A": (n, n)},
        lambda a: a + a.diagonal().tanh().sum(),
    ),
    _named(
        "arc_distance, the argument of the arcus",
        "Y[i] = sin((A[i]-B[i])/2)^2 + cos(A[i])*cos(B[i])*sin((C[i]-D[i])/2)^2",
        lambda n: {"A": (n * n,), "B": (n * n,), "C": (n * n,), "D": (n * n,)},
        lambda a, b, c, d: _arc(a, c, b, d),
    ),
    _named(
        "conv2d_bias",
        lambda n: (
            f"Y[n,h,w,f] = A[n,h+r,w+s,c]*K[r,s,c,f] + B[f] where h in 0:{n - 2}, w in 0:{n - 2}"
        ),
        lambda n: {"A": (4, n, n, 3), "K": (3, 3, 3, 16), "B": (16,)},
        lambda a, k, b: functional.conv2d(a.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1), b).permute(
            0, 2, 3, 1
        ),
        largest=512,
    ),
    _named(
        "mlp",
        "H[b,o] = relu(sum[i](X[b,i]*U[i,o]) + A[o]); "
        "G[b,o] = relu(sum[i](H[b,i]*V[i,o]) + B[o]); "
        "Z[b,o] = G[b,i]*W[i,o] + C[o]; M[b] = max[o](Z[b,o]); "
        "E[b,o] = exp(Z[b,o]-M[b]); Y[b,o] = E[b,o]/sum[p](E[b,p])",
        lambda n: {
            "X": (8, n),
            "U": (n, n),
            "A": (n,),
            "V": (n, n),
            "B": (n,),
            "W": (n, 10),
            "C": (10,),
        },
        _mlp,
    ),
)
