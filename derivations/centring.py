"""A difference whose operands are centred first.

    a[i,k] - b[j,k]  =  {L[i,k] a[i,k] - m[k]}[i,k] - {L[j,k] b[j,k] - m[k]}[j,k]      for any m

m is the mean of one operand over the indices that it does not share with the other,

    m[k]  =  finite({L[k] S[i] a[i,k]/n}[k])

so that what is multiplied out afterwards is small where both operands lie around a common point:
(a - b)^2 as a^2 - 2*a*b + b^2 loses the digits of that point otherwise.  The identity holds for any
m; `finite` makes it hold for infinite and missing data as well, where m would spoil the rows that
have none.  The centred operands are scopes of their own, since a sum of all four terms is a - b.

A centred operand that is one read is a tensor over all positions that are read, also those outside
of its source, where the read is 0 and the centred one is -m: nothing is masked, and windows stay
windows.

Source: the shift of the data in the textbook formula of the variance (T. F. Chan, G. H. Golub, R.
J. LeVeque, Algorithms for computing the sample variance, The American Statistician 37, 1983).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod

from derivations.reindex import row_range
from ta import affine, expr
from ta.affine import bits
from ta.canon import scope as make_scope
from ta.errors import RuleRefused
from ta.infinite import may_be_infinite
from ta.node import Access, Add, Apply, Node, Scope
from ta.subst import rename, replace_node, terms


@dataclass(frozen=True, slots=True)
class Centre:
    """`term`: the position of the difference in `ta.subst.walk(body)`; `parts`: the positions of
    two of its terms, the mean being that of the first; `kept`: the iterators that m has."""

    term: int
    parts: tuple[int, ...]
    kept: tuple[int, ...]


def centre(scope: Scope, witness: Centre) -> Scope:
    """The scope with two terms of a difference centred."""
    if scope.empty:
        raise RuleRefused("an iterator has an empty range")
    total, parts = _difference(scope, witness)
    if any(may_be_infinite(part) for part in parts):
        raise RuleRefused("an infinite number takes part")
    signs = [1 if expr.split_coefficient(part)[0] > 0 else -1 for part in parts]
    if signs[0] == signs[1]:
        raise RuleRefused("neither term is subtracted from the other")
    kept = tuple(sorted(set(witness.kept)))
    shared = parts[0].free & parts[1].free
    if any(not shared >> i & 1 for i in kept):
        raise RuleRefused("the mean would have an iterator that the terms do not share")
    positive = [expr.mul(expr.const(s), part) for s, part in zip(signs, parts, strict=True)]
    mean = _mean(scope, positive[0], kept)
    centred = [
        expr.mul(expr.const(sign), _centred(scope, part, mean, kept))
        for sign, part in zip(signs, positive, strict=True)
    ]
    rest = [term for term in total.terms if term not in parts]
    sum_of_all = expr.add(*rest, *centred)
    if not isinstance(sum_of_all, Add) or len(sum_of_all.terms) != len(total.terms):
        raise RuleRefused("a centred term stands in the sum already")
    body = replace_node(scope.body, total, sum_of_all)
    return make_scope(scope.loops, scope.sums, body, scope.reducer)


def _difference(scope: Scope, witness: Centre) -> tuple[Add, tuple[Node, Node]]:
    found = terms(scope.body)
    if not 0 <= witness.term < len(found):
        raise RuleRefused("the body has no such sub-term")
    total = found[witness.term]
    if not isinstance(total, Add):
        raise RuleRefused("the sub-term is not a sum of terms")
    if len(witness.parts) != 2 or len(set(witness.parts)) != 2:
        raise RuleRefused("two terms are centred")
    if any(not 0 <= p < len(total.terms) for p in witness.parts):
        raise RuleRefused("the sub-term has no such operands")
    first, second = witness.parts
    return total, (total.terms[first], total.terms[second])


def _mean(scope: Scope, term: Node, kept: tuple[int, ...]) -> Scope:
    """m over the iterators `kept`: the term's mean over all others."""
    coefficient, core = expr.split_coefficient(term)
    if isinstance(core, Access) and _stand_alone(core, kept):
        places = _places(core, kept)
        ranges, core = core.source.ranges, _whole(core)
    else:
        places = list(kept)
        ranges = scope.domain
    others = [i for i in bits(core.free) if i not in places]
    count = prod(ranges[i].extent for i in others)
    if not others or not count:
        raise RuleRefused("there is nothing to take a mean over")
    order = {old: new for new, old in enumerate((*places, *others))}
    body = expr.mul(expr.const(Fraction(1, count)), expr.const(coefficient), rename(core, order))
    loops = [ranges[i] for i in places]
    total = make_scope(loops, [ranges[i] for i in others], body)
    every = affine.iterator_rows(len(places))
    return make_scope(loops, (), expr.apply("finite", expr.access(total, every)))


def _centred(scope: Scope, term: Node, mean: Scope, kept: tuple[int, ...]) -> Node:
    """The read of `{term - m}`, a scope of its own."""
    coefficient, core = expr.split_coefficient(term)
    if isinstance(core, Access) and _stand_alone(core, kept):
        places = _places(core, kept)
        ranges = [row_range(row, scope.domain) for row in core.rows]
        rows, core = core.rows, _whole(core)
        loops = list(range(len(ranges)))
    else:
        places = list(kept)
        ranges = list(scope.domain)
        loops = list(bits(core.free))
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
    """Whether the term is, up to a number, the read of a scope that this step makes."""
    _, core = expr.split_coefficient(term)
    if not isinstance(core, Access) or not isinstance(core.source, Scope):
        return False
    body = core.source.body
    return isinstance(body, Add) and any(_is_mean(part) for part in body.terms)


def _is_mean(term: Node) -> bool:
    _, core = expr.split_coefficient(term)
    if not isinstance(core, Access) or not isinstance(core.source, Scope):
        return False
    found = core.source.body
    return isinstance(found, Apply) and found.function == "finite"
