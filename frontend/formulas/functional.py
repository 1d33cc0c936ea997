"""Functions of torch.nn.functional without windows
(https://docs.pytorch.org/docs/stable/nn.functional.html)."""

from __future__ import annotations

from functools import partial

import torch
from torch.nn import functional

from einderive.frontend.formulas.entry import Formula, Plain, Shapes, formula, named

DOCS = "torch.nn.functional."
_named = partial(named, DOCS)


def _rows(n: int) -> Shapes:
    return {"X": (n, n)}


def _pair(n: int) -> Shapes:
    return {"X": (n, n), "Z": (n, n)}


def _heads(n: int) -> Shapes:
    return {"Q": (4, n, 64), "K": (4, n, 64), "V": (4, n, 64)}


def _entry(name: str, text: str, *plain: Plain, pair: bool = False) -> Formula:
    return _named(name, text, _pair if pair else _rows, *plain)


SOFTMAX = "M[i] = max[k](X[i,k]); E[i,k] = exp(X[i,k]-M[i]); "
SCORES = "S[h,i,j] = Q[h,i,d]*K[h,j,d]/8; "
ATTEND = (
    "M[h,i] = max[j](S[h,i,j]); E[h,i,j] = exp(S[h,i,j]-M[h,i]); "
    "P[h,i,j] = E[h,i,j]/sum[k](E[h,i,k]); Y[h,i,e] = P[h,i,j]*V[h,j,e]"
)

