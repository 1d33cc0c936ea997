"""The value of a sum on regions of its free variables.

    A[i-1] + where(i < 4, B[i], 0)   =   A[i-1] + B[i]   on  1 <= i < 4,    A[i-1]  on  4 <= i,  ...

On each region a term either stands in the sum or does not, as far as conditions on the free
variables alone decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einderive.derivations.checker import sets
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import NotShown, Sum, Term, negations, undecided, within
from einderive.derivations.checker.forms import gathered
from einderive.derivations.checker.infinities import excludes
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Condition

MOST_PIECES = 64
"""An operand that falls into more pieces is not compared."""

Conditions = tuple[Condition, ...]
Ranges = Mapping[int, Range]


def pieces(value: Sum, families: Families, ranges: Ranges) -> list[tuple[Conditions, Sum]]:
    """The value on regions that exclude each other and together are everything; on each, a term's
    conditions on free variables alone are decided, and left out."""
    guards = [guard(term, families, ranges) for term in value]
    found = []
    for region in _regions(list(dict.fromkeys(guards)), ranges):
        part = [
            _unguarded(term)
            for term, asked in zip(value, guards, strict=True)
            if region.issuperset(asked)
        ]
        found.append((tuple(sorted(region)), tuple(gathered(part))))
    return found


def _regions(guards: Sequence[Conditions], ranges: Ranges) -> list[frozenset[Condition]]:
    """Regions that exclude each other and together are everything, by conditions; in each, all
    conditions of a guard hold, or one of them does not."""
    found: list[frozenset[Condition]] = []
    pending: list[frozenset[Condition]] = [frozenset()]
    while pending:
        region = pending.pop()
        undecided_one = next(
            (c for g in guards if not excludes(region, g) for c in g if c not in region), None
        )
        if undecided_one is None:
            found.append(region)
        else:
            for further in (undecided_one, *negations(undecided_one)):
                smaller = region | {further}
                if sets.possible(sorted(smaller), ranges):
                    pending.append(smaller)
        if len(found) + len(pending) > MOST_PIECES:
            raise NotShown("too large: an operand falls into too many pieces")
    return found


def guard(term: Term, families: Families, ranges: Ranges) -> Conditions:
    """The conditions of a term on the free variables alone: its own, and those of its reads."""
    own = {variable for variable, _ in term.bound}
    asked = [c for c in term.conditions if own.isdisjoint(affine.iterators(c.row))]
    for atom in term.atoms:
        sides = families.leaves[atom.leaf].ranges
        for row, side in zip(atom.rows, sides or (), strict=False):
            if own.isdisjoint(affine.iterators(row)):
                asked += within((row,), (side,))
    return tuple(sorted(undecided(asked, ranges)))


def _unguarded(term: Term) -> Term:
    own = {variable for variable, _ in term.bound}
    kept = tuple(c for c in term.conditions if not own.isdisjoint(affine.iterators(c.row)))
    return term._replace(conditions=kept)
