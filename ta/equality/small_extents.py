"""Extents that take part in no index arithmetic, made small, with a proof.

    P(E) = Q(E) at every position  if  P(e) = Q(e) at every position,   e a few, E any size

**Classes.**  The dimensions of tensors and the iterators of both programs fall into classes: an
iterator and each dimension that it indexes alone (in `A[i,..]` the row is `i`) are in one class,
and so are the corresponding loops of the two outputs.  A class is *free* where all its members have
one range, where each of its dimensions is only indexed by lone iterators, and where its iterators
occur nowhere else: in no `i+1`, `2*i`, `//`, `%`, nor in a condition.  The points of that range are
then mere labels: programs tell two of them apart only by the entries that they lead to.

**Terms.**  Write out an output at position x over the sums of the class, those of nested scopes
included.  Where such sums are only added, multiplied and raised to positive powers, it is

    P(x) = sum over s: V -> labels of G(s, x),     G made of entries with labels in s(V) and x

with V the iterators of one term; sums in a product or in a power count once for each factor.  G is
any function: division, exp, max of what holds no sum of the class are parts of it.

**Theorem.**  Let m be the greatest number of sum iterators of the class in a term of P and Q, and l
that of the class's loops of the output.  Let e = l + m, or m + 1 where l = 0 < m, or 1 where both
are 0; and E >= e.  Let P' and Q' be the programs with extent e instead of E, in which a term of a
sum counts E - e + 1 times at the last label.  If P' = Q' at all positions for all data, then P = Q
at all positions for all data.

**Proof.**  D = P - Q.  Fix data X and a position x.  Let * be a label of x, or any label if l = 0.
For a set S of labels that are neither * nor in x, let X^S be X with every label outside of S, x and
* replaced by *, in all entries at once, and F(S) = D(x) on X^S.  The term s of F(S) is the term
G(r s, x) on X itself, where r replaces labels outside of S, x and * by *.  So F is defined where D
is, and the term depends on S only through the at most m labels in s(V).  A sum of functions of S
that depend on m elements each is fixed by its values at the sets of at most m elements (inclusion
and exclusion: its Moebius transform is 0 at all greater sets).  For such S the data X^S have at
most e distinct labels, all but * once and * at least E - e + 1 times.  Permute the labels so that *
is the last: F(S) is P' - Q' at a position, on data in which some slices may be equal, which is 0.
So F = 0 at the set of all labels, where it is D(x) on X.

The argument uses differences only and so holds in every field, but not where an infinity is summed.
The converse holds too: P' is P on data in which the slices e - 1, ..., E - 1 are the same, so that
where P' and Q' differ, P and Q do.  Several classes are reduced one after the other.

Where a sum of the class stands inside of a function, a negative power, max, min or a product over
an index, nothing is shown, and the class keeps its extent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from einderive.ta.ir import affine, expr
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, every_term, fold, is_infinite, rebuild, stages, walk

Roots: TypeAlias = Sequence[ir.Scope]
Place: TypeAlias = tuple[ir.Scope | str, int]
"""An iterator (its scope, its position) or a tensor's dimension (the name, the dimension)."""

MOST_TERMS = 64
"""A class with more iterators than this in one term is left as it is."""


class Reduced(NamedTuple):
    """Both programs with small extents; `sizes` holds (extent, reduced extent) for each class."""

    left: tuple[ir.Scope, ...]
    right: tuple[ir.Scope, ...]
    sizes: tuple[tuple[int, int], ...]


class Classes:
    """The places of the programs, those that are indexed alike in one class."""

    def __init__(self, left: Roots, right: Roots) -> None:
        self.above: dict[Place, Place] = {}
        self.ranges: dict[Place, set[Range]] = {}
        self.bound: set[Place] = set()
        for stage in stages(*left, *right):
            for position, bound in enumerate(stage.domain):
                self._enter((stage, position), bound)
            self._read(stage)
        for x, y in zip(left, right, strict=True):
            for dimension in range(min(len(x.loops), len(y.loops))):
                self._join((x, dimension), (y, dimension))

    def of(self, place: Place) -> Place:
        """The representative of the place's class."""
        while self.above[place] != place:
            place = self.above[place]
        return place

    def free(self) -> dict[Place, Range]:
        """The representatives of the free classes, with their ranges."""
        held = {self.of(place) for place in self.bound}
        return {
            place: next(iter(ranges))
            for place, ranges in self.ranges.items()
            if self.above[place] == place and place not in held and len(ranges) == 1
        }

    def dimensions(self) -> list[list[tuple[str, int]]]:
        """The tensors' dimensions, those of one class together."""
        found: dict[Place, list[tuple[str, int]]] = {}
        for place in self.above:
            source, dimension = place
            if isinstance(source, str) and source != INDEX.name:
                found.setdefault(self.of(place), []).append((source, dimension))
        return list(found.values())

    def _read(self, stage: ir.Scope) -> None:
        for node in walk(stage.body):
            if isinstance(node, ir.Access):
                for dimension, row in enumerate(node.rows):
                    place = place_of(node.source, dimension)
                    self._enter(place, node.source.ranges[dimension])
                    if row.lone is not None:
                        self._join((stage, row.lone), place)
                    else:
                        self.bound.add(place)
                        self.bound |= {(stage, i) for i in affine.iterators(row)}
            elif isinstance(node, ir.Select):
                for condition in node.conditions:
                    self.bound |= {(stage, i) for i in affine.iterators(condition.row)}

    def _enter(self, place: Place, bound: Range) -> None:
        self.above.setdefault(place, place)
        self.ranges.setdefault(self.of(place), set()).add(bound)

    def _join(self, left: Place, right: Place) -> None:
        first, second = self.of(left), self.of(right)
        if first != second:
            self.above[second] = first
            self.ranges[first] |= self.ranges[second]


