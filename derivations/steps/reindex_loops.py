"""The reindexing theorem, the one trusted piece behind every rule that changes iterators.

Loops.   Let X be the box of a scope's loops, D' a box, and Φ, Ψ rows with f(Φ(Ψ(x))) = f(x) on X.
         If Ψ(x) lies in D' for every x in X, or f is zero at the x where it does not, then
             {L[x in X] f(x)}  =  {L[x in X] {L[x' in D'] f(Φ(x'))}[Ψ(x)]}.
         D' may be larger than Ψ(X): what is computed there is never read (over-computation).
         Ψ need not be injective where f does not see the difference (a loop f does not use).

Sums.    Let Y be the box of the reduction iterators, D' a box, and Φ, Ψ rows in loops and reduction
         iterators.  If Φ(Ψ(y)) = y on Y, Ψ(Φ(y')) = y' on D', f(y) is zero wherever Ψ(y) leaves D',
         and f(Φ(y')) is zero wherever Φ(y') leaves Y, then
             S[y in Y] f(y)  =  S[y' in D'] f(Φ(y')).
         Where nothing leaves, the identity holds for max, min and prod as well.

Source: EinNet (OSDI'23), variable substitution, boundary relaxing and tightening, in one statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from einderive.ta.errors import RuleRefused
from einderive.ta.facts.zeros import vanishes_outside
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Node, Scope
from einderive.ta.ir.subst import substitute


@dataclass(frozen=True, slots=True)
class ReindexLoops:
    """`forward[i]` is old loop i as a row of the new loops (Φ), `backward[j]` is new loop j as a
    row of the old loops (Ψ), `ranges` the box D' of the new loops."""

    forward: tuple[Row, ...]
    backward: tuple[Row, ...]
    ranges: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class ReindexSums:
    """`forward[i]` is old reduction iterator i as a row of loops and new reduction iterators (Φ),
    `backward[j]` new reduction iterator j as a row of loops and old reduction iterators (Ψ)."""

    forward: tuple[Row, ...]
    backward: tuple[Row, ...]
    ranges: tuple[Range, ...]


def reindex_loops(scope: Scope, witness: ReindexLoops, exact: bool = True) -> Scope:
    """The view of the reindexed scope that equals `scope`; RuleRefused where the witness fails."""
    loops, ranges = scope.loops, witness.ranges
    _require_counts(len(loops), len(ranges), witness)
    _require_nonempty(scope.domain + ranges)
    new_sums = affine.iterator_rows(len(ranges) + len(scope.sums))[len(ranges) :]
    old_sums = affine.iterator_rows(len(scope.domain))[len(loops) :]
    require_rows(witness.forward, len(ranges))
    require_rows(witness.backward, len(loops))
    body = substitute(scope.body, (*witness.forward, *new_sums))
    if not _returns(scope, witness):
        back = substitute(body, (*witness.backward, *old_sums))
        if make_scope(loops, scope.sums, back, scope.reducer) is not scope:
            raise RuleRefused("the new scope, read back, is not the old one")
    image = [row_range(row, loops) for row in witness.backward]
    _require_zero_outside(scope, body, image, ranges, exact)
    inner = make_scope(ranges, scope.sums, body, scope.reducer)
    return make_scope(loops, (), expr.access(inner, witness.backward))


def reindex_sums(scope: Scope, witness: ReindexSums, exact: bool = True) -> Scope:
    """The scope with its reduction iterators y replaced by Φ(y'); RuleRefused likewise."""
    loops, sums, ranges = scope.loops, scope.sums, witness.ranges
    first = len(loops)
    _require_counts(len(sums), len(ranges), witness)
    _require_nonempty(scope.domain + ranges)
    require_rows(witness.forward, first + len(ranges))
    require_rows(witness.backward, first + len(sums))
    _require_inverse(witness.forward, witness.backward, loops + sums, first)
    _require_inverse(witness.backward, witness.forward, loops + ranges, first)
    kept = affine.iterator_rows(first)
    body = substitute(scope.body, (*kept, *witness.forward))
    left = [row_range(row, loops + sums) for row in witness.backward]
    if not all(map(inside, left, ranges)):
        _require_sum(scope)
        pairs = list(zip(witness.backward, ranges, strict=True))
        if not vanishes_outside(scope.body, loops + sums, pairs, exact):
            raise RuleRefused("the sum would lose points where its body is not shown to be 0")
    reached = [row_range(row, loops + ranges) for row in witness.forward]
    if not all(map(inside, reached, sums)):
        _require_sum(scope)
        pairs = list(zip(witness.forward, sums, strict=True))
        if not vanishes_outside(body, loops + ranges, pairs, exact):
            raise RuleRefused("the sum would gain points where its body is not shown to be 0")
    return make_scope(loops, ranges, body, scope.reducer)


