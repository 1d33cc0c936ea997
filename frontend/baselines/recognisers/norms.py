"""Euclidean norms, what is divided by them, and cosines.

sqrt(S[k] X[i,k]^2)                         torch.linalg.vector_norm(X, dim=1)
sqrt(S[k] (X[i,k] - Z[i,k] + eps)^2)        F.pairwise_distance(X, Z, eps=eps)
X / maximum(norm of X, eps)                 F.normalize(X, dim=1, eps=eps)
S[k] x*y * rsqrt(S x^2) * rsqrt(S y^2)      F.cosine_similarity(x, y, dim=1)

For complex numbers, torch takes the squared magnitude, and the formula the square.
"""

from __future__ import annotations

from fractions import Fraction

from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.terms import as_it_is, reductions, under_root
from einderive.frontend.baselines.writing.views import View, axis_words, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.expr import power, split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Number, Power, Scope


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
    if not isinstance(difference, Add) or len(inner.sums) != 1:
        return None
    small = [term.value for term in difference.terms if isinstance(term, Const)]
    parts = [split_coefficient(t) for t in difference.terms if not isinstance(t, Const)]
    if len(parts) != 2 or {c for c, _ in parts} != {1, -1}:
        return None
    reads = {c: part for c, part in parts if isinstance(part, Access) and _whole(part, inner)}
    if len(reads) != 2:
        return None
    eps: Number = small[0] if small else Fraction(0)
    sign, eps = (-1, -eps) if eps < 0 else (1, eps)  # (X - Z - eps)^2 = (Z - X + eps)^2
    order = range(len(inner.domain))
    x, z = (permuted(view(reads[c], inner.domain, writer), order) for c in (sign, -sign))
    text = f"F.pairwise_distance({x}, {z}, eps={rounded(eps)!r})"
    return Written(text, "pairwise_distance")


def _whole(read: Node, inner: Scope) -> bool:
    return read.free == (1 << len(inner.domain)) - 1


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
    body = scope.body
    if not isinstance(body, Mul) or len(body.factors) != 2:
        return None
    for values, below in (body.factors, body.factors[::-1]):
        if not isinstance(below, Power) or below.exponent != -1:
            continue
        bound = below.base
        if not isinstance(bound, Apply) or bound.function != "maximum":
            continue
        least = next((a for a in bound.args if isinstance(a, Const)), None)
        root = next((a for a in bound.args if isinstance(a, Apply)), None)
        if least is None or root is None or root.function != "sqrt":
            continue
        for factor, inside, dims, reducer in reductions(root.args[0], scope):
            if factor == 1 and reducer == "sum" and inside is power(values, 2) and len(dims) == 1:
                text = Scalars(scope.loops, range(len(scope.loops)), writer).text(values)
                eps = repr(rounded(least.value))
                return Written(f"F.normalize({text}, dim={dims[0]}, eps={eps})", "normalize")
    return None


def _cosine(scope: Scope, writer: Writer) -> Written | None:
    body = scope.body
    if not isinstance(body, Mul) or len(body.factors) != 3:
        return None
    products = [f for f in body.factors if isinstance(f, Access)]
    squares = [
        _squares(inside, scope) for f in body.factors if (inside := under_root(f)) is not None
    ]
    if len(products) != 1 or len(squares) != 2 or None in squares:
        return None
    product = products[0]
    (one, inner), (other, same) = (square for square in squares if square is not None)
    if not isinstance(one, Access) or not isinstance(other, Access):
        return None
    source = product.source
    if not isinstance(source, Scope) or not as_it_is(product, scope) or len(inner.sums) != 1:
        return None
    if source.domain != inner.domain or same.domain != inner.domain or source.reducer != "sum":
        return None
    if not isinstance(source.body, Mul) or set(source.body.factors) != {one, other}:
        return None
    order = range(len(inner.domain))
    x, y = (permuted(view(part, inner.domain, writer), order) for part in (one, other))
    return Written(f"F.cosine_similarity({x}, {y}, dim={len(inner.loops)})", "cosine_similarity")


NORMS = Recogniser(recognise)
