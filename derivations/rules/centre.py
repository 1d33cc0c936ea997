"""Centre.   a[i,k] - b[j,k]  =  {a[i,k] - m[k]} - {b[j,k] - m[k]}   for m the mean of a over i.

The second line of the formula states it for a read at two compound indices, such as those of a
window.  Reads with one compound index, or with more, are treated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import prod

from einderive.derivations.effects.uncentred import multiplied
from einderive.derivations.rule import Example, Refusal, Rule
from einderive.derivations.rules import distribute, expand
from einderive.derivations.steps.centre import Centre
from einderive.derivations.steps.kernel import Witness
from einderive.ta.facts.centred import is_centred, shared_iterators
from einderive.ta.ir import expr
from einderive.ta.ir.affine import volume
from einderive.ta.ir.element import floating_inputs
from einderive.ta.ir.node import Add, Const, Node, Scope
from einderive.ta.ir.positions import is_data
from einderive.ta.ir.subst import walk


def propose(scope: Scope) -> Iterator[Witness]:
    """The first difference of two terms over unequal iterators that is multiplied out or summed:
    expanding or distributing it would subtract large parts.

    The mean is that of the operand with fewer elements.  It keeps the iterators that index both
    operands by themselves, and is one mean for all positions of a window.
    """
    yield from islice(_either(scope), 1)


def _either(scope: Scope) -> Iterator[Witness]:
    """The same, and then with the mean of the other operand: it has fewer elements at other
    sizes."""
    if not scope.sums or scope.reducer != "sum":
        return
    possible = {*multiplied(scope.body)}
    if not possible:
        return
    for position, total in enumerate(walk(scope.body)):
        if isinstance(total, Add) and total in possible:
            found, kept = _sides(scope, total)
            if found and floating_inputs(scope):
                yield from (Centre(position, parts, kept) for parts in found)
                return


def _sides(scope: Scope, total: Add) -> tuple[list[tuple[int, int]], tuple[int, ...]]:
    """Two terms in both orders, in each the one first whose mean is taken, that of fewer elements
    before the other; and the iterators of the mean."""
    if any(map(is_centred, total.terms)):
        return [], ()
    split = [expr.split_coefficient(term) for term in total.terms]
    for p, q in combinations(range(len(split)), 2):
        (a, left), (b, right) = split[p], split[q]
        numbers = isinstance(left, Const) or isinstance(right, Const)
        if numbers or (a > 0) == (b > 0) or left.free == right.free:
            continue
        kept = shared_iterators(left, right)
        sides = [(_elements(scope, core, kept), at) for core, at in ((left, p), (right, q))]
        able = [side for side in sides if side[0]]
        if able:
            return [(at, q if at == p else p) for _, at in sorted(able)], kept
    return [], ()


def _elements(scope: Scope, core: Node, kept: tuple[int, ...]) -> int:
    """The number of elements over which the means of the term are taken, all means together.  It is
    0 if each would be the mean of one element."""
    held = sum(1 << i for i in kept)
    if not core.free & ~held:
        return 0
    if is_data(core):
        return prod(core.source.shape)
    return volume(scope.extents, core.free)


CENTRE = Rule(
    name="centre",
    formula=(
        "a - b = {a - m}[] - {b - m}[]\n"
        "a(p,q) - b = {L[x:c:d,y:e:f] a(x,y) - m}[p,q] - {b - m}[] where p in c:d, q in e:f"
    ),
    conditions=(
        "m[k] = finite({L[k] S[i] a[i,k]/n}[k]), where finite(x) is x for a number x and 0 "
        "otherwise; the identity holds for any m; one of the terms is subtracted from the other; "
        "no term is an infinite number of the text"
    ),
    choices=(
        "the first difference over unequal iterators that is a factor or is summed; the mean of "
        "the smaller operand, for each value of the iterators that index both operands by "
        "themselves; floating data only, since the mean of integers is no integer"
    ),
    exactness="cancels",
    assumes_no_nan="",
    source="the shifted data of the variance (Chan, Golub, LeVeque, 1983)",
    propose=propose,
    elsewhere=_either,
    opening=True,
    then=(expand.EXPAND, distribute.DISTRIBUTE),
    examples=(
        Example(
            "{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}",
            "{L[i:0:4,j:0:5] S[k:0:3] (-{L[j:0:5,k:0:3] -{L[k:0:3] finite({L[k:0:3] S[l:0:4] "
            "A[l,k]/4}[k])}[k] + B[j,k]}[j,k] + {L[i:0:4,k:0:3] A[i,k] - {L[k:0:3] "
            "finite({L[k:0:3] S[l:0:4] A[l,k]/4}[k])}[k]}[i,k])^2}",
        ),
        Example(
            "{L[h:0:8,w:0:8] S[r:0:3,s:0:3] (A[h+r-1,w+s-1] - T[r,s])^2}",
            "{L[i:0:8,j:0:8] S[k:0:3,l:0:3] ({L[m:-1:9,n:-1:9] A[m,n] - "
            "{finite({S[x:0:3,y:0:3] T[x,y]/9}[])}[]}[i+k-1,j+l-1] - {L[k:0:3,l:0:3] T[k,l] -"
            " {finite({S[x:0:3,y:0:3] T[x,y]/9}[])}[]}[k,l])^2}",
            sizes={"A": (8, 8)},
        ),
        Example(
            "{L[k:0:3] S[i:0:4] (2*A[i,k] - 3*M[k])^4}",
            "{L[i:0:3] S[j:0:4] ({L[j:0:4,i:0:3] -{L[i:0:3] finite({L[i:0:3] S[k:0:4] "
            "A[k,i]/2}[i])}[i] + 2*A[j,i]}[j,i] - {L[i:0:3] -{L[i:0:3] finite({L[i:0:3] "
            "S[k:0:4] A[k,i]/2}[i])}[i] + 3*M[i]}[i])^4}",
        ),
        Example(
            "{L[i:0:4,j:0:5,l:0:2] S[k:0:3] (A[i,k] - B[j,k])*P[k,l]}",
            "{L[i:0:4,j:0:5,k:0:2] S[l:0:3] P[l,k]*({L[i:0:4,l:0:3] A[i,l] - {L[l:0:3] "
            "finite({L[l:0:3] S[m:0:4] A[m,l]/4}[l])}[l]}[i,l] - {L[j:0:5,l:0:3] -{L[l:0:3] "
            "finite({L[l:0:3] S[m:0:4] A[m,l]/4}[l])}[l] + B[j,l]}[j,l])}",
        ),
    ),
    refusals=(
        Refusal("{S[i:0:4] (A[i] + B[i])^2}", Centre(1, (0, 1), ()), "neither term is subtracted"),
        Refusal(
            "{L[i:0:4] S[k:0:3] (A[i,k] - B[i,k])^2}",
            Centre(1, (0, 1), (0, 1)),
            "nothing to take a mean over",
        ),
        Refusal(
            "{L[i:0:4,j:0:5] S[k:0:3] (A[i,k] - B[j,k])^2}", Centre(1, (0, 1), (0,)), "do not share"
        ),
        Refusal(
            "{L[i:0:4] S[j:0:5] (A{fill=inf}[i-1] - B[j])^2}",
            Centre(1, (0, 1), ()),
            "an infinite number takes part",
            sizes={"A": (4,)},
        ),
    ),
)
