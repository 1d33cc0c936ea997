"""Centre.   a[i,k] - b[j,k]  =  {a[i,k] - m[k]} - {b[j,k] - m[k]}   for m the mean of a over i.

The second line of the formula states it for a read at two compound indices, such as those of a
window.  Reads with one compound index, or with more, are treated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import prod

from einderive.derivations.effects.uncentred import multiplied
from einderive.derivations.rule import Rule, stated
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
    **stated(__name__),
    propose=propose,
    elsewhere=_either,
    opening=True,
    then=(expand.EXPAND, distribute.DISTRIBUTE),
)
