"""Stages of PolyBench/C 4.2.1 (https://polybench.sourceforge.net); of kernels with time steps one
step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from einderive.frontend.formulas.written import positive, real
from einderive.frontend.stages.entry import (
    BROADCAST,
    COLUMNS,
    CUBE,
    NORMALISED,
    ODD_LINE,
    SEVERAL,
    SQUARE,
    STENCIL,
    stage,
)

_stage = partial(stage, source="PolyBench/C 4.2.1")
_A: Mapping[str, Any] = {"A": real("n", "m")}

POLYBENCH = (
    _stage(
        "jacobi-1d",
        STENCIL,
        "B[i] = (A[i]+A[i+1]+A[i+2])/3 where i in 0:n-2",
        torch="(A[:-2] + A[1:-1] + A[2:])/3",
        jax="(A[:-2] + A[1:-1] + A[2:])/3",
        given="n",
        A=real("n"),
        **ODD_LINE,
    ),
    _stage(
        "jacobi-2d",
        STENCIL,
        """
        B[i,j] = 0.2*(A[i+1,j+1] + A[i+1,j] + A[i+1,j+2] + A[i+2,j+1] + A[i,j+1])
            where i in 0:n-2, j in 0:m-2
        """,
        torch="0.2*(A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])",
        jax="0.2*(A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])",
        given="n m",
        **_A,
        **SQUARE,
    ),
    _stage(
        "jacobi-2d, zero border",
        STENCIL,
        "B[i,j] = 0.2*(A[i,j] + A[i,j-1] + A[i,j+1] + A[i+1,j] + A[i-1,j])"
        " where i in 0:n, j in 0:m",
        torch="""
        P = F.pad(A, (1, 1, 1, 1))
        0.2*(A + P[1:-1, :-2] + P[1:-1, 2:] + P[2:, 1:-1] + P[:-2, 1:-1])
        """,
        jax="""
        P = jnp.pad(A, 1)
        0.2*(A + P[1:-1, :-2] + P[1:-1, 2:] + P[2:, 1:-1] + P[:-2, 1:-1])
        """,
        given="n m",
        **_A,
        **SQUARE,
    ),
    _stage(
        "jacobi-2d, two steps",
        STENCIL,
        """
        B[i,j] = 0.2*(A[i+1,j+1] + A[i+1,j] + A[i+1,j+2] + A[i+2,j+1] + A[i,j+1])
            where i in 0:n-2, j in 0:m-2
        C[i,j] = 0.2*(B[i+1,j+1] + B[i+1,j] + B[i+1,j+2] + B[i+2,j+1] + B[i,j+1])
            where i in 0:n-4, j in 0:m-4
        """,
        torch="""
        B = 0.2*(A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        0.2*(B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
        """,
        jax="""
        B = 0.2*(A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        0.2*(B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
        """,
        given="n m",
        **_A,
        **SQUARE,
    ),
    _stage(
        "heat-3d",
        STENCIL,
        """
        B[i,j,k] = A[i+1,j+1,k+1]
            + 0.125*(A[i+2,j+1,k+1]-2*A[i+1,j+1,k+1]+A[i,j+1,k+1])
            + 0.125*(A[i+1,j+2,k+1]-2*A[i+1,j+1,k+1]+A[i+1,j,k+1])
            + 0.125*(A[i+1,j+1,k+2]-2*A[i+1,j+1,k+1]+A[i+1,j+1,k])
            where i in 0:n-2, j in 0:n-2, k in 0:n-2
        """,
        torch="""
        I = A[1:-1, 1:-1, 1:-1]
        X = 0.125*(A[2:, 1:-1, 1:-1] - 2*I + A[:-2, 1:-1, 1:-1])
        Y = 0.125*(A[1:-1, 2:, 1:-1] - 2*I + A[1:-1, :-2, 1:-1])
        I + X + Y + 0.125*(A[1:-1, 1:-1, 2:] - 2*I + A[1:-1, 1:-1, :-2])
        """,
        jax="""
        I = A[1:-1, 1:-1, 1:-1]
        X = 0.125*(A[2:, 1:-1, 1:-1] - 2*I + A[:-2, 1:-1, 1:-1])
        Y = 0.125*(A[1:-1, 2:, 1:-1] - 2*I + A[1:-1, :-2, 1:-1])
        I + X + Y + 0.125*(A[1:-1, 1:-1, 2:] - 2*I + A[1:-1, 1:-1, :-2])
        """,
        given="n",
        A=real("n", "n", "n"),
        **CUBE,
    ),
    _stage(
        "fdtd-2d, electric fields",
        STENCIL,
        """
        P[i,j] = ey[i,j] - 0.5*(hz[i,j] - hz[i-1,j])*(i > 0)
        Q[i,j] = ex[i,j] - 0.5*(hz[i,j] - hz[i,j-1])*(j > 0)
        """,
        torch="""
        D, E = F.pad(hz.diff(dim=0), (0, 0, 1, 0)), F.pad(hz.diff(dim=1), (1, 0))
        ey - 0.5*D, ex - 0.5*E
        """,
        jax="""
        D, E = jnp.diff(hz, axis=0), jnp.diff(hz, axis=1)
        ey - 0.5*jnp.pad(D, ((1, 0), (0, 0))), ex - 0.5*jnp.pad(E, ((0, 0), (1, 0)))
        """,
        ey=real("n", "m"),
        hz=real("n", "m"),
        ex=real("n", "m"),
        **SQUARE,
    ),
    _stage(
        "floyd-warshall, one step of k",
        BROADCAST,
        "P[i,j] = min(D[i,j], D[i,0] + D[0,j])",
        torch="torch.minimum(D, D[:, :1] + D[:1])",
        jax="jnp.minimum(D, D[:, :1] + D[:1])",
        D=positive("n", "m"),
        **SQUARE,
    ),
    _stage(
        "gemver, the matrix",
        BROADCAST,
        "B[i,j] = A[i,j] + u[i]*v[j] + p[i]*q[j]",
        torch="A + torch.outer(u, v) + torch.outer(p, q)",
        jax="A + jnp.outer(u, v) + jnp.outer(p, q)",
        u=real("n"),
        v=real("m"),
        p=real("n"),
        q=real("m"),
        **_A,
        **SQUARE,
    ),
    _stage(
        "bicg",
        SEVERAL,
        "s[j] = r[i]*A[i,j]; q[i] = A[i,j]*p[j]",
        torch="r @ A, A @ p",
        jax="r @ A, A @ p",
        r=real("n"),
        p=real("m"),
        **_A,
        **SQUARE,
    ),
    _stage(
        "gesummv",
        SEVERAL,
        "y[i] = 1.5*A[i,j]*x[j] + 1.2*B[i,j]*x[j]",
        torch="1.5*(A @ x) + 1.2*(B @ x)",
        jax="1.5*(A @ x) + 1.2*(B @ x)",
        B=real("n", "m"),
        x=real("m"),
        **_A,
        **SQUARE,
    ),
    _stage(
        "covariance, the centred data",
        NORMALISED,
        "m[j] = mean[i](X[i,j]); Z[i,j] = X[i,j] - m[j]",
        torch="X - X.mean(0)",
        jax="X - X.mean(0)",
        X=real("n", "m"),
        **SQUARE,
    ),
    _stage(
        "correlation, the standardised data",
        NORMALISED,
        """
        m[j] = mean[i](X[i,j])
        s[j] = std[i](X[i,j])
        t[j] = where(s[j] <= 0.1, 1, s[j])
        Z[i,j] = (X[i,j] - m[j])/(sqrt(n)*t[j])
        """,
        torch="""
        s = X.std(0, correction=0)
        (X - X.mean(0))/(n**0.5*torch.where(s <= 0.1, 1, s))
        """,
        jax="""
        s = X.std(0)
        (X - X.mean(0))/(n**0.5*jnp.where(s <= 0.1, 1, s))
        """,
        given="n",
        X=real("n", "m"),
        **SQUARE,
    ),
    _stage(
        "gramschmidt, products with one column",
        COLUMNS,
        "r[j] = q[i]*A[i,j]",
        torch="q @ A",
        jax="q @ A",
        q=real("n"),
        **_A,
        **SQUARE,
    ),
)
