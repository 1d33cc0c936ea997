"""The witness of a change of iterators: it has to be the change that the step makes.

    ReindexLoops  (Φ, Ψ, D')   {L[x in X] S f(x)}      =  {L[x in X] {L[x' in D'] S f(Φ(x'))}[Ψ(x)]}
    ReindexSums   (Φ, Ψ, D')   {L[x] S[y in Y] f(x,y)} =  {L[x] S[y' in D'] f(x, Φ(x,y'))}
                               Φ(x, Ψ(x,y)) = y on X×Y,   Ψ(x, Φ(x,y')) = y' on X×D'
    ReadPart      (P, ρ)       {L[x in X] f(x)}        =  {L[x in X] P[ρ(x)]}

The scope on the right is written down again and has to be the step's right side; that Φ and Ψ are
inverse is decided by integer sets.  A witness is known by its fields.  All others name a place in
an expression: the step holds or does not hold whatever they say, and they are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from einderive.derivations.checker import sets
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Condition, Scope
from einderive.ta.ir.subst import substitute

Maps: TypeAlias = tuple[Sequence[Row], Sequence[Row], tuple[Range, ...]]


def fault(before: Scope, after: Scope, witness: Any) -> str | None:
    """Why the witness is not that of a step from `before` to `after`; None where it is, or where
    it names a place."""
    match witness:
        case object(producer=Scope() as producer, rows=rows):
            if not _speak(rows, len(before.loops)) or len(rows) != len(producer.loops):
                return "the witness has rows that do not fit the scopes"
            return _leads_to(after, expr_of(before, producer, rows))
        case object(forward=forward, backward=backward, ranges=ranges, of_sums=of_sums):
            return _fault_of_maps(before, after, (forward, backward, ranges), of_sums)
    return None


def _fault_of_maps(before: Scope, after: Scope, maps: Maps, of_sums: bool) -> str | None:
    """Likewise for the maps Φ, Ψ and the box D' of the loops, or of the reduction iterators."""
    forward, backward, ranges = maps
    if any(side.hi <= side.lo for side in (*ranges, *before.domain)):
        return "an iterator has an empty range"
    first, count = len(before.loops), len(before.sums)
    old, new, shared = (count, len(ranges), first) if of_sums else (first, len(ranges), 0)
    if len(forward) != old or len(backward) != len(ranges):
        return "the witness has another number of rows than there are iterators"
    if not _speak(forward, shared + new) or not _speak(backward, shared + old):
        return "the witness has rows that do not fit the scopes"
    if not of_sums:
        sums = [affine.iterator(new + s) for s in range(count)]
        body = substitute(before.body, [*forward, *sums])
        inner = make_scope(ranges, before.sums, body, before.reducer)
        return _leads_to(after, expr_of(before, inner, backward))
    kept = [affine.iterator(i) for i in range(first)]
    for outer, inner_rows, box in (
        (forward, backward, before.domain),
        (backward, forward, before.loops + ranges),
    ):
        if not _inverse(outer, [*kept, *inner_rows], box, first):
            return "the two maps of the witness are not inverse to each other"
    body = substitute(before.body, [*kept, *forward])
    again = make_scope(before.loops, ranges, body, before.reducer)
    return _leads_to(after, again)


def expr_of(before: Scope, source: Scope, rows: Sequence[Row]) -> Scope:
    """The read of the source at the rows, over the loops of `before`."""
    return make_scope(before.loops, (), expr.access(source, rows))


def _leads_to(after: Scope, again: Scope) -> str | None:
    return None if again is after else "the witness does not lead to the right side"


def _speak(rows: Sequence[Row], count: int) -> bool:
    """Do the rows speak of the first `count` iterators only, and in canonical form?"""
    return all(
        all(0 <= i < count for i in affine.iterators(row)) and _canonical(row) for row in rows
    )


def _canonical(row: Row) -> bool:
    if not all(n > 0 and _canonical(inner) for inner, n, _ in row.floors):
        return False
    return affine.substitute(row, {i: affine.iterator(i) for i in affine.iterators(row)}) == row


def _inverse(outer: Sequence[Row], inner: Sequence[Row], box: Sequence[Range], first: int) -> bool:
    """`outer(inner(x)) = x` for the iterators from `first` on, all over the box."""
    ranges = dict(enumerate(box))
    for position, row in enumerate(outer, first):
        error = affine.add(affine.substitute(row, inner), affine.iterator(position), -1)
        for side in (error, affine.scale(error, -1)):
            positive = Condition(">=", affine.shift(side, -1))
            high = affine.bounds(positive.row, ranges)[1]
            if high >= 0 and sets.possible([positive], ranges):
                return False
    return True
