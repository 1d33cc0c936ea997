"""Stages of NPBench (https://github.com/spcl/npbench, A. Ziogas et al., ICS'21); of kernels with
time steps one step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from einderive.frontend.formulas.written import real, unit
from einderive.frontend.stages.entry import (
    BROADCAST,
    CHOICE,
    ELEMENTWISE,
    LINE,
    NORMALISED,
    ODD,
    ODD_LINE,
    ROWS,
    SEVERAL,
    SQUARE,
    STENCIL,
    WHOLE,
    in_type,
    stage,
)

_stage = partial(stage, source="NPBench")
_A: Mapping[str, Any] = {"A": real("n", "m")}

_COMPUTE = _stage(
    "compute",
    ELEMENTWISE,
    "Y[i,j] = clip(A[i,j], 2, 10)*4 + B[i,j]*3 + 9",
    torch="A.clamp(2, 10)*4 + B*3 + 9",
    jax="jnp.clip(A, 2, 10)*4 + B*3 + 9",
    B=real("n", "m"),
    **_A,
    **ODD,
)

NPBENCH = (
    _COMPUTE,
    _stage(
        "arc_distance",
        ELEMENTWISE,
        """
        t[i] = sin((a[i]-b[i])/2)^2 + cos(a[i])*cos(b[i])*sin((c[i]-d[i])/2)^2
        D[i] = 2*atan2(sqrt(t[i]), sqrt(1 - t[i]))
        """,
        torch="""
        t = torch.sin((a - b)/2)**2 + torch.cos(a)*torch.cos(b)*torch.sin((c - d)/2)**2
        2*torch.atan2(torch.sqrt(t), torch.sqrt(1 - t))
        """,
        jax="""
        t = jnp.sin((a - b)/2)**2 + jnp.cos(a)*jnp.cos(b)*jnp.sin((c - d)/2)**2
        2*jnp.atan2(jnp.sqrt(t), jnp.sqrt(1 - t))
        """,
        bound=False,
        a=unit("n"),
        b=unit("n"),
        c=unit("n"),
        d=unit("n"),
        **ODD_LINE,
    ),
    _stage(
        "mandelbrot1, one step where it has not left",
        CHOICE,
        """
        k[i,j] = x[i,j]^2 + y[i,j]^2 < 4
        U[i,j] = where(k[i,j], x[i,j]^2 - y[i,j]^2 + a[j], x[i,j])
        V[i,j] = where(k[i,j], 2*x[i,j]*y[i,j] + b[i], y[i,j])
        """,
        torch="""
        k = x*x + y*y < 4
        torch.where(k, x*x - y*y + a, x), torch.where(k, 2*x*y + b[:, None], y)
        """,
        jax="""
        k = x*x + y*y < 4
        jnp.where(k, x*x - y*y + a, x), jnp.where(k, 2*x*y + b[:, None], y)
        """,
        x=real("n", "m"),
        y=real("n", "m"),
        a=real("m"),
        b=real("n"),
        **SQUARE,
    ),
    _stage(
        "go_fast",
        BROADCAST,
        "t = sum[k](tanh(A[k,k])); Y[i,j] = A[i,j] + t",
        torch="A + A.diagonal().tanh().sum()",
        jax="A + jnp.tanh(jnp.diagonal(A)).sum()",
        **_A,
        **SQUARE,
    ),
    _stage(
        "softmax, four dimensions",
        NORMALISED,
        "Y[b,h,i,j] = softmax[j](X[b,h,i,j])",
        torch="F.softmax(X, -1)",
        jax="nn.softmax(X, -1)",
        X=real("b", "h", "s", "s"),
        b=(1, 2, 4),
        h=(1, 3, 4),
        s=(20, 81, 500),
    ),
    _stage(
        "hdiff, the flux along a row with its limiter",
        STENCIL,
        """
        L[i,j] = 4*A[i+1,j+1] - (A[i+2,j+1] + A[i,j+1] + A[i+1,j+2] + A[i+1,j])
            where i in 0:n-2, j in 0:m-2
        R[i,j] = L[i,j+1] - L[i,j] where i in 0:n-2, j in 0:m-3
        G[i,j] = where(R[i,j]*(A[i+1,j+2] - A[i+1,j+1]) > 0, 0, R[i,j])
        """,
        torch="""
        L = 4*A[1:-1, 1:-1] - (A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2])
        R = L.diff(dim=1)
        torch.where(R*(A[1:-1, 2:-1] - A[1:-1, 1:-2]) > 0, 0, R)
        """,
        jax="""
        L = 4*A[1:-1, 1:-1] - (A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2])
        R = jnp.diff(L, axis=1)
        jnp.where(R*(A[1:-1, 2:-1] - A[1:-1, 1:-2]) > 0, 0, R)
        """,
        given="n m",
        **_A,
        **SQUARE,
    ),
    _stage(
        "cavity_flow, pressure",
        STENCIL,
        """
        q[i,j] = 0.25*(p[i+1,j+2] + p[i+1,j] + p[i+2,j+1] + p[i,j+1]) - 0.25*b[i+1,j+1]
            where i in 0:n-2, j in 0:m-2
        """,
        torch="""
        S = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
        0.25*S - 0.25*b[1:-1, 1:-1]
        """,
        jax="""
        S = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1]
        0.25*S - 0.25*b[1:-1, 1:-1]
        """,
        given="n m",
        p=real("n", "m"),
        b=real("n", "m"),
        **ODD,
    ),
    _stage(
        "channel_flow, advection with a periodic row",
        STENCIL,
        """
        w[i,j] = u[i,j] - 0.1*u[i,j]*(u[i,j] - u[i,(j+m-1)%m])
            - 0.1*v[i,j]*(u[i,j] - u[i-1,j]) where i in 0:n, j in 0:m
        """,
        torch="u - 0.1*u*(u - u.roll(1, 1)) - 0.1*v*(u - F.pad(u, (0, 0, 1, 0))[:-1])",
        jax="u - 0.1*u*(u - jnp.roll(u, 1, 1)) - 0.1*v*(u - jnp.pad(u, ((1, 0), (0, 0)))[:-1])",
        given="n m",
        u=real("n", "m"),
        v=real("n", "m"),
        **SQUARE,
    ),
    _stage(
        "nbody, the potential of each body",
        ROWS,
        """
        E[i] = sum[j](rsqrt((x[i]-x[j])^2 + (y[i]-y[j])^2 + (z[i]-z[j])^2 + 0.01)*m[j])
        """,
        torch="""
        D = (x[:, None] - x)**2 + (y[:, None] - y)**2 + (z[:, None] - z)**2
        (torch.rsqrt(D + 0.01)*m).sum(1)
        """,
        jax="""
        D = (x[:, None] - x)**2 + (y[:, None] - y)**2 + (z[:, None] - z)**2
        (lax.rsqrt(D + 0.01)*m).sum(1)
        """,
        bound=False,
        x=real("n"),
        y=real("n"),
        z=real("n"),
        m=unit("n"),
        n=(20, 200, 2000),
    ),
    _stage(
        "azimint, two weighted sums",
        SEVERAL,
        """
        s = sum[i](where(0.25 <= r[i] and r[i] < 0.5, d[i], 0))
        c = sum[i](where(0.25 <= r[i] and r[i] < 0.5, 1, 0))
        M = s/c
        """,
        torch="""
        k = (0.25 <= r) & (r < 0.5)
        torch.where(k, d, 0).sum()/k.sum()
        """,
        jax="""
        k = (0.25 <= r) & (r < 0.5)
        jnp.where(k, d, 0).sum()/k.sum()
        """,
        r=unit("n"),
        d=real("n"),
        **LINE,
    ),
    _stage(
        "contour_integral, a sum of weighted inverses",
        WHOLE,
        "Y = sum[i](w[i]/(1 + x[i]^2))",
        torch="(w/(1 + x*x)).sum()",
        jax="(w/(1 + x*x)).sum()",
        w=real("n"),
        x=real("n"),
        **ODD_LINE,
    ),
    in_type("float16", _COMPUTE),
)
