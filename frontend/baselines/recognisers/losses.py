"""Losses that torch has in one call, over whole tensors or row by row.

S (X - Z)^2                             F.mse_loss(X, Z, reduction="sum")       over n: their mean
S abs(X - Z)                            F.l1_loss(X, Z, reduction="sum")
S[k] (M + log(S exp(X - M)) - X) * Z    F.cross_entropy(X, Z, reduction="none")     Z probabilities
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from einderive.frontend.baselines.recognisers.softmax import log_softmax
from einderive.frontend.baselines.writing.broadcast import scaled
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.terms import difference_of_reads, extent
from einderive.frontend.baselines.writing.views import permuted, view
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Mul, Number, Scope


def recognise(scope: Scope, writer: Writer) -> Written | None:
    if scope.empty or not scope.sums or scope.reducer != "sum":
        return None
    return _difference(scope, writer) or _cross_entropy(scope, writer)


def _difference(scope: Scope, writer: Writer) -> Written | None:
    """Over all elements of two tensors."""
    coefficient, core = split_coefficient(scope.body)
    found = difference_of_reads(core)
    if scope.loops or found is None:
        return None
    (a, b), absolute = found
    word = "l1_loss" if absolute else "mse_loss"
    whole = (1 << len(scope.domain)) - 1
    if a.free != whole or b.free != whole:
        return None
    x = view(a, scope.domain, writer)
    y = permuted(view(b, scope.domain, writer), x.dims)
    return _written(word, f"{x.text}, {y}", scope, range(len(scope.domain)), coefficient)


def _written(
    word: str, operands: str, scope: Scope, dims: Sequence[int], coefficient: Number
) -> Written:
    """The mean over these iterators, or the sum."""
    count = extent(tuple(dims), scope.domain)
    mean = count > 1 and coefficient == Fraction(1, count)
    call = f"F.{word}({operands})" if mean else f"F.{word}({operands}, reduction='sum')"
    return Written(call if mean else scaled(call, coefficient), word)


def _cross_entropy(scope: Scope, writer: Writer) -> Written | None:
    """Rows (i, k) with their classes k; of one row, or of all together where both are summed."""
    coefficient, core = split_coefficient(scope.body)
    if len(scope.domain) != 2 or not isinstance(core, Mul) or len(core.factors) != 2:
        return None
    for weights, logarithm in (core.factors, core.factors[::-1]):
        if not isinstance(weights, Access) or weights.free != 0b11:
            continue
        if not isinstance(logarithm, Add):
            continue
        negated = expr.add(*(expr.mul(expr.const(-1), term) for term in logarithm.terms))
        opened = make_scope(scope.domain, (), negated)
        found = log_softmax(opened)
        if found is None or (scope.loops and found[1] != 1):
            continue
        logits, k = found
        if logits.free != 0b11:
            continue
        order = (1 - k, k)
        x = Scalars(scope.domain, order, writer).text(logits)
        z = permuted(view(weights, scope.domain, writer), order)
        if scope.loops:
            text = f"F.cross_entropy({x}, {z}, reduction='none')"
            return Written(scaled(text, coefficient), "cross_entropy")
        return _written("cross_entropy", f"{x}, {z}", scope, (1 - k,), coefficient)
    return None


LOSSES = Recogniser(recognise)
