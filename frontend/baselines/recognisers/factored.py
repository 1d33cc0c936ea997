"""A factor of numbers alone in front of a sum.

S[i,j] = Q[i,d]*K[j,d]/sqrt(size(d))        (Q @ K.T) / 8
"""

from __future__ import annotations

from dataclasses import replace

from einderive.frontend.baselines.writing.broadcast import write as broadcast
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Mul, Scope
from einderive.ta.ir.subst import accesses


def recognise(scope: Scope, writer: Writer) -> Written | None:
    """A sum of products with a factor such as `1/sqrt(48)`; one that is a number of the text is
    taken out of any sum."""
    core = split_coefficient(scope.body)[1]
    if not scope.sums or scope.reducer != "sum" or not isinstance(core, Mul):
        return None
    fixed = [factor for factor in core.factors if not (factor.free or accesses(factor))]
    if not fixed or len(fixed) == len(core.factors):
        return None
    rest = [factor for factor in core.factors if factor not in fixed]
    inner = make_scope(scope.loops, scope.sums, expr.mul(*rest))
    read = expr.access(inner, affine.iterator_rows(len(scope.loops)))
    coefficient = expr.const(split_coefficient(scope.body)[0])
    scaled = make_scope(scope.loops, (), expr.mul(coefficient, *fixed, read))
    return replace(broadcast(scaled, writer), word="factor in front")


FACTORED = Recogniser(recognise)
