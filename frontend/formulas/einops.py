"""Examples of einops' documentation (https://einops.rocks: basics, deep learning, docstrings)."""

from __future__ import annotations

import torch
from torch.nn import functional

from einderive.frontend.formulas.entry import Formula, Shapes, formula

DOCS = "einops documentation, "


def _images(n: int) -> Shapes:
    return {"X": (2, n, n, 8)}


EINOPS: tuple[Formula, ...] = (
    formula(
        "b h w c -> b c h w",
        DOCS + "rearrange",
        "Y[b,c,h,w] = X[b,h,w,c]",
        _images,
        lambda x: x.permute(0, 3, 1, 2).contiguous(),
        largest=512,
    ),
    formula(
        "b (h 2) (w 2) c -> b h w (c 2 2)",
        DOCS + "rearrange, space to depth",
        lambda n: (
            "Y[b,h,w,d] = X[b,2*h+d//2%2,2*w+d%2,d//4] "
            f"where h in 0:{n // 2}, w in 0:{n // 2}, d in 0:32"
        ),
        _images,
        lambda x: (
            x.reshape(2, x.shape[1] // 2, 2, x.shape[2] // 2, 2, 8)
            .permute(0, 1, 3, 5, 2, 4)
            .reshape(2, x.shape[1] // 2, x.shape[2] // 2, 32)
        ),
        largest=512,
    ),
    formula(
        "b h w c -> b c, mean",
        DOCS + "reduce, global average pooling",
        lambda n: f"Y[b,c] = X[b,h,w,c]/{n * n}",
        _images,
        lambda x: x.mean((1, 2)),
        largest=512,
    ),
    formula(
        "b (h 2) (w 2) c -> b h w c, max",
        DOCS + "reduce, max pooling",
        lambda n: (
            "Y[b,h,w,c] = max[r,s](X[b,2*h+r,2*w+s,c]) "
            f"where h in 0:{n // 2}, w in 0:{n // 2}, r in 0:2, s in 0:2"
        ),
        _images,
        lambda x: x.reshape(2, x.shape[1] // 2, 2, x.shape[2] // 2, 2, 8).amax((2, 4)),
        lambda x: functional.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1),
        largest=512,
    ),
    formula(
        "h w -> h (repeat w), 3",
        DOCS + "repeat",
        lambda n: f"Y[i,j] = X[i,j%{n}] where j in 0:{3 * n}",
        lambda n: {"X": (n, n)},
        lambda x: x.repeat(1, 3),
    ),
    formula(
        "b (h d) -> b h d, normalised by heads",
        DOCS + "rearrange, then reduce",
        lambda n: (
            f"M[b,h] = X[b,8*h+d]/8 where h in 0:{n // 8}, d in 0:8; Y[b,e] = X[b,e]-M[b,e//8]"
        ),
        lambda n: {"X": (n, n)},
        lambda x: (x.view(len(x), -1, 8) - x.view(len(x), -1, 8).mean(-1, keepdim=True)).view_as(x),
    ),
    formula(
        "b h i d, b h j d -> b h i j",
        DOCS + "einsum, attention scores",
        "Y[b,h,i,j] = Q[b,h,i,d]*K[b,h,j,d]",
        lambda n: {"Q": (2, 4, n, 32), "K": (2, 4, n, 32)},
        lambda q, k: q @ k.mT,
        lambda q, k: torch.einsum("bhid,bhjd->bhij", q, k),
    ),
    formula(
        "batch t c, c d -> batch d t",
        DOCS + "einsum",
        "Y[b,d,t] = X[b,t,c]*W[c,d]",
        lambda n: {"X": (4, n, 64), "W": (64, 64)},
        lambda x, w: torch.einsum("btc,cd->bdt", x, w),
        lambda x, w: (x @ w).mT.contiguous(),
    ),
    formula(
        "b c h w, c -> b h w",
        DOCS + "einsum, a weighted sum of channels",
        "Y[b,h,w] = X[b,c,h,w]*W[c]",
        lambda n: {"X": (2, 16, n, n), "W": (16,)},
        lambda x, w: torch.einsum("bchw,c->bhw", x, w),
        lambda x, w: torch.tensordot(x, w, ([1], [0])),
        largest=512,
    ),
)
