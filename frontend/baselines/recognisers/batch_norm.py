"""Batch normalisation with given statistics.

    (X[b,c,h] - M[c]) * rsqrt(V[c] + eps) * G[c] + B[c]     F.batch_norm(X, M, V, G, B, eps=eps)

V is any expression of c alone; G and B may be missing.
"""

from __future__ import annotations

from fractions import Fraction

from einderive.frontend.baselines.writing.idioms import ways
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.views import View, arranged, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.ir import expr
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Access, Add, Const, Node, Scope

FORMS = tuple(f"(X-M)*rsqrt(v){gain}{bias}" for gain in ("*G", "") for bias in ("+B", ""))


def recognise(scope: Scope, writer: Writer) -> Written | None:
    rank = len(scope.loops)
    found = next(ways(scope.body, *FORMS), None)
    if found is None or scope.sums or scope.empty or rank < 2:
        return None
    values, mean, (variance, eps) = found["X"], found["M"], _variance(found["v"])
    given = [found.get(name) for name in "GB"]
    small = [part for part in (mean, variance, *given) if part is not None]
    if eps <= 0 or variance.free.bit_count() != 1 or values.free != (1 << rank) - 1:
        return None
    if any(part.free != variance.free for part in small) or not isinstance(values, Access):
        return None
    (c,) = bits(variance.free)

    def part(node: Node | None) -> str:
        return "None" if node is None else Scalars(scope.loops, (c,), writer).text(node)

    rest = [i for i in range(rank) if i != c]
    order = (rest[0], c, *rest[1:])
    x = arranged(view(values, scope.loops, writer), [(i,) for i in order])
    texts = [x, *map(part, (mean, variance, *given))]
    text = f"F.batch_norm({', '.join(texts)}, eps={rounded(eps)!r})"
    return Written(permuted(View(text, order), range(len(order))), "batch_norm")


def _variance(node: Node) -> tuple[Node, Fraction]:
    """`v` and `eps` of v + eps."""
    if isinstance(node, Add):
        constant = next((t for t in node.terms if isinstance(t, Const)), None)
        if constant is not None and isinstance(constant.value, Fraction):
            return expr.subtract(node, constant), constant.value
    return node, Fraction(0)


BATCH_NORM = Recogniser(recognise)
