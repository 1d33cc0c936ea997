"""Distances between the rows of two matrices.

sqrt(S[k] (A[i,k]-B[j,k])^2)    torch.cdist(A, B)         as it is installed: for large ones
S[k] abs(A[i,k]-B[j,k])         torch.cdist(A, B, p=1)    through a matrix product
"""

from __future__ import annotations

from einderive.frontend.baselines.writing.broadcast import scaled
from einderive.frontend.baselines.writing.terms import as_it_is, difference_of_reads
from einderive.frontend.baselines.writing.views import View, arranged, permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir.affine import bits
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Apply, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.empty or may_be_complex(scope):  # torch.cdist takes real numbers
        return None
    if scope.sums:
        return _distance(scope, writer, "** 2")
    body = scope.body
    if isinstance(body, Apply) and body.function == "sqrt" and isinstance(body.args[0], Access):
        inner = body.args[0]
        if isinstance(inner.source, Scope) and inner.source.sums and as_it_is(inner, scope):
            return _distance(inner.source, writer, "")
    return None


def _distance(scope: Scope, writer: Writer, square: str) -> Written | None:
    if scope.reducer != "sum" or len(scope.sums) != 1:
        return None
    coefficient, core = split_coefficient(scope.body)
    found = difference_of_reads(core)
    if found is None:
        return None
    (a, b), absolute = found
    if not square and (absolute or coefficient != 1):
        return None
    option, square = (", p=1", "") if absolute else ("", square)
    k, loops = len(scope.loops), len(scope.loops)
    batch = bits(a.free & b.free & ~(1 << k))
    m, n = (bits(part.free & ~other.free) for part, other in ((a, b), (b, a)))
    if len(m) != 1 or len(n) != 1 or not a.free & b.free & 1 << k or len(batch) > 1:
        return None
    if m[0] > n[0]:
        a, b, m, n = b, a, n, m
    if sorted((*batch, *m, *n)) != list(range(loops)):
        return None
    lead = [(i,) for i in batch]
    x = arranged(view(a, scope.domain, writer), [*lead, m, (k,)])
    y = arranged(view(b, scope.domain, writer), [*lead, n, (k,)])
    text = permuted(View(f"torch.cdist({x}, {y}{option})", (*batch, *m, *n)), range(loops))
    if square:
        text = f"{text} {square}"
    word = "cdist, squared" if square else "cdist"
    return Written(scaled(f"({text})" if square else text, coefficient), word)


DISTANCES = Recogniser(recognise)
