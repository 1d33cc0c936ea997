"""Functions of torch.nn.functional that read windows or move elements
(https://docs.pytorch.org/docs/stable/nn.functional.html)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from einderive.frontend.formulas.written import real
from einderive.frontend.stages.entry import CUBE, LAYOUT, ODD, SQUARE, WINDOW, stage, transposed

_stage = partial(stage, source="torch.nn.functional")
_X: Mapping[str, Any] = {"X": real("n", "m")}

WINDOWS = (
    _stage(
        "glu",
        LAYOUT,
        "Y[i,j] = X[i,j]*sigmoid(X[i,j+h]) where j in 0:h",
        torch="F.glu(X)",
        jax="nn.glu(X)",
        given="h",
        X=real("n", "2*h"),
        n=(20, 200, 2000),
        h=(10, 100, 1000),
    ),
    _stage(
        "avg_pool2d, 3 x 3",
        WINDOW,
        "Y[c,h,w] = sum[r,s](X[c,h+r,w+s])/9 where h in 0:n-2, w in 0:n-2, r in 0:3, s in 0:3",
        torch="F.avg_pool2d(X, 3, 1)",
        jax="lax.reduce_window(X, 0.0, lax.add, (1, 3, 3), (1, 1, 1), 'VALID')/9",
        given="n",
        X=real("c", "n", "n"),
        c=(1, 4, 10),
        n=(20, 100, 632),
    ),
    _stage(
        "max_pool2d, 3 x 3, stride 2, padding 1",
        WINDOW,
        "Y[c,h,w] = max[r,s](X{fill=-inf}[c,2*h+r-1,2*w+s-1])"
        " where h in 0:n//2, w in 0:n//2, r in 0:3, s in 0:3",
        torch="F.max_pool2d(X, 3, 2, 1)",
        jax="""
        edge = ((0, 0), (1, 1), (1, 1))
        lax.reduce_window(X, -jnp.inf, lax.max, (1, 3, 3), (1, 2, 2), edge)[:, : n//2, : n//2]
        """,
        given="n",
        X=real("c", "n", "n"),
        c=(1, 4, 10),
        n=(20, 100, 632),
    ),
    _stage(
        "lp_pool1d, 5",
        WINDOW,
        "Y[c,w] = sqrt(sum[s](X[c,w+s]^2)) where w in 0:n-4, s in 0:5",
        torch="F.lp_pool1d(X, 2.0, 5, 1)",
        jax="jnp.sqrt(lax.reduce_window(X*X, 0.0, lax.add, (1, 5), (1, 1), 'VALID'))",
        given="n",
        X=real("c", "n"),
        c=(4, 40, 400),
        n=(101, 1001, 10001),
    ),
    _stage(
        "local_response_norm",
        WINDOW,
        "Y[b,c,h] = X[b,c,h]*(2 + 0.0001*sum[r](X[b,c+r-2,h]^2)/5)^-0.75"
        " where b in 0:b0, c in 0:c0, r in 0:5",
        torch="F.local_response_norm(X, 5, k=2.0)",
        jax="""
        edge = ((0, 0), (2, 2), (0, 0))
        S = lax.reduce_window(X*X, 0.0, lax.add, (1, 5, 1), (1, 1, 1), edge)
        X*(2 + 0.0001*S/5)**-0.75
        """,
        given="b0 c0",
        bound=False,
        X=real("b0", "c0", "h"),
        b0=(2, 4, 16),
        c0=(8, 32, 64),
        h=(25, 313, 3907),
    ),
    _stage(
        "pixel_shuffle",
        LAYOUT,
        "Y[c,h,w] = X[4*c+2*(h%2)+w%2,h//2,w//2] where c in 0:c0, h in 0:2*n, w in 0:2*n",
        torch="F.pixel_shuffle(X, 2)",
        jax="""
        S = X.reshape(X.shape[0]//4, 2, 2, *X.shape[1:]).transpose(0, 3, 1, 4, 2)
        S.reshape(X.shape[0]//4, 2*X.shape[1], 2*X.shape[2])
        """,
        given="c0 n",
        X=real("4*c0", "n", "n"),
        c0=(1, 4, 10),
        n=(10, 50, 316),
    ),
    _stage(
        "pad, then tanh",
        LAYOUT,
        "Y[i,j] = tanh(X[i-1,j-2]) where i in 0:n+2, j in 0:m+4",
        torch="F.pad(X, (2, 2, 1, 1)).tanh()",
        jax="jnp.tanh(jnp.pad(X, ((1, 1), (2, 2))))",
        given="n m",
        bound=False,
        **_X,
        **ODD,
    ),
    _stage(
        "interpolate, nearest",
        LAYOUT,
        "Y[c,h,w] = X[c,h//2,w//2] where h in 0:2*n, w in 0:2*n",
        torch="F.interpolate(X[None], scale_factor=2, mode='nearest')[0]",
        jax="X.repeat(2, 1).repeat(2, 2)",
        given="n",
        X=real("c", "n", "n"),
        c=(1, 4, 10),
        n=(10, 50, 316),
    ),
    _stage(
        "add, one operand transposed",
        LAYOUT,
        "Y[i,j] = relu(X[i,j] + Z[i,j])",
        torch="F.relu(X + Z)",
        jax="nn.relu(X + Z)",
        X=real("n", "m"),
        Z=transposed(real("n", "m")),
        **SQUARE,
    ),
    _stage(
        "depthwise conv3d, a Laplacian's weights",
        WINDOW,
        "Y[h,w,d] = K[r,s,t]*X[h+r,w+s,d+t] where h in 0:n-2, w in 0:n-2, d in 0:n-2",
        torch="F.conv3d(X[None, None], K[None, None])[0, 0]",
        jax="lax.conv(X[None, None], K[None, None], (1, 1, 1), 'VALID')[0, 0]",
        given="n",
        bound=False,
        X=real("n", "n", "n"),
        K=real(3, 3, 3),
        **CUBE,
    ),
)
