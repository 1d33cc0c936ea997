"""Euclidean norms, what is divided by them, and cosines.

sqrt(S[k] X[i,k]^2)                         torch.linalg.vector_norm(X, dim=1)
sqrt(S[k] (X[i,k] - Z[i,k] + eps)^2)        F.pairwise_distance(X, Z, eps=eps)
X / maximum(norm of X, eps)                 F.normalize(X, dim=1, eps=eps)
S[k] x*y * rsqrt(S x^2) * rsqrt(S y^2)      F.cosine_similarity(x, y, dim=1)

For complex numbers, torch takes the squared magnitude, and the formula the square.
"""

from __future__ import annotations

from collections.abc import Iterable

from einderive.frontend.baselines.writing.constants import value_of
from einderive.frontend.baselines.writing.idioms import ways
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.terms import as_it_is, reductions
from einderive.frontend.baselines.writing.views import View, axis_words, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import expr
from einderive.ta.ir.expr import power
from einderive.ta.ir.node import Access, Apply, Mul, Node, Power, Scope

COSINES = ("P*rsqrt(S)*rsqrt(T)", "P/(sqrt(S)*sqrt(T))", "P*rsqrt(S)/sqrt(T)")


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.sums or scope.empty or may_be_complex(scope):
        return None
    return _norm(scope, writer) or _normalised(scope, writer) or _cosine(scope, writer)


def _norm(scope: Scope, writer: Writer) -> Written | None:
    body = scope.body
    if not isinstance(body, Apply) or body.function != "sqrt":
        return None
    squares = _squares(body.args[0], scope)
    if squares is None:
        return None
    values, inner = squares
    if not isinstance(values, Access):
        return _distance(values, inner, writer)
    found = view(values, inner.domain, writer)
    axes = [d for d, i in enumerate(found.dims) if i >= len(inner.loops)]
    text = f"torch.linalg.vector_norm({found.text}, dim={axis_words(axes)})"
    kept = tuple(i for i in found.dims if i < len(inner.loops))
    return Written(permuted(View(text, kept), range(len(kept))), "vector_norm")


def _distance(difference: Node, inner: Scope, writer: Writer) -> Written | None:
    """The distances of the rows of two tensors, to which torch adds a small number."""
    found = next(ways(difference, "X-Z+c", "X-Z"), None)
    if found is None or len(inner.sums) != 1:
        return None
    reads = [found[name] for name in "XZ"]
    eps = value_of(found.get("c", expr.const(0)))
    eps, reads = (-eps, reads[::-1]) if eps < 0 else (eps, reads)  # (X-Z-eps)^2 = (Z-X+eps)^2
    texts = _rows(reads, inner, writer)
    if texts is None:
        return None
    x, z = texts
    text = f"F.pairwise_distance({x}, {z}, eps={rounded(eps)!r})"
    return Written(text, "pairwise_distance")


def _whole(read: Node, inner: Scope) -> bool:
    return read.free == (1 << len(inner.domain)) - 1


def _rows(reads: Iterable[Node], inner: Scope, writer: Writer) -> list[str] | None:
    """Reads of whole tensors, with their dimensions in the order of the scope's iterators."""
    whole = [read for read in reads if isinstance(read, Access) and _whole(read, inner)]
    order = range(len(inner.domain))
    texts = [permuted(view(read, inner.domain, writer), order) for read in whole]
    return texts if len(whole) == 2 else None


def _squares(read: Node, scope: Scope) -> tuple[Node, Scope] | None:
    """X and the nested scope, where the read is of the sum of its squares, over the same loops."""
    if not isinstance(read, Access) or not isinstance(read.source, Scope):
        return None
    inner = read.source
    body = inner.body
    if not inner.sums or inner.reducer != "sum" or not as_it_is(read, scope):
        return None
    if not isinstance(body, Power) or body.exponent != 2:
        return None
    return (body.base, inner) if _whole(body.base, inner) else None


def _normalised(scope: Scope, writer: Writer) -> Written | None:
    for found in ways(scope.body, "x/maximum(sqrt(S), c)"):
        values, eps = found["x"], repr(rounded(value_of(found["c"])))
        for factor, inside, dims, reducer in reductions(found["S"], scope):
            if factor == 1 and reducer == "sum" and inside is power(values, 2) and len(dims) == 1:
                text = Scalars(scope.loops, range(len(scope.loops)), writer).text(values)
                return Written(f"F.normalize({text}, dim={dims[0]}, eps={eps})", "normalize")
    return None


def _cosine(scope: Scope, writer: Writer) -> Written | None:
    found = next(ways(scope.body, *COSINES), None)
    squares = [_squares(found[name], scope) for name in "ST"] if found is not None else []
    product = found["P"] if found is not None else None
    if None in squares or not isinstance(product, Access):
        return None
    (one, inner), (other, same) = (square for square in squares if square is not None)
    source = product.source
    if not isinstance(source, Scope) or not as_it_is(product, scope) or len(inner.sums) != 1:
        return None
    if source.domain != inner.domain or same.domain != inner.domain or source.reducer != "sum":
        return None
    if not isinstance(source.body, Mul) or set(source.body.factors) != {one, other}:
        return None
    texts = _rows((one, other), inner, writer)
    if texts is None:
        return None
    text = f"F.cosine_similarity({', '.join(texts)}, dim={len(inner.loops)})"
    return Written(text, "cosine_similarity")


NORMS = Recogniser(recognise)
