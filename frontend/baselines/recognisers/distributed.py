"""Products with a sum of tensors under a sum, term by term.

Y[j] = (A[i,j] + U[i]*V[j])*X[i]        A.T @ X + V * torch.dot(U, X)
"""

from __future__ import annotations

from einderive.frontend.baselines.recognisers.products import factors_of, summed_by_pairs
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Mul, Scope

MOST_TERMS = 4


def recognise(scope: Scope, writer: Writer) -> Written | None:
    """A stage with one factor that is a sum, of which a term holds fewer iterators than the
    whole."""
    found = factors_of(scope)
    if found is None:
        return None
    coefficient, factors = found
    sums = [f for f in factors if isinstance(f, Add)]
    if len(sums) != 1 or len(sums[0].terms) > MOST_TERMS:
        return None
    rest = [f for f in factors if f is not sums[0]]
    if not all(isinstance(f, Access) for f in rest) or not _has_smaller_part(sums[0]):
        return None
    texts = []
    for term in sums[0].terms:
        product = make_scope(
            scope.loops, scope.sums, expr.mul(expr.const(coefficient), term, *rest)
        )
        text = summed_by_pairs(product, writer)
        if text is None:
            return None
        texts.append(text)
    return Written(" + ".join(texts), "products term by term", work=0.0)


def _has_smaller_part(total: Add) -> bool:
    """Whether a factor of one of the terms holds fewer iterators than the sum."""
    for term in total.terms:
        _, core = expr.split_coefficient(term)
        parts = core.factors if isinstance(core, Mul) else (core,)
        if any(part.free != total.free for part in parts):
            return True
    return False


DISTRIBUTED = Recogniser(recognise)
