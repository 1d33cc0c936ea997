"""The factors of a product under a sum, as people who write array code form them.

    3*A[i,k]*B[k,j]                              3  and  A[i,k], B[k,j]
    where(k > i, 3*A[k,i]*B[k,j], 0)             3  and  where(k > i, A[k,i], 0), B[k,j]
    where(M[i,k] or i == k, B[k,j]/D[i], 0)      where(M[i,k] or i == k, 1/D[i], 0), B[k,j]

The others are the first with one factor masked.  The products are the same, apart from 0*inf, which
the mask leaves out and the masked factor forms.

Not here: how products become lines of torch (`baselines`).  May be imported by `accuracy` and
`baselines`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from operator import or_

from einderive.derivations.steps.factor import chosen, inputs_of, stays_finite, with_branches
from einderive.ta.ir import affine, expr
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Apply, Node, Number, Select
from einderive.ta.ir.subst import branches
from einderive.ta.ir.subst import factors_of as factors_in

ZERO = expr.const(0)


def factors_of(body: Node) -> tuple[Number, tuple[Node, ...]]:
    """The coefficient and the factors; where there is a mask, that factor has it which shares most
    iterators with the conditions, or all that may be infinite where the mask hides them."""
    coefficient, core = split_coefficient(body)
    masked = _masked(core)
    if masked is None:
        return coefficient, factors_in(core)
    return coefficient * masked[0], masked[1]


def is_masked(body: Node) -> bool:
    """Whether a factor can be taken out of a choice between products and 0.  The choice may leave
    out places where that factor is infinite."""
    return _masked(split_coefficient(body)[1]) is not None


def _masked(core: Node) -> tuple[Number, tuple[Node, ...]] | None:
    found = chosen(core) if branches(core) else ()
    terms = [node for node in found if not branches(node) and node is not ZERO]
    if ZERO not in found or not terms:
        return None
    coefficient, product = split_coefficient(terms[0])
    parts = {term: factors_in(split_coefficient(term)[1]) for term in terms}
    if any(split_coefficient(term)[0] != coefficient for term in terms):
        return None
    if not isinstance(coefficient, Fraction) or len(factors_in(product)) < 2:
        return None
    choices, first = [node for node in found if branches(node)], factors_in(product)
    outside = [f for f in first if _may_leave(f, choices) and all(f in p for p in parts.values())]
    if len(outside) == len(first):
        asked = reduce(or_, map(_asked, choices), 0)
        outside.remove(max(outside, key=lambda factor: (factor.free & asked).bit_count()))
    if not outside:
        return None
    made = {term: expr.mul(*(f for f in parts[term] if f not in outside)) for term in terms}
    inside = next(place for place, factor in enumerate(first) if factor not in outside)
    return coefficient, (*outside[:inside], with_branches(core, made), *outside[inside:])


def _may_leave(factor: Node, choices: Sequence[Node]) -> bool:
    """Whether the factor is finite for finite inputs, and no condition asks for its values."""
    if not isinstance(factor, Access) or not isinstance(factor.fill, Fraction):
        return False
    if not stays_finite(factor):
        return False
    asked = (node.args[0] for node in choices if isinstance(node, Apply))
    return inputs_of(factor).isdisjoint(inputs_of(*asked))


def _asked(choice: Node) -> int:
    """The iterators in the conditions of a choice."""
    if isinstance(choice, Select):
        return reduce(or_, (affine.mask(condition.row) for condition in choice.conditions), 0)
    assert isinstance(choice, Apply)
    return choice.args[0].free
