"""Code that kinds of steps share: sub-terms of a body, and terms as scopes of their own."""

from __future__ import annotations

from collections.abc import Sequence

from einderive.derivations.effects.nonfinite import surely_finite
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, bits
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import rename, walk
from einderive.ta.laws.data import Law


def reduced(scope: Scope) -> int:
    """The bit set of the reduction iterators."""
    return ((1 << len(scope.sums)) - 1) << len(scope.loops)


def sub_term(scope: Scope, position: int) -> Node:
    """The sub-term at the position in `walk(body)`."""
    found = walk(scope.body)
    if not 0 <= position < len(found):
        raise RuleRefused("the body has no such sub-term")
    return found[position]


def lift(
    term: Node,
    scope: Scope,
    summed: int,
    *,
    ranges: Sequence[Range] | None = None,
    order: Sequence[int] = (),
) -> Node:
    """The read of `term` as a scope of its own.  The iterators in the bit set `summed` are reduced
    there; its other iterators become loops, those of `order` first.  The ranges are the present
    ones, if no others are given."""
    domain = ranges or scope.domain
    free = bits(term.free & ~summed)
    loops = (*(i for i in order if i in free), *(i for i in free if i not in order))
    inner = bits(summed)
    moved = loops + inner
    if moved != tuple(range(len(moved))):
        term = rename(term, {old: new for new, old in enumerate(moved)})
    box = [domain[i] for i in loops], [domain[i] for i in inner]
    nested = make_scope(*box, term, scope.reducer, resolved=ranges is None)
    return expr.access(nested, [affine.iterator(i) for i in loops])


def keeps_by_law(law: Law | None, parts: Sequence[Scope]) -> bool:
    """Whether a law keeps NaN and infinities where its letters stand for the bodies of `parts`."""
    keeps = law.keeps if law else "never"
    finite = keeps == "finite" and all(surely_finite(part.body) for part in parts)
    return keeps == "always" or finite
