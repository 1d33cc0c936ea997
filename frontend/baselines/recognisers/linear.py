"""A matrix product plus a tensor, in one call.

Y[b,o] = X[b,i]*W[o,i] + B[o]                   F.linear(X, W, B)
Y[i,j] = c*A[i,k]*B[k,j] + s*C[i,j]             torch.addmm(C, A, B, beta=s, alpha=c)
Y[i,j] = A[i,k]*B[k,l]*D[l,j] + C[i,j]          torch.addmm(C, A @ B, D)
"""

from __future__ import annotations

from einderive.frontend.baselines.recognisers.products import down_to_two, factors_of
from einderive.frontend.baselines.writing.terms import over, plus
from einderive.frontend.baselines.writing.views import permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.ir.node import Number, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    found = plus(scope)
    if found is None:
        return None
    parts = factors_of(found.inner)
    rank = len(scope.loops)
    if parts is None or rank == 0:
        return None
    coefficient = found.coefficient * parts[0]
    two = down_to_two(found.inner, parts[1], writer)
    x, w = sorted(two, key=lambda part: rank - 1 in part.dims)
    left, right = set(x.dims), set(w.dims)
    shared = left & right
    if len(shared) != 1 or left | right != {*range(rank), *shared} or min(shared) < rank:
        return None
    (k,) = shared
    bias = over(found.rest, (rank - 1,), scope.loops)
    same = over(found.rest, tuple(range(rank)), scope.loops)
    if (rank == 1 and not same) or not (bias or same):
        return None
    c = view(found.rest, scope.loops, writer).text
    if bias and right == {rank - 1, k} and coefficient == found.scale == 1 and rank > 1:
        rows = permuted(x, (*range(rank - 1), k))
        return Written(f"F.linear({rows}, {permuted(w, (rank - 1, k))}, {c})", "linear")
    scales = _scales(found.scale, coefficient)
    if rank == 1:
        matrix, vector = (w, x) if len(w.dims) == 2 else (x, w)
        return Written(
            f"torch.addmv({c}, {permuted(matrix, (0, k))}, {vector.text}{scales})", "addmv"
        )
    if rank == 2 and right == {1, k}:
        text = f"torch.addmm({c}, {permuted(x, (0, k))}, {permuted(w, (k, 1))}{scales})"
        return Written(text, "addmm")
    return None


def _scales(beta: Number, alpha: Number) -> str:
    given = [(name, value) for name, value in (("beta", beta), ("alpha", alpha)) if value != 1]
    return "".join(f", {name}={rounded(value)!r}" for name, value in given)


LINEAR = Recogniser(recognise)
