"""Batch normalisation with given statistics.

    (X[b,c,h] - M[c]) * rsqrt(V[c] + eps) * G[c] + B[c]     F.batch_norm(X, M, V, G, B, eps=eps)

V is any expression of c alone; G and B may be missing.
"""

from __future__ import annotations

from fractions import Fraction

from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.views import View, arranged, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.exact.fields import rounded
from einderive.ta.ir import expr
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.sums or scope.empty or len(scope.loops) < 2:
        return None
    body, bias = scope.body, None
    if isinstance(body, Add) and len(body.terms) == 2:
        bias = next((t for t in body.terms if isinstance(t, Access)), None)
        body = next((t for t in body.terms if t is not bias), body)
    if not isinstance(body, Mul):
        return None
    root = next((f for f in body.factors if isinstance(f, Apply) and f.function == "rsqrt"), None)
    centred = next((f for f in body.factors if isinstance(f, Add)), None)
    gain = [f for f in body.factors if f is not root and f is not centred]
    if root is None or centred is None or len(gain) > 1 or len(centred.terms) != 2:
        return None
    values = next((t for t in centred.terms if isinstance(t, Access)), None)
    coefficient, mean = split_coefficient(next(t for t in centred.terms if t is not values))
    if values is None or coefficient != -1 or root.free.bit_count() != 1:
        return None
    channel = root.free
    given = [mean, *gain, *([bias] if bias is not None else [])]
    if any(part.free != channel or not isinstance(part, Access) for part in given):
        return None
    if values.free != (1 << len(scope.loops)) - 1:
        return None
    c = channel.bit_length() - 1
    variance, eps = _variance(root.args[0])
    if eps <= 0 or variance.free != channel:
        return None

    def part(node: Node) -> str:
        return Scalars(scope.loops, (c,), writer).text(node)

    rest = [i for i in range(len(scope.loops)) if i != c]
    order = (rest[0], c, *rest[1:])
    x = arranged(view(values, scope.loops, writer), [(i,) for i in order])
    texts = [x, part(mean), part(variance), part(gain[0]) if gain else "None"]
    texts.append("None" if bias is None else part(bias))
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
