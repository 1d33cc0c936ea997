"""The factors of a product under a sum, as people who write array code form them.

    3*A[i,k]*B[k,j]                        3  and  A[i,k], B[k,j]
    where(k > i, 3*A[k,i]*B[k,j], 0)       3  and  where(k > i, A[k,i], 0), B[k,j]

The second is the first with one factor masked.  The products are the same, apart from 0*inf, which
the mask leaves out and the masked factor forms.

Not here: how products become lines of torch (`baselines`).  May be imported by `accuracy` and
`baselines`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from operator import or_

from einderive.ta.ir import affine, expr
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Mul, Node, Number, Select, Tensor


def is_masked(body: Node) -> bool:
    """Whether the body is a choice between a product of inputs' entries and 0.  A mask may hide
    where other factors are infinite."""
    found = split_coefficient(body)[1]
    if not isinstance(found, Select) or found.otherwise is not expr.const(0):
        return False
    coefficient, product = split_coefficient(found.then)
    if not isinstance(product, Mul) or not isinstance(coefficient, Fraction):
        return False
    return all(map(_is_entry, product.factors))


def _is_entry(node: Node) -> bool:
    """Whether the node reads an input that is finite where it is padded."""
    if not isinstance(node, Access) or not isinstance(node.source, Tensor):
        return False
    return isinstance(node.fill, Fraction)


def factors_of(body: Node) -> tuple[Number, tuple[Node, ...]]:
    """The coefficient and the factors; where there is a mask, the factor has it that shares most
    iterators with the conditions."""
    coefficient, core = split_coefficient(body)
    if not is_masked(core):
        return coefficient, core.factors if isinstance(core, Mul) else (core,)
    assert isinstance(core, Select)
    inner, product = split_coefficient(core.then)
    assert isinstance(product, Mul)
    asked = reduce(or_, (affine.mask(condition.row) for condition in core.conditions), 0)
    shared = [(factor.free & asked).bit_count() for factor in product.factors]
    place = shared.index(max(shared))
    masked = expr.select(core.conditions, product.factors[place], expr.const(0))
    factors = (*product.factors[:place], masked, *product.factors[place + 1 :])
    return coefficient * inner, factors
