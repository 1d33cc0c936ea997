"""Contractions of opt_einsum's documentation (https://optimized-einsum.readthedocs.io: getting
started, backends, path finding) and of numpy.einsum's and torch.einsum's, which it follows."""

from __future__ import annotations

from typing import Any

import torch

from einderive.frontend.formulas.entry import Formula, Plain, Shapes, formula

DOCS = "opt_einsum documentation, "


def _einsum(equation: str) -> Plain:
    def run(*operands: torch.Tensor) -> Any:
        return torch.einsum(equation, *operands)

    return run


def _transform(n: int) -> Shapes:
    return {"C": (n, n), "I": (n, n, n, n)}


OPT_EINSUM: tuple[Formula, ...] = (
    formula(
        "pi,qj,ijkl,rk,sl->pqrs",
        DOCS + "getting started: index transformation",
        "Y[p,q,r,s] = C[p,i]*C[q,j]*I[i,j,k,l]*C[r,k]*C[s,l]",
        _transform,
        lambda c, i: torch.einsum("pi,qj,ijkl,rk,sl->pqrs", c, c, i, c, c),
        largest=32,
    ),
    formula(
        "ui,vj,tk,ijk->uvt",
        DOCS + "path finding: a tensor in factors",
        "Y[u,v,t] = C[u,i]*D[v,j]*E[t,k]*X[i,j,k]",
        lambda n: {"C": (n, n), "D": (n, n), "E": (n, n), "X": (n, n, n)},
        _einsum("ui,vj,tk,ijk->uvt"),
        largest=128,
    ),
    formula(
        "ab,bc,cd->ad",
        DOCS + "path finding: a chain of matrices",
        "Y[a,d] = A[a,b]*B[b,c]*C[c,d]",
        lambda n: {"A": (n, 8), "B": (8, n), "C": (n, 8)},
        _einsum("ab,bc,cd->ad"),
        lambda a, b, c: torch.linalg.multi_dot((a, b, c)),
    ),
    formula(
        "ab,bc,c->a",
        DOCS + "path finding: matrices and a vector",
        "Y[a] = A[a,b]*B[b,c]*C[c]",
        lambda n: {"A": (n, n), "B": (n, n), "C": (n,)},
        _einsum("ab,bc,c->a"),
        lambda a, b, c: a @ (b @ c),
    ),
    formula(
        "ijk,ilm,njm,nlk,abc->",
        DOCS + "reusing paths: a scalar of five tensors",
        "Y = A[i,j,k]*B[i,l,m]*C[n,j,m]*D[n,l,k]*E[a,b,c]",
        lambda n: dict.fromkeys("ABCDE", (n, n, n)),
        _einsum("ijk,ilm,njm,nlk,abc->"),
        largest=32,
    ),
    formula(
        "bdik,acaj,ikab,ajac,ikbd->",
        DOCS + "introduction: a long expression",
        "Y = A[b,d,i,k]*B[a,c,a,j]*C[i,k,a,b]*D[a,j,a,c]*E[i,k,b,d]",
        lambda n: dict.fromkeys("ABCDE", (n, n, n, n)),
        _einsum("bdik,acaj,ikab,ajac,ikbd->"),
        largest=32,
    ),
    formula(
        "ea,fb,abcd,gc,hd->efgh, few",
        DOCS + "getting started: dimensions of different sizes",
        "Y[e,f,g,h] = A[e,a]*B[f,b]*T[a,b,c,d]*C[g,c]*D[h,d]",
        lambda n: {"A": (4, n), "B": (4, n), "T": (n, n, 8, 8), "C": (4, 8), "D": (4, 8)},
        _einsum("ea,fb,abcd,gc,hd->efgh"),
        largest=512,
    ),
    formula(
        "ij,ij->",
        "numpy.einsum documentation, an inner product of matrices",
        "Y = A[i,j]*B[i,j]",
        lambda n: {"A": (n, n), "B": (n, n)},
        lambda a, b: (a * b).sum(),
        _einsum("ij,ij->"),
        lambda a, b: torch.vdot(a.ravel(), b.ravel()),
    ),
    formula(
        "ii->i",
        "numpy.einsum documentation, the diagonal",
        "Y[i] = A[i,i]",
        lambda n: {"A": (n, n)},
        lambda a: a.diagonal().contiguous(),
    ),
    formula(
        "ijk,jil->kl",
        "numpy.einsum documentation, a contraction of two axes",
        "Y[k,l] = A[i,j,k]*B[j,i,l]",
        lambda n: {"A": (n, 16, n), "B": (16, n, n)},
        _einsum("ijk,jil->kl"),
        lambda a, b: torch.tensordot(a, b, ([0, 1], [1, 0])),
        largest=512,
    ),
    formula(
        "bn,anm,bm->ba",
        "torch.einsum documentation, a bilinear form",
        "Y[b,a] = L[b,n]*A[a,n,m]*R[b,m]",
        lambda n: {"L": (n, 32), "A": (16, 32, 32), "R": (n, 32)},
        _einsum("bn,anm,bm->ba"),
        lambda x, a, y: torch.nn.functional.bilinear(x, y, a),
    ),
    formula(
        "ijk,jr,kr->ir",
        DOCS + "path finding: a matricised tensor times a Khatri-Rao product",
        "Y[i,r] = X[i,j,k]*B[j,r]*C[k,r]",
        lambda n: {"X": (n, n, n), "B": (n, 16), "C": (n, 16)},
        _einsum("ijk,jr,kr->ir"),
        largest=128,
    ),
)
