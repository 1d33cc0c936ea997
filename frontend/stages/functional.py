"""Functions of torch.nn.functional
(https://docs.pytorch.org/docs/stable/nn.functional.html), and chains of them as networks have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from einderive.frontend.formulas.written import positive, real, unit
from einderive.frontend.stages.entry import (
    BROADCAST,
    CHOICE,
    COLUMNS,
    ELEMENTWISE,
    NORMALISED,
    ODD,
    ROWS,
    SEVERAL,
    SQUARE,
    TALL,
    WHOLE,
    WIDE,
    in_type,
    stage,
)

_stage = partial(stage, source="torch.nn.functional")
_X: Mapping[str, Any] = {"X": real("n", "m")}
_XY: Mapping[str, Any] = {"X": real("n", "m"), "Z": real("n", "m")}

_GELU = _stage(
    "gelu, tanh",
    ELEMENTWISE,
    "Y[i,j] = gelu_tanh(X[i,j])",
    torch="F.gelu(X, approximate='tanh')",
    jax="nn.gelu(X, approximate=True)",
    bound=False,
    **_X,
    **SQUARE,
)
_SWIGLU = _stage(
    "silu times gate",
    ELEMENTWISE,
    "Y[i,j] = silu(X[i,j])*Z[i,j]",
    torch="F.silu(X)*Z",
    jax="nn.silu(X)*Z",
    **_XY,
    **ODD,
)
_SOFTMAX = _stage(
    "softmax",
    NORMALISED,
    "Y[i,j] = softmax[j](X[i,j])",
    torch="F.softmax(X, -1)",
    jax="nn.softmax(X, -1)",
    **_X,
    **SQUARE,
)
_LAYER_NORM = _stage(
    "layer_norm",
    NORMALISED,
    """
    M[i] = mean[k](X[i,k])
    V[i] = mean[k]((X[i,k]-M[i])^2)
    Y[i,k] = (X[i,k]-M[i])*rsqrt(V[i]+1e-5)*G[k] + B[k]
    """,
    torch="F.layer_norm(X, G.shape, G, B)",
    jax="""
    M = X.mean(-1, keepdims=True)
    V = ((X - M)**2).mean(-1, keepdims=True)
    (X - M)*lax.rsqrt(V + 1e-5)*G + B
    """,
    X=real("n", "m"),
    G=real("m"),
    B=real("m"),
    **SQUARE,
)
_RMS_NORM = _stage(
    "rms_norm",
    NORMALISED,
    "Y[i,k] = X[i,k]*rsqrt(mean[l](X[i,l]^2) + 1e-6)*G[k]",
    torch="F.rms_norm(X, G.shape, G, 1e-6)",
    jax="X*lax.rsqrt((X*X).mean(-1, keepdims=True) + 1e-6)*G",
    X=real("n", "m"),
    G=real("m"),
    **ODD,
)

FUNCTIONAL = (
    _GELU,
    _SWIGLU,
    _stage(
        "softplus",
        ELEMENTWISE,
        "Y[i,j] = softplus(X[i,j])",
        torch="F.softplus(X)",
        jax="nn.softplus(X)",
        bound=False,
        **_X,
        **SQUARE,
    ),
    _stage(
        "mish",
        ELEMENTWISE,
        "Y[i,j] = mish(X[i,j])",
        torch="F.mish(X)",
        jax="nn.mish(X)",
        bound=False,
        **_X,
        **ODD,
    ),
    _stage(
        "hardswish, of a sum",
        ELEMENTWISE,
        "Y[i,j] = hardswish(X[i,j] + Z[i,j])",
        torch="F.hardswish(X + Z)",
        jax="nn.hard_swish(X + Z)",
        **_XY,
        **SQUARE,
    ),
    _stage(
        "elu",
        CHOICE,
        "Y[i,j] = where(X[i,j] > 0, X[i,j], expm1(X[i,j]))",
        torch="F.elu(X)",
        jax="nn.elu(X)",
        bound=False,
        **_X,
        **SQUARE,
    ),
    _stage(
        "bias, gelu, residual",
        BROADCAST,
        "Y[i,j] = X[i,j] + gelu_tanh(Z[i,j] + B[j])",
        torch="X + F.gelu(Z + B, approximate='tanh')",
        jax="X + nn.gelu(Z + B, approximate=True)",
        bound=False,
        B=real("m"),
        **_XY,
        **ODD,
    ),
    _stage(
        "batch_norm, evaluation, then relu",
        BROADCAST,
        "Y[b,c,h] = relu((X[b,c,h]-M[c])*rsqrt(V[c]+1e-5)*G[c] + B[c])",
        torch="F.relu(F.batch_norm(X, M, V, G, B))",
        jax="""
        M, V, G, B = (T[:, None] for T in (M, V, G, B))
        nn.relu((X - M)*lax.rsqrt(V + 1e-5)*G + B)
        """,
        X=real("b", "c", "h"),
        M=real("c"),
        V=positive("c"),
        G=real("c"),
        B=real("c"),
        b=(2, 4, 32),
        c=(8, 25, 125),
        h=(25, 400, 1000),
    ),
    _SOFTMAX,
    _stage(
        "softmax, short rows",
        NORMALISED,
        "Y[i,j] = softmax[j](X[i,j])",
        torch="F.softmax(X, -1)",
        jax="nn.softmax(X, -1)",
        **_X,
        **TALL,
    ),
    _stage(
        "softmax, long rows",
        NORMALISED,
        "Y[i,j] = softmax[j](X[i,j])",
        torch="F.softmax(X, -1)",
        jax="nn.softmax(X, -1)",
        **_X,
        **WIDE,
    ),
    _stage(
        "softmax, over columns",
        NORMALISED,
        "Y[i,j] = softmax[i](X[i,j])",
        torch="F.softmax(X, 0)",
        jax="nn.softmax(X, 0)",
        **_X,
        **SQUARE,
    ),
    _stage(
        "scaled, masked softmax",
        NORMALISED,
        """
        S[i,j] = where(j <= i, X[i,j]/8, -inf)
        Y[i,j] = softmax[j](S[i,j])
        """,
        torch="F.softmax((X/8).masked_fill(torch.ones_like(X).triu(1).bool(), -torch.inf), -1)",
        jax="nn.softmax(jnp.where(jnp.tri(*X.shape, dtype=bool), X/8, -jnp.inf), -1)",
        **_X,
        **SQUARE,
    ),
    _stage(
        "log_softmax",
        NORMALISED,
        "Y[i,j] = log_softmax[j](X[i,j])",
        torch="F.log_softmax(X, -1)",
        jax="nn.log_softmax(X, -1)",
        **_X,
        **ODD,
    ),
    _LAYER_NORM,
    _RMS_NORM,
    _stage(
        "group_norm",
        NORMALISED,
        """
        M[b,g] = mean[c,h](X[b,g,c,h])
        V[b,g] = mean[c,h]((X[b,g,c,h]-M[b,g])^2)
        Y[b,g,c,h] = (X[b,g,c,h]-M[b,g])*rsqrt(V[b,g]+1e-5)*G[g,c] + B[g,c]
        """,
        torch="""
        Z = F.group_norm(X.flatten(1, 2), X.shape[1], G.reshape(-1), B.reshape(-1))
        Z.reshape(X.shape)
        """,
        jax="""
        M = X.mean((2, 3), keepdims=True)
        V = ((X - M)**2).mean((2, 3), keepdims=True)
        (X - M)*lax.rsqrt(V + 1e-5)*G[:, :, None] + B[:, :, None]
        """,
        X=real("b", "g", "c", "h"),
        G=real("g", "c"),
        B=real("g", "c"),
        b=(2, 4, 16),
        g=(2, 4, 8),
        c=(4, 5, 32),
        h=(25, 500, 1000),
    ),
    _stage(
        "normalize",
        NORMALISED,
        "Y[i,k] = X[i,k]/max(sqrt(sum[l](X[i,l]^2)), 1e-12)",
        torch="F.normalize(X)",
        jax="X/jnp.maximum(jnp.sqrt((X*X).sum(-1, keepdims=True)), 1e-12)",
        **_X,
        **ODD,
    ),
    _stage(
        "cosine_similarity",
        SEVERAL,
        "Y[i] = sum[k](X[i,k]*Z[i,k])*rsqrt(sum[k](X[i,k]^2))*rsqrt(sum[k](Z[i,k]^2))",
        torch="F.cosine_similarity(X, Z)",
        jax="(X*Z).sum(-1)*lax.rsqrt((X*X).sum(-1))*lax.rsqrt((Z*Z).sum(-1))",
        **_XY,
        **SQUARE,
    ),
    _stage(
        "pairwise_distance",
        ROWS,
        "Y[i] = sqrt(sum[k]((X[i,k]-Z[i,k]+1e-6)^2))",
        torch="F.pairwise_distance(X, Z)",
        jax="jnp.sqrt(((X - Z + 1e-6)**2).sum(-1))",
        **_XY,
        **ODD,
    ),
    _stage(
        "cross_entropy, with probabilities",
        SEVERAL,
        "Y[i] = sum[k]((logsumexp[l](X[i,l])-X[i,k])*Z[i,k])",
        torch="F.cross_entropy(X, Z, reduction='none')",
        jax="-(nn.log_softmax(X, -1)*Z).sum(-1)",
        X=real("n", "m"),
        Z=unit("n", "m"),
        **SQUARE,
    ),
    _stage(
        "mse_loss",
        WHOLE,
        "Y = mean[i,j]((X[i,j]-Z[i,j])^2)",
        torch="F.mse_loss(X, Z)",
        jax="((X - Z)**2).mean()",
        **_XY,
        **SQUARE,
    ),
    _stage(
        "smooth_l1_loss",
        WHOLE,
        """
        D[i,j] = abs(X[i,j]-Z[i,j])
        Y = mean[i,j](where(D[i,j] < 1, 0.5*D[i,j]^2, D[i,j]-0.5))
        """,
        torch="F.smooth_l1_loss(X, Z)",
        jax="""
        D = jnp.abs(X - Z)
        jnp.where(D < 1, 0.5*D*D, D - 0.5).mean()
        """,
        **_XY,
        **ODD,
    ),
    _stage(
        "binary_cross_entropy_with_logits",
        WHOLE,
        "Y = mean[i,j](relu(X[i,j]) - X[i,j]*Z[i,j] + log1p(exp(-abs(X[i,j]))))",
        torch="F.binary_cross_entropy_with_logits(X, Z)",
        jax="(nn.relu(X) - X*Z + jnp.log1p(jnp.exp(-jnp.abs(X)))).mean()",
        bound=False,
        X=real("n", "m"),
        Z=unit("n", "m"),
        **SQUARE,
    ),
    _stage(
        "gaussian_nll_loss",
        COLUMNS,
        "Y[j] = mean[i](0.5*(log(V[i,j]) + (X[i,j]-Z[i,j])^2/V[i,j]))",
        torch="F.gaussian_nll_loss(X, Z, V, reduction='none').mean(0)",
        jax="(0.5*(jnp.log(V) + (X - Z)**2/V)).mean(0)",
        bound=False,
        V=positive("n", "m"),
        **_XY,
        **ODD,
    ),
    _stage(
        "instance_norm, three dimensions",
        NORMALISED,
        """
        M[c] = mean[h,w,d](X[c,h,w,d])
        V[c] = mean[h,w,d]((X[c,h,w,d]-M[c])^2)
        Y[c,h,w,d] = (X[c,h,w,d]-M[c])*rsqrt(V[c]+1e-5)
        """,
        torch="F.instance_norm(X[None])[0]",
        jax="""
        M = X.mean((1, 2, 3), keepdims=True)
        (X - M)*lax.rsqrt(((X - M)**2).mean((1, 2, 3), keepdims=True) + 1e-5)
        """,
        X=real(3, "n", "n", "n"),
        n=(5, 24, 110),
    ),
    in_type("bfloat16", _GELU),
    in_type("bfloat16", _SWIGLU),
    in_type("float16", _SOFTMAX),
    in_type("bfloat16", _LAYER_NORM),
    in_type("float16", _RMS_NORM),
)
