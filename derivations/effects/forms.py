"""The form of a scope: what it computes, without the places that it reads.

    form     the operations and their operands; rows, ranges and conditions are left out, and a
             read of a scope without a reduction is replaced by what it reads
    becomes  whether old may become new when rows change, conditions are decided, and terms vanish

Equal forms are the same floating-point operations in the same order.  Forms do not show that two
expressions are equal: steps do.  Forms tell what a step has done.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from math import prod

from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Add, Apply, Const, Mul, Node, Power, Scope, Select
from einderive.ta.ir.subst import children, stages, walk


def power_of_two(value: object) -> bool:
    if not isinstance(value, Fraction) or not value:
        return False
    over, under = abs(value.numerator), value.denominator
    return over & (over - 1) == 0 and under & (under - 1) == 0


def form_of(scope: Scope) -> bytes:
    """The scope's form; equal for scopes that do the same operations."""
    for stage in stages(scope):  # sources first, so that none is asked for at any depth
        found = _formed(stage)
    return found


@lru_cache(maxsize=1 << 14)
def _formed(scope: Scope) -> bytes:
    return _mark(scope.reducer, _form(scope.body)) if scope.sums else _form(scope.body)


def _mark(*parts: object) -> bytes:
    return blake2b(repr(parts).encode(), digest_size=16).digest()


@lru_cache(maxsize=1 << 14)
def _form(node: Node) -> bytes:
    """A sum in a sum, or a product in a product, is not one of all operands.  The order of three or
    more is part of it; where forms do not tell the operands apart, or a sum's coefficient takes
    part in its rounding, the node stands for itself."""
    match node:
        case Const():
            return _mark("number", node.value)
        case Access(source=Scope() as source):
            return _mark("fill", node.fill, _formed(source)) if node.fill else _formed(source)
        case Access():
            return _mark("input", node.source.digest, node.fill)
    parts = [_form(operand) for operand in children(node)]
    if isinstance(node, Add | Mul):
        if len(parts) == 2:
            parts.sort()
        elif len({*parts}) < len(parts):
            return _mark("as it is", node.digest)
    if isinstance(node, Add):
        if not all(exact_coefficient(term) for term in node.terms):
            return _mark("as it is", node.digest)
    elif isinstance(node, Mul) and _may_be_opened(node):
        return _mark("as it is", node.digest)
    detail: object = node.function if isinstance(node, Apply) else ""
    if isinstance(node, Mul):  # a/b is rounded once, a*{1/b} twice
        detail = sum(isinstance(f, Power) and f.exponent < 0 for f in node.factors)
    return _mark(type(node).__name__, detail, getattr(node, "exponent", 0), *parts)


def only_decided(before: Scope) -> bool:
    """Whether a move of iterators can change the form only by conditions that are decided, terms
    that become 0 and factors that become 1, so that no numbers are combined."""
    return all(_harmless(node) for stage in stages(before) for node in walk(stage.body))


def regroups_many(before: Scope, after: Scope) -> bool:
    """Whether a sum or product of three operands or more has other operands than before, or they
    vary over more or fewer positions in another order: the order in which they are taken depends on
    where they are read, and on this, since what varies over few comes first."""

    def many(scope: Scope) -> set[tuple[Node, tuple[int, ...]]]:
        found = ((node, stage.domain) for stage in stages(scope) for node in walk(stage.body))
        return {(node, _small_first(node, r)) for node, r in found if len(children(node)) > 2}

    return not many(after) <= many(before)


def _small_first(node: Node, domain: Sequence[Range]) -> tuple[int, ...]:
    """The places of the operands, those that vary over few positions first."""
    extents = [
        prod(side.extent for i, side in enumerate(domain) if operand.free >> i & 1)
        for operand in children(node)
    ]
    return tuple(sorted(range(len(extents)), key=extents.__getitem__))


def _harmless(node: Node) -> bool:
    """Whether the node, if it is a number or is decided to be its fill, rounds no product."""
    value = node.value if isinstance(node, Const) else node.fill if isinstance(node, Access) else 0
    return not isinstance(value, Fraction) or not value or power_of_two(value)


def core(node: Node) -> Node:
    """The term without its coefficient."""
    return expr.split_coefficient(node)[1]


def exact_coefficient(term: Node) -> bool:
    """Whether multiplication by the term's coefficient is exact."""
    return isinstance(term, Const) or power_of_two(expr.split_coefficient(term)[0])


def _seen(node: Node) -> Node:
    """The form of a term without its coefficient, through reads of scopes without a reduction."""
    found = core(node)
    while isinstance(found, Access) and isinstance(found.source, Scope) and not found.source.sums:
        found = core(found.source.body)
    return found


def _may_be_opened(product: Mul) -> bool:
    """c*{a + b} and c*(a + b) may be computed in two ways."""
    numbers = any(isinstance(factor, Const) for factor in product.factors)
    read = (factor for factor in product.factors if isinstance(factor, Access))
    return numbers and any(isinstance(_seen(factor), Add | Mul) for factor in read)


DEPTH = 6
"""Sums are compared to this depth; sums that differ only below it count as different."""


@lru_cache(maxsize=1 << 14)
def _becomes(old: Node, new: Node, depth: int) -> bool:
    """Whether the old term may become the new one when rows change, conditions are decided, factors
    become numbers and terms 0.  A sum becomes a sum, never some of its terms."""
    old, new = _seen(old), _seen(new)
    if _form(old) == _form(new):
        return True
    if not depth:
        return False
    below = depth - 1
    if isinstance(new, Select):  # maybe a condition under which the read is not outside
        return all(isinstance(b, Const) or _becomes(old, b, below) for b in children(new))
    if isinstance(old, Select):
        return any(_becomes(branch, new, below) for branch in children(old))
    if isinstance(old, Mul) or isinstance(new, Mul):
        return _paired(_factors(old, below), _factors(new, below), below)
    match old, new:
        case Add(), Add():
            return _paired(old.terms, new.terms, below)
        case Apply(), Apply():
            pairs = zip(old.args, new.args, strict=False)
            return old.function == new.function and all(_becomes(*p, below) for p in pairs)
        case Power(), Power():
            return old.exponent == new.exponent and _becomes(old.base, new.base, below)
        case Access(source=Scope() as one), Access(source=Scope() as other):
            return one.reducer == other.reducer and _becomes(one.body, other.body, below)
    return False


def _factors(node: Node, depth: int) -> list[Node]:
    node = _seen(node)
    if not isinstance(node, Mul) or not depth:
        return [] if isinstance(node, Const) else [node]
    return [factor for operand in node.factors for factor in _factors(operand, depth - 1)]


def _paired(olds: Sequence[Node], news: Sequence[Node], depth: int) -> bool:
    """Whether each of the new operands is found to come from an old one of its own."""
    left = list(olds)
    for new in news:
        found = next((k for k, old in enumerate(left) if _becomes(old, new, depth)), None)
        if found is None:
            return False
        del left[found]
    return True


def corresponds(old: Add, new: Add) -> bool:
    """Whether all terms of the new sum are shown to come from different terms of the old one."""
    return _paired(old.terms, new.terms, DEPTH)
