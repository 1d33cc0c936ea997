"""Functions of the Python array API standard, 2023.12 (https://data-apis.org/array-api/2023.12/)."""

from __future__ import annotations

from functools import partial

import torch

from einderive.frontend.formulas.entry import Formula, Plain, Shapes, named

API = "array API standard 2023.12, "
_named = partial(named, API)


def _square(n: int) -> Shapes:
    return {"A": (n, n)}


def _pair(n: int) -> Shapes:
    return {"A": (n, n), "B": (n, n)}


def _entry(name: str, text: str, *plain: Plain, pair: bool = False) -> Formula:
    return _named(name, text, _pair if pair else _square, *plain)


ARRAY_API: tuple[Formula, ...] = (
    _entry("matmul", "Y[i,j] = A[i,k]*B[k,j]", lambda a, b: a @ b, pair=True),
    _named(
        "matmul, batched",
        "Y[b,i,j] = A[b,i,k]*B[b,k,j]",
        lambda n: {"A": (8, n, n), "B": (8, n, n)},
        lambda a, b: a @ b,
        largest=512,
    ),
    _named(
        "matmul, matrix times vector",
        "Y[i] = A[i,k]*B[k]",
        lambda n: {"A": (n, n), "B": (n,)},
        lambda a, b: a @ b,
        torch.mv,
    ),
    _named(
        "tensordot, two axes",
        "Y[i,l] = A[i,j,k]*B[j,k,l]",
        lambda n: {"A": (n, n, 16), "B": (n, 16, n)},
        lambda a, b: torch.tensordot(a, b, 2),
        largest=512,
    ),
    _entry(
        "vecdot",
        "Y[i] = A[i,k]*B[i,k]",
        lambda a, b: torch.linalg.vecdot(a, b),
        lambda a, b: (a * b).sum(-1),
        pair=True,
    ),
    _entry("matrix_transpose", "Y[i,j] = A[j,i]", lambda a: a.mT.contiguous()),
    _entry("sum", "Y[i] = A[i,k]", lambda a: a.sum(1)),
    _named("sum, over the first axis", "Y[j] = A[i,j]", _square, lambda a: a.sum(0)),
    _named("mean", lambda n: f"Y[i] = A[i,k]/{n}", _square, lambda a: a.mean(1)),
    _named(
        "var",
        lambda n: f"M[i] = A[i,k]/{n}; Y[i] = (A[i,k]-M[i])^2/{n}",
        _square,
        lambda a: a.var(1, correction=0),
    ),
    _entry("max", "Y[i] = max[k](A[i,k])", lambda a: a.amax(1)),
    _entry("prod", "Y[i] = prod[k](A[i,k])", lambda a: a.prod(1)),
    _named(
        "linalg.outer",
        "Y[i,j] = A[i]*B[j]",
        lambda n: {"A": (n,), "B": (n,)},
        torch.outer,
        lambda a, b: a[:, None] * b,
    ),
    _entry(
        "linalg.vector_norm",
        "Y[i] = sqrt(sum[k](A[i,k]^2))",
        lambda a: torch.linalg.vector_norm(a, dim=1),
    ),
    _entry("linalg.trace", "Y = A[i,i]", torch.trace),
    _entry("hypot", "Y[i,j] = sqrt(A[i,j]^2+B[i,j]^2)", torch.hypot, pair=True),
    _entry("logaddexp", "Y[i,j] = log(exp(A[i,j])+exp(B[i,j]))", torch.logaddexp, pair=True),
    _entry("clip", "Y[i,j] = minimum(maximum(A[i,j], -1), 1)", lambda a: a.clamp(-1, 1)),
    _named(
        "add, with broadcasting",
        "Y[i,j] = A[i,j]+B[j]",
        lambda n: {"A": (n, n), "B": (n,)},
        lambda a, b: a + b,
    ),
    _entry("multiply", "Y[i,j] = A[i,j]*B[i,j]", lambda a, b: a * b, pair=True),
    _named(
        "concat",
        lambda n: f"Y[i,j] = where(i < {n}, A[i,j], B[i-{n},j]) where i in 0:{2 * n}",
        _pair,
        lambda a, b: torch.cat((a, b)),
    ),
    _named(
        "flip", lambda n: f"Y[i,j] = A[i,{n - 1}-j] where j in 0:{n}", _square, lambda a: a.flip(1)
    ),
    _named(
        "roll",
        lambda n: f"Y[i,j] = A[(i+{n - 1})%{n},j] where i in 0:{n}",
        _square,
        lambda a: a.roll(1, 0),
    ),
    _entry("tril", "Y[i,j] = where(j <= i, A[i,j], 0)", lambda a: a.tril()),
    _named(
        "diff",
        lambda n: f"Y[i,j] = A[i,j+1]-A[i,j] where j in 0:{n - 1}",
        _square,
        lambda a: a.diff(),
        lambda a: a[:, 1:] - a[:, :-1],
    ),
    _named(
        "repeat",
        lambda n: f"Y[i,j] = A[i//2,j] where i in 0:{2 * n}",
        _square,
        lambda a: a.repeat_interleave(2, 0),
    ),
)