def _returns(scope: Scope, witness: ReindexLoops) -> bool:
    """Whether Φ(Ψ(x)) = x for the loops that f uses: then f(Φ(Ψ(x))) = f(x) whatever f is."""
    for position, row in enumerate(witness.forward):
        if scope.body.free >> position & 1:
            composed = affine.substitute(row, witness.backward)
            if affine.simplify(composed, scope.loops).lone != position:
                return False
    return True


def inside(found: Range, allowed: Range) -> bool:
    return allowed.lo <= found.lo and found.hi <= allowed.hi


def row_range(row: Row, ranges: Sequence[Range]) -> Range:
    """An interval that holds every value of the row over the box."""
    low, high = affine.bounds(row, ranges)
    return Range(low, high + 1)


def _require_counts(old: int, new: int, witness: ReindexLoops | ReindexSums) -> None:
    if len(witness.forward) != old or len(witness.backward) != new:
        raise RuleRefused("the witness has another number of rows than there are iterators")


def _require_nonempty(ranges: Sequence[Range]) -> None:
    for lo, hi in ranges:
        if lo >= hi:
            raise RuleRefused("an iterator has an empty range")


def require_rows(rows: Sequence[Row], count: int) -> None:
    for row in rows:
        canonical, least, greatest = _form(row)
        if not canonical:
            raise RuleRefused("a row of the witness is not in canonical form")
        if least < 0 or greatest >= count:
            raise RuleRefused("a row of the witness speaks of an iterator that is not there")


@lru_cache(maxsize=4096)
def _form(row: Row) -> tuple[bool, int, int]:
    """Whether the row is in canonical form, its least and its greatest iterator (0 and -1: none).

    Remembered: the witnesses' rows are the same few."""
    found = affine.iterators(row)
    return _canonical(row), min(found, default=0), max(found, default=-1)


def _canonical(row: Row) -> bool:
    """All reasoning about rows rests on it: a record may hold, say, one iterator in two terms."""
    terms = row.terms
    if len(terms) == 1 and not row.floors:
        return terms[0][1] != 0
    for (left, a), (right, _) in pairwise(terms):
        if left >= right or not a:
            return False
    if terms and not terms[-1][1]:
        return False
    if not row.floors:
        return True
    if not all(n > 0 and _canonical(inner) for inner, n, _ in row.floors):
        return False
    same = {i: affine.iterator(i) for i in affine.iterators(row)}
    return affine.substitute(row, same) == row


def _require_inverse(
    outer: Sequence[Row], inner: Sequence[Row], ranges: Sequence[Range], first: int
) -> None:
    """`outer(inner(x)) = x` for x in the box; iterators before `first` are parameters.  The rows
    are in canonical form."""
    replacement = (*affine.iterator_rows(first), *inner)
    for position, row in enumerate(outer, first):
        composed = affine.simplify(affine.substitute(row, replacement), ranges)
        if composed.lone != position and not _constant_one(composed, ranges[position]):
            raise RuleRefused("the two maps of the witness are not inverse to each other")


def _constant_one(row: Row, bound: Range) -> bool:
    """An iterator of extent 1 equals its only value."""
    return bound.extent == 1 and row == Row(bound.lo)


def _require_zero_outside(
    scope: Scope, body: Node, image: Sequence[Range], allowed: Sequence[Range], exact: bool
) -> None:
    """Where Ψ(X) leaves D', the new body must be zero: it is then read as 0."""
    pairs = [
        (affine.iterator(position), bound)
        for position, (found, bound) in enumerate(zip(image, allowed, strict=True))
        if not inside(found, bound)
    ]
    if not pairs:
        return
    _require_sum(scope)
    wide = [Range(min(a.lo, b.lo), max(a.hi, b.hi)) for a, b in zip(image, allowed, strict=True)]
    if not vanishes_outside(body, (*wide, *scope.sums), pairs, exact):
        raise RuleRefused("the loops would shrink over points where the body is not shown to be 0")


def _require_sum(scope: Scope) -> None:
    if scope.reducer != "sum":
        raise RuleRefused(f"only a sum may gain or lose points, not {scope.reducer}")
