"""Functions of torch.nn.functional with windows: convolution and pooling
(https://docs.pytorch.org/docs/stable/nn.functional.html)."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional

from einderive.frontend.formulas.entry import Formula, formula, named

DOCS = "torch.nn.functional."
_named = partial(named, DOCS)


def _separate(a: torch.Tensor, u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Row filter, then column filter."""
    channels = len(u)
    rows = functional.conv2d(a, u[:, None, :, None], padding=(2, 0), groups=channels)
    return functional.conv2d(rows, v[:, None, None, :], padding=(0, 2), groups=channels)


WINDOWS: tuple[Formula, ...] = (
    _named(
        "conv1d",
        lambda n: f"Y[b,f,h] = A[b,c,h+r-1]*K[f,c,r] where h in 0:{n}",
        lambda n: {"A": (8, 16, n), "K": (32, 16, 3)},
        lambda a, k: functional.conv1d(a, k, padding=1),
    ),
    _named(
        "conv1d, a filter of 65 taps",
        lambda n: f"Y[h] = A[h+r]*K[r] where h in 0:{16 * n}",
        lambda n: {"A": (16 * n + 64,), "K": (65,)},
        lambda a, k: functional.conv1d(a[None, None], k[None, None])[0, 0],
        lambda a, k: a.unfold(0, 65, 1) @ k,
    ),
    _named(
        "conv2d",
        lambda n: f"Y[b,f,h,w] = A[b,c,h+r-1,w+s-1]*K[f,c,r,s] where h in 0:{n}, w in 0:{n}",
        lambda n: {"A": (1, 16, n, n), "K": (16, 16, 3, 3)},
        lambda a, k: functional.conv2d(a, k, padding=1),
        largest=512,
    ),
    formula(
        "conv2d, with bias and relu",
        DOCS + "conv2d, relu",
        lambda n: (
            "Y[b,f,h,w] = relu(sum[c,r,s](A[b,c,h+r-1,w+s-1]*K[f,c,r,s]) + B[f]) "
            f"where h in 0:{n}, w in 0:{n}"
        ),
        lambda n: {"A": (1, 16, n, n), "K": (16, 16, 3, 3), "B": (16,)},
        lambda a, k, b: functional.conv2d(a, k, b, padding=1).relu(),
        largest=512,
    ),
    _named(
        "conv2d, stride 2",
        lambda n: (
            f"Y[b,f,h,w] = A[b,c,2*h+r-1,2*w+s-1]*K[f,c,r,s] where h in 0:{n // 2}, w in 0:{n // 2}"
        ),
        lambda n: {"A": (1, 16, n, n), "K": (32, 16, 3, 3)},
        lambda a, k: functional.conv2d(a, k, stride=2, padding=1),
        largest=512,
    ),
    _named(
        "conv2d, dilation 2",
        lambda n: f"Y[b,f,h,w] = A[b,c,h+2*r-2,w+2*s-2]*K[f,c,r,s] where h in 0:{n}, w in 0:{n}",
        lambda n: {"A": (1, 16, n, n), "K": (16, 16, 3, 3)},
        lambda a, k: functional.conv2d(a, k, padding=2, dilation=2),
        largest=512,
    ),
    _named(
        "conv2d, depthwise",
        lambda n: f"Y[b,c,h,w] = A[b,c,h+r-1,w+s-1]*K[c,r,s] where h in 0:{n}, w in 0:{n}",
        lambda n: {"A": (1, 16, n, n), "K": (16, 3, 3)},
        lambda a, k: functional.conv2d(a, k[:, None], padding=1, groups=16),
        largest=512,
    ),
    _named(
        "conv2d, depthwise with a separable kernel",
        lambda n: f"Y[b,c,h,w] = A[b,c,h+r-2,w+s-2]*U[c,r]*V[c,s] where h in 0:{n}, w in 0:{n}",
        lambda n: {"A": (1, 16, n, n), "U": (16, 5), "V": (16, 5)},
        lambda a, u, v: functional.conv2d(
            a, (u[:, :, None] * v[:, None])[:, None], padding=2, groups=16
        ),
        _separate,
        largest=512,
    ),
    _named(
        "conv3d",
        lambda n: (
            "Y[b,f,x,y,z] = A[b,c,x+p-1,y+q-1,z+r-1]*K[f,c,p,q,r] "
            f"where x in 0:{n}, y in 0:{n}, z in 0:{n}"
        ),
        lambda n: {"A": (1, 4, n, n, n), "K": (4, 4, 3, 3, 3)},
        lambda a, k: functional.conv3d(a, k, padding=1),
        largest=128,
    ),
    _named(
        "conv_transpose1d",
        lambda n: f"Y[b,f,h] = A[b,c,i]*K[c,f,h+1-2*i] where h in 0:{2 * n}",
        lambda n: {"A": (8, 16, n), "K": (16, 16, 4)},
        lambda a, k: functional.conv_transpose1d(a, k, stride=2, padding=1),
    ),
    _named(
        "avg_pool2d",
        lambda n: (
            "Y[b,c,h,w] = A[b,c,2*h+r,2*w+s]/4 "
            f"where h in 0:{n // 2}, w in 0:{n // 2}, r in 0:2, s in 0:2"
        ),
        lambda n: {"A": (1, 16, n, n)},
        lambda a: functional.avg_pool2d(a, 2),
        largest=512,
    ),
    _named(
        "avg_pool2d, 15 x 15",
        lambda n: (
            "Y[b,c,h,w] = A[b,c,h+r-7,w+s-7]/225 "
            f"where h in 0:{n}, w in 0:{n}, r in 0:15, s in 0:15"
        ),
        lambda n: {"A": (1, 16, n, n)},
        lambda a: functional.avg_pool2d(a, 15, stride=1, padding=7),
        largest=128,
    ),
    _named(
        "max_pool2d",
        lambda n: (
            "Y[b,c,h,w] = max[r,s](A{fill=-inf}[b,c,2*h+r-1,2*w+s-1]) "
            f"where h in 0:{n // 2}, w in 0:{n // 2}, r in 0:3, s in 0:3"
        ),
        lambda n: {"A": (1, 16, n, n)},
        lambda a: functional.max_pool2d(a, 3, stride=2, padding=1),
        largest=512,
    ),
)