FUNCTIONAL: tuple[Formula, ...] = (
    _named(
        "linear",
        "Y[b,o] = X[b,i]*W[o,i] + B[o]",
        lambda n: {"X": (n, n), "W": (n, n), "B": (n,)},
        functional.linear,
    ),
    formula(
        "linear, then relu",
        DOCS + "linear, relu",
        "Y[b,o] = relu(sum[i](X[b,i]*W[o,i]) + B[o])",
        lambda n: {"X": (n, n), "W": (n, n), "B": (n,)},
        lambda x, w, b: functional.linear(x, w, b).relu(),
    ),
    _named(
        "bilinear",
        "Y[b,o] = X[b,i]*W[o,i,j]*Z[b,j]",
        lambda n: {"X": (n, 32), "W": (32, 32, 32), "Z": (n, 32)},
        lambda x, w, z: functional.bilinear(x, z, w),
    ),
    _entry(
        "softmax", SOFTMAX + "Y[i,k] = E[i,k]/sum[l](E[i,l])", lambda x: functional.softmax(x, -1)
    ),
    _entry(
        "log_softmax",
        "M[i] = max[k](X[i,k]); Y[i,k] = X[i,k]-M[i]-log(sum[l](exp(X[i,l]-M[i])))",
        lambda x: functional.log_softmax(x, -1),
    ),
    _entry(
        "softmin",
        "M[i] = min[k](X[i,k]); E[i,k] = exp(M[i]-X[i,k]); Y[i,k] = E[i,k]/sum[l](E[i,l])",
        lambda x: functional.softmin(x, -1),
    ),
    _named(
        "layer_norm",
        lambda n: (
            f"M[i] = X[i,k]/{n}; V[i] = (X[i,k]-M[i])^2/{n}; "
            "Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1e-5)*G[k] + B[k]"
        ),
        lambda n: {"X": (n, n), "G": (n,), "B": (n,)},
        lambda x, g, b: functional.layer_norm(x, g.shape, g, b),
    ),
    _named(
        "rms_norm",
        lambda n: f"Y[i,k] = X[i,k]*rsqrt(sum[l](X[i,l]^2)/{n} + 1e-6)*G[k]",
        lambda n: {"X": (n, n), "G": (n,)},
        lambda x, g: functional.rms_norm(x, g.shape, g, 1e-6),
    ),
    _named(
        "batch_norm, evaluation",
        "Y[b,c,h] = (X[b,c,h]-M[c])*rsqrt(V[c]^2+1e-5)*G[c] + B[c]",
        lambda n: {"X": (16, 32, n), "M": (32,), "V": (32,), "G": (32,), "B": (32,)},
        lambda x, m, v, g, b: functional.batch_norm(x, m, v * v, g, b),
    ),
    _named(
        "instance_norm",
        lambda n: (
            f"M[b,c] = X[b,c,k]/{n}; V[b,c] = (X[b,c,k]-M[b,c])^2/{n}; "
            "Y[b,c,k] = (X[b,c,k]-M[b,c])*rsqrt(V[b,c]+1e-5)"
        ),
        lambda n: {"X": (8, 16, n)},
        functional.instance_norm,
    ),
    _entry(
        "normalize", "Y[i,k] = X[i,k]/maximum(sqrt(sum[l](X[i,l]^2)), 1e-12)", functional.normalize
    ),
    _named(
        "scaled_dot_product_attention",
        SCORES + ATTEND,
        _heads,
        functional.scaled_dot_product_attention,
    ),
    _named(
        "scaled_dot_product_attention, causal",
        "T[h,i,j] = Q[h,i,d]*K[h,j,d]/8; S[h,i,j] = where(j <= i, T[h,i,j], -inf); " + ATTEND,
        _heads,
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    _entry("relu", "Y[i,j] = relu(X[i,j])", functional.relu),
    _entry("gelu", "Y[i,j] = gelu(X[i,j])", functional.gelu),
    _entry("silu", "Y[i,j] = X[i,j]*sigmoid(X[i,j])", functional.silu),
    _entry("softplus", "Y[i,j] = log(1+exp(X[i,j]))", functional.softplus),
    _entry("tanhshrink", "Y[i,j] = X[i,j]-tanh(X[i,j])", functional.tanhshrink),
    _entry("leaky_relu", "Y[i,j] = maximum(X[i,j], 0.01*X[i,j])", functional.leaky_relu),
    _entry("hardswish", "Y[i,j] = X[i,j]*minimum(maximum(X[i,j]+3, 0), 6)/6", functional.hardswish),
    _entry("softsign", "Y[i,j] = X[i,j]/(1+abs(X[i,j]))", functional.softsign),
    _named(
        "glu",
        lambda n: f"Y[i,j] = X[i,j]*sigmoid(X[i,j+{n}]) where j in 0:{n}",
        lambda n: {"X": (n, 2 * n)},
        functional.glu,
    ),
    _named("mse_loss", lambda n: f"Y = (X[i,j]-Z[i,j])^2/{n * n}", _pair, functional.mse_loss),
    _entry(
        "l1_loss, sum",
        "Y = sum[i,j](abs(X[i,j]-Z[i,j]))",
        lambda x, z: functional.l1_loss(x, z, reduction="sum"),
        pair=True,
    ),
    _entry(
        "cross_entropy, with probabilities",
        "M[i] = max[k](X[i,k]); L[i] = log(sum[k](exp(X[i,k]-M[i]))); "
        "Y[i] = sum[k]((M[i]+L[i]-X[i,k])*Z[i,k])",
        lambda x, z: functional.cross_entropy(x, z, reduction="none"),
        pair=True,
    ),
    _entry(
        "cosine_similarity",
        "Y[i] = sum[k](X[i,k]*Z[i,k])*rsqrt(sum[k](X[i,k]^2))*rsqrt(sum[k](Z[i,k]^2))",
        lambda x, z: functional.cosine_similarity(x, z),
        pair=True,
    ),
    _entry(
        "pairwise_distance",
        "Y[i] = sqrt(sum[k]((X[i,k]-Z[i,k]+1e-6)^2))",
        functional.pairwise_distance,
        pair=True,
    ),
    formula(
        "torch.cdist, squared",
        "torch.cdist",
        "Y[i,j] = (X[i,k]-Z[j,k])^2",
        lambda n: {"X": (n, 64), "Z": (n, 64)},
        lambda x, z: torch.cdist(x, z) ** 2,
        lambda x, z: ((x[:, None] - z) ** 2).sum(-1),
        largest=512,
    ),
    _named(
        "pixel_shuffle",
        lambda n: (
            "Y[b,c,h,w] = X[b,4*c+2*(h%2)+w%2,h//2,w//2] "
            f"where c in 0:4, h in 0:{2 * n}, w in 0:{2 * n}"
        ),
        lambda n: {"X": (1, 16, n, n)},
        lambda x: functional.pixel_shuffle(x, 2),
        largest=512,
    ),
    _named(
        "pad",
        lambda n: f"Y[i,j] = X[i-1,j-2] where i in 0:{n + 2}, j in 0:{n + 4}",
        _rows,
        lambda x: functional.pad(x, (2, 2, 1, 1)),
    ),
    _named(
        "interpolate, nearest",
        lambda n: f"Y[b,c,h,w] = X[b,c,h//2,w//2] where h in 0:{2 * n}, w in 0:{2 * n}",
        lambda n: {"X": (1, 8, n, n)},
        lambda x: functional.interpolate(x, scale_factor=2, mode="nearest"),
        largest=512,
    ),
)
