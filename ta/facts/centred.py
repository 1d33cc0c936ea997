"""Operands less a common mean, as scopes.

    m[k]   =  finite({L[k] S[i] a[i,k]/n}[k])            of one operand, over what it has alone
    a - m  =  {L[i,k] a[i,k] - m[k]}[i,k]                likewise b - m, of the other one

so that a - b = (a - m) - (b - m).  An operand that is one read is centred at all positions that are
read, also those outside of its source, where the read is 0 and the centred one -m: nothing is
masked, and windows stay windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, bits
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Add, Apply, Node, Scope
from einderive.ta.ir.positions import is_data
from einderive.ta.ir.subst import rename


def shared_iterators(left: Node, right: Node) -> tuple[int, ...]:
    """The iterators that a mean of either term may depend on: both terms use them and, in a term
    that is a read, each indexes a dimension by itself."""
    alone = left.free & right.free
    for core in (left, right):
        if is_data(core):
            lone = {row.lone for row in core.rows}
            alone = sum(1 << i for i in bits(alone) if i in lone)
    return bits(alone)


def mean_of(term: Node, domain: Sequence[Range], kept: tuple[int, ...]) -> Scope | None:
    """The mean m of a term over the box `domain`, for each value of the iterators `kept`.  None if
    it is the mean of at most one element."""
    coefficient, core = expr.split_coefficient(term)
    places, ranges = list(kept), domain
    if is_data(core) and _stand_alone(core, kept):
        places, ranges, core = _places(core, kept), core.source.ranges, _whole(core)
    others = [i for i in bits(core.free) if i not in places]
    count = prod(ranges[i].extent for i in others)
    if not others or not count:
        return None
    order = {old: new for new, old in enumerate((*places, *others))}
    body = expr.mul(expr.const(Fraction(1, count)), expr.const(coefficient), rename(core, order))
    loops = [ranges[i] for i in places]
    total = make_scope(loops, [ranges[i] for i in others], body)
    every = affine.iterator_rows(len(places))
    return make_scope(loops, (), expr.apply("finite", expr.access(total, every)))


def less(term: Node, mean: Scope, domain: Sequence[Range], kept: tuple[int, ...]) -> Node:
    """The read of `{term - m}`, a scope of its own, for a term over the box `domain`."""
    coefficient, core = expr.split_coefficient(term)
    if is_data(core) and _stand_alone(core, kept):
        places, rows = _places(core, kept), core.rows
        bounds = [affine.bounds(row, domain) for row in rows]
        ranges = [Range(low, high + 1) for low, high in bounds]
        core, loops = _whole(core), tuple(range(len(rows)))
    else:
        places, ranges, loops = list(kept), list(domain), bits(core.free)
        rows = tuple(affine.iterator(i) for i in loops)
    order = {old: new for new, old in enumerate(loops)}
    m = expr.access(mean, [affine.iterator(order[i]) for i in places])
    whole = expr.mul(expr.const(coefficient), rename(core, order))
    nested = make_scope([ranges[i] for i in loops], (), expr.subtract(whole, m))
    return expr.access(nested, rows)


def _stand_alone(read: Access, kept: tuple[int, ...]) -> bool:
    """Whether each of the iterators is a row of the read by itself."""
    return {row.lone for row in read.rows} >= {*kept}


def _places(read: Access, kept: tuple[int, ...]) -> list[int]:
    """The first dimension of the read's source that each of the iterators indexes."""
    alone = [row.lone for row in read.rows]
    return [alone.index(i) for i in kept]


def _whole(read: Access) -> Node:
    """The read's source, each dimension an iterator."""
    return expr.access(read.source, affine.iterator_rows(len(read.rows)), read.fill)


def is_centred(term: Node) -> bool:
    """Whether the term is, up to a number, the read of a centred operand."""
    body = _body_read(term)
    return isinstance(body, Add) and any(map(_is_mean, body.terms))


def _is_mean(term: Node) -> bool:
    found = _body_read(term)
    return isinstance(found, Apply) and found.function == "finite"


def _body_read(term: Node) -> Node | None:
    """The body of the scope that the term reads, up to a number."""
    _, core = expr.split_coefficient(term)
    return core.source.body if isinstance(core, Access) and isinstance(core.source, Scope) else None