def place_of(source: ir.Source, dimension: int) -> Place:
    """A dimension of a tensor, by its name, or a loop of a scope."""
    return (source.name if isinstance(source, ir.Tensor) else source, dimension)


def reduce_extents(left: Roots, right: Roots) -> Reduced:
    """The programs P' and Q' of the theorem, for every free class to which it applies.

    The outputs correspond in order and have the same loops.
    """
    classes = Classes(left, right)
    infinite = any(map(is_infinite, every_term(*left, *right)))
    ranges: dict[Place, Range] = {}
    for place, bound in classes.free().items():
        needed = _needed(place, classes, left, right, infinite)
        if needed is not None and needed < bound.extent:
            ranges[place] = Range(bound.lo, bound.lo + needed)
    if not ranges:
        return Reduced(tuple(left), tuple(right), ())
    rebuilt = _rebuilt(stages(*left, *right), classes, ranges)
    whole = classes.free()
    return Reduced(
        tuple(rebuilt[root] for root in left),
        tuple(rebuilt[root] for root in right),
        tuple((whole[place].extent, ranges[place].extent) for place in ranges),
    )


def _needed(
    place: Place, classes: Classes, left: Roots, right: Roots, infinite: bool
) -> int | None:
    """The extent e of the theorem, or None where it does not apply."""
    known: dict[ir.Scope, int | None] = {}
    for stage in stages(*left, *right):
        known[stage] = _count(stage, place, classes, known)
    most = 1
    for x, y in zip(left, right, strict=True):
        counts = [known[root] for root in (x, y)]
        if None in counts:
            return None
        sums = max(count for count in counts if count is not None)
        if sums > MOST_TERMS or (sums and infinite):
            return None
        loops = sum(classes.of((x, d)) == place for d in range(len(x.loops)))
        most = max(most, loops + sums + (1 if sums and not loops else 0))
    return most


def _count(
    scope: ir.Scope, place: Place, classes: Classes, known: Mapping[ir.Scope, int | None]
) -> int | None:
    """The most sum iterators of the class in one term of the scope; None where such a sum is
    inside of what is no polynomial of it."""
    sums = range(len(scope.loops), len(scope.domain))
    own = sum(classes.of((scope, position)) == place for position in sums)
    inner = fold(scope.body, partial(_degree, known))
    shown = inner is not None and (scope.reducer == "sum" or not (own or inner))
    return own + (inner or 0) if shown else None


def _degree(
    known: Mapping[ir.Scope, int | None], node: ir.Node, parts: tuple[int | None, ...]
) -> int | None:
    """The most sums in one term of a scalar expression, by those of its parts and of the scopes
    that it reads."""
    if isinstance(node, ir.Access) and isinstance(node.source, ir.Scope):
        return known[node.source]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    match node:
        case ir.Power():
            return found[0] * node.exponent if node.exponent > 0 or not found[0] else None
        case ir.Apply():
            return None if any(found) else 0
        case ir.Mul():
            return sum(found)
    return max(found, default=0)


def _rebuilt(
    order: Sequence[ir.Scope], classes: Classes, ranges: Mapping[Place, Range]
) -> dict[ir.Scope, ir.Scope]:
    """Every scope with the new ranges; a sum's last label counts for all that it stands for."""
    done: dict[ir.Scope, ir.Scope] = {}

    def on_access(access: ir.Access) -> ir.Node:
        source = access.source
        if isinstance(source, ir.Scope):
            return expr.access(done[source], access.rows, access.fill)
        if source is INDEX:
            return access
        shape = [
            ranges[at].extent if (at := classes.of((source.name, d))) in ranges else extent
            for d, extent in enumerate(source.shape)
        ]
        small = expr.tensor(source.name, shape, source.dtype, source.bounds)
        return expr.access(small, access.rows, access.fill)

    for stage in order:
        domain = list(stage.domain)
        body = rebuild(stage.body, on_access) if accesses(stage.body) else stage.body
        for position, bound in enumerate(stage.domain):
            new = domain[position] = ranges.get(classes.of((stage, position)), bound)
            if position >= len(stage.loops) and new != bound:
                last = affine.shift(affine.iterator(position), 1 - new.hi)
                times = expr.const(bound.extent - new.extent + 1)
                weight = expr.select([ir.Condition("==", last)], times, expr.const(1))
                body = expr.mul(weight, body)
        first = len(stage.loops)
        done[stage] = make_scope(domain[:first], domain[first:], body, stage.reducer)
    return done
