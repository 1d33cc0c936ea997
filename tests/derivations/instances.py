"""Whether two scopes are an instance of an identity.

What its names stand for is found by matching the left side with one scope, and where that does not
say it, by trying what the other scope holds.  Both sides are then built and compared with both
scopes: the search may miss an instance, but what it finds is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations, product
from typing import TypeVar

from lark import Token, Tree

from einderive.ta.errors import FormulaSyntaxError
from einderive.ta.functions import FUNCTIONS
from einderive.ta.identities.identity import WIDE, Identity, Instance
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row, row_range, within
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Power,
    Scope,
    Select,
)
from einderive.ta.ir.sources import replace_sources
from einderive.ta.ir.subst import accesses, rebuild, rename, replace_node, stages, substitute, walk
from einderive.ta.printing.show import show
from tests.derivations.sameness import same

MOST_USES, MOST_REACHED = 2, 4
"""A step may use an identity in several places; so many ways are followed."""
BEYOND = 100
"""Iterators of nested scopes are counted from here."""
RELATIONS = {"<": ">=", "<=": ">=", ">": ">=", ">=": ">=", "==": "=="}
"""How a condition of a choice says that the difference of two indices is so."""
LOOKED_AT = Range(-3, 20)
"""Where a body is compared with what the clause says of it."""

Part = Tree[Token]
Owner = TypeVar("Owner", int, str)


@dataclass(frozen=True)
class Match:
    """Names found so far, in the iterators of the scope at hand: `places` are those of iterators,
    `around` the iterators that the identity leaves out, `rows` the indices that nothing binds,
    `beyond` the ranges of a nested scope's iterators."""

    places: Mapping[str, tuple[int, ...]]
    around: tuple[int, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    bodies: Mapping[str, Scope] = field(default_factory=dict)
    rows: Mapping[str, Row] = field(default_factory=dict)
    beyond: tuple[Range, ...] = ()

    def size(self, name: str, value: int) -> Iterator[Match]:
        if self.sizes.get(name, value) == value:
            yield replace(self, sizes={**self.sizes, name: value})


def is_instance(identity: Identity, before: Scope, after: Scope) -> bool:
    """Whether the identity, used from left to right, makes the second scope of the first."""
    before, after = normal(before), normal(after)
    once = any(len(part.children) > 1 for part in identity.clause if part.data == "requirement")
    found = [before]
    for _ in range(MOST_USES):
        reached: dict[Scope, None] = {}
        for start, stage in ((each, stage) for each in found for stage in stages(each)):
            matcher = Matcher(identity, stage)
            for match, made in matcher.uses(after):
                new = normal(replace_sources(start, {stage: made}))
                if new is after and matcher.restricted(match):
                    return True
                reached[new] = None
        if once:
            return False
        found = list(reached)[:MOST_REACHED]
    return False


@dataclass(frozen=True)
class Matcher:
    """An identity and a scope that it is to be used on."""

    identity: Identity
    stage: Scope

    def uses(self, after: Scope) -> Iterator[tuple[Match, Scope]]:
        """What the identity makes of the scope; `after` is what it may have become in the end."""
        for match in self.matches():
            for chosen in self.completed(match, after):
                try:
                    made = self.used(chosen)
                except (ValueError, FormulaSyntaxError):
                    continue
                if made is not None and made is not self.stage:
                    yield chosen, made

    def used(self, match: Match) -> Scope | None:
        identity, stage = self.identity, self.stage
        chosen = self.instance(match)
        sides = identity.sides(chosen)
        if sides is None:
            return None
        left, right = (normal(self.closed(side, match)) for side in sides)
        if identity.left.data in ("scope", "reduction"):
            return right if left is stage else None
        body = replace_node(stage.body, left.body, right.body)
        return make_scope(stage.loops, stage.sums, body, stage.reducer)

    def closed(self, side: Scope, match: Match) -> Scope:
        """The side in the iterators of the scope: with its loops, and, where the identity is one
        of reductions, with the reduction iterators that it leaves out; a term over all."""
        stage = self.stage
        first = len(stage.loops)
        local = [match.places[name][0] for name in self.loops()]
        rows = [affine.iterator(i) for i in (*local, *match.around)]
        if self.identity.left.data not in ("scope", "reduction"):
            return make_scope(stage.domain, (), substitute(side.body, rows))
        kept = [i for i in match.around if i >= first]
        place = {i: affine.iterator(i) for i in range(first)}
        place |= {i: affine.iterator(first + n) for n, i in enumerate(kept)}
        rows = [affine.substitute(row, place) for row in rows]
        rows += [affine.iterator(first + len(kept) + n) for n in range(len(side.sums))]
        sums = [*(stage.domain[i] for i in kept), *side.sums]
        reducer = side.reducer if side.sums else stage.reducer
        return make_scope(stage.loops, sums, substitute(side.body, rows), reducer)

    def instance(self, match: Match) -> Instance:
        domain = dict(enumerate(self.stage.domain)) | dict(enumerate(match.beyond, BEYOND))
        ranges = {n: tuple(domain[i] for i in match.places[n]) for n in self.identity.groups}
        place = {old: affine.iterator(new) for new, old in enumerate(match.around)}
        rows = {name: affine.substitute(row, place) for name, row in match.rows.items()}
        around = tuple(domain[i] for i in match.around)
        return Instance(match.sizes, ranges, rows, around, match.bodies)

    def restricted(self, match: Match) -> bool:
        """Whether the bodies are such as the clause requires."""
        chosen = self.instance(match)
        made = self.identity.restricted(chosen).bodies
        for name in (n for n in made if made[n] is not chosen.bodies[n]):
            count = len(self.identity.bodies[name])
            loops = (*(LOOKED_AT,) * count, *chosen.around, *chosen.bodies[name].sums)
            left, right = (make_scope(loops, (), b[name].body) for b in (made, chosen.bodies))
            if not same(left, right):
                return False
        return True

    def completed(self, match: Match, after: Scope) -> Iterator[Match]:
        """With what the left side does not say chosen from the other scope: the numbers it is
        written with, rows of this scope without the matched iterators, terms that are read."""
        identity = self.identity
        numbers = sorted({int(n) for n in re.findall(r"-?\d+", show(after))})
        for name, row in match.rows.items():
            span = row_range(row, self.stage.domain)
            for ranged in (p for p in identity.clause if head(below(p)[0]) == name):
                sizes = map(head, (below(end)[0] for end in below(below(ranged)[0])))
                match = replace(match, sizes=match.sizes | dict(zip(sizes, span, strict=True)))
        sizes = [name for name in identity.sizes if name not in match.sizes]
        bodies = [name for name in identity.bodies if name not in match.bodies]
        rows = [name for name in identity.parameters if name not in match.rows]
        held = sum(1 << i for i in match.around)
        terms = [self._read_as(name, match, after) for name in bodies]
        placed = {i for places in match.places.values() for i in places}
        reads = [row for a in accesses(self.stage.body) for row in a.rows if not row.floors]
        others = [r._replace(terms=tuple(t for t in r.terms if t[0] not in placed)) for r in reads]
        others = [row for row in others if not affine.mask(row) & ~held]
        for some in product(numbers, repeat=len(sizes)):
            for few in product(*terms):
                for those in product(dict.fromkeys(others), repeat=len(rows)):
                    yield replace(
                        match,
                        sizes={**match.sizes, **dict(zip(sizes, some, strict=True))},
                        bodies={**match.bodies, **dict(zip(bodies, few, strict=True))},
                        rows={**match.rows, **dict(zip(rows, those, strict=True))},
                    )

    def _read_as(self, name: str, match: Match, after: Scope) -> list[Scope]:
        """What the body may stand for: terms in its iterators that are read by what `after`
        reads."""
        places = [i for given in self.identity.bodies[name] for i in match.places[given]]
        order = (*places, *match.around)
        held = sum(1 << i for i in order)
        terms = (term for term in read_within(after) if not term.free & ~held)
        return [*dict.fromkeys(self.body(term, order) for term in terms)]

    def loops(self) -> list[str]:
        """The loops of a left side `{L[...] ...}`."""
        if self.identity.left.data != "scope":
            return []
        binder, *_ = (b for b in below(self.identity.left) if b.data == "binder")
        return [head(binding) for binding in below(binder)]

    def matches(self) -> Iterator[Match]:
        """Matches of the left side: with the whole scope, with its reduction, with sub-terms."""
        left, stage = self.identity.left, self.stage
        first, count = len(stage.loops), len(stage.domain)
        if left.data == "scope":
            loops = self.loops()
            sums = [head(b) for binder in below(left)[1:-1] for b in below(binder)]
            for chosen in permutations(range(first), len(loops)):
                around = tuple(i for i in range(first) if i not in chosen)
                for reduced in permutations(range(first, count), len(sums)):
                    for match in self.placed([*loops, *sums], [*chosen, *reduced], {}, around):
                        if sums:
                            yield from self.matched(below(left)[-1], stage.body, match)
                        else:
                            body = self.body(stage.body, (*chosen, *around), stage.sums)
                            yield replace(match, bodies={head(below(left)[-1]): body})
        elif left.data == "reduction":
            names = [head(name) for name in below(below(left)[0])]
            ranged = [name for name in names if name not in self.identity.groups]
            groups = [name for name in names if name in self.identity.groups]
            if head(left) != stage.reducer or not stage.sums:
                return
            for chosen in permutations(range(first, count), len(ranged)):
                rest = [i for i in range(first, count) if i not in chosen]
                for owners in hands(groups or ("",), rest):
                    owned = list(zip(rest, owners, strict=True))
                    places = {g: tuple(i for i, owner in owned if owner == g) for g in groups}
                    around = (*range(first), *(i for i, owner in owned if not owner))
                    for match in self.placed(ranged, chosen, places, around):
                        yield from self.matched(below(below(left)[-1])[0], stage.body, match)
        else:
            for node in dict.fromkeys(part for term in walk(stage.body) for part in parts_of(term)):
                yield from self.matched(left, node, Match({}, tuple(range(count))))

    def placed(
        self,
        names: Sequence[str],
        chosen: Sequence[int],
        places: Mapping[str, tuple[int, ...]],
        around: tuple[int, ...],
    ) -> Iterator[Match]:
        """The names at these places, where the ranges' ends that are names or numbers allow it."""
        at = dict(zip(names, chosen, strict=True))
        matches = [Match({**places, **{name: (i,) for name, i in at.items()}}, around)]
        for part in (*self.identity.clause, self.identity.left):
            for ranged in part.find_pred(lambda p: p.data in ("range", "binding")):
                if head(ranged) in at:
                    bound = self.stage.domain[at[head(ranged)]]
                    for end, value in zip(below(ranged), bound, strict=True):
                        matches = [m for old in matches for m in ended(below(end)[0], value, old)]
        yield from matches

    def body(self, node: Node, order: Sequence[int], sums: tuple[Range, ...] = ()) -> Scope:
        """The term as a body that is given these iterators, with a reduction of its own."""
        count = len(order)
        place = {old: new for new, old in enumerate(order)}
        place |= {len(self.stage.loops) + n: count + n for n in range(len(sums))}
        return make_scope((WIDE,) * count, sums, rename(node, place), self.stage.reducer)

    def matched(self, part: Part, node: Node, match: Match) -> Iterator[Match]:
        """All ways in which the term is what the part says."""
        name, inner = head(part), below(part)
        if part.data == "parentheses":
            yield from self.matched(inner[0], node, match)
        elif part.data == "name" and name in self.identity.sizes:
            if isinstance(node, Const) and node.value == int(node.value):
                yield from match.size(name, int(node.value))
        elif part.data in ("name", "call") and name in self.identity.bodies:
            given = [head(item) for items in inner for item in below(items)]
            if given and set(given) <= {*match.rows}:
                yield from self.at_rows(name, given, node, match)
            elif given and set(given) <= {*self.identity.parameters}:
                if isinstance(node, Access) and len(node.rows) == len(given):
                    rows = dict(zip(given, node.rows, strict=True))
                    order = tuple(range(BEYOND, BEYOND + len(given)))
                    read = expr.access(node.source, map(affine.iterator, order), node.fill)
                    body = self.body(read, (*order, *match.around))
                    yield replace(match, rows=rows, bodies={**match.bodies, name: body})
            else:
                order = (*(i for each in given for i in match.places[each]), *match.around)
                if not node.free & ~sum(1 << i for i in order):
                    body = self.body(node, order)
                    if match.bodies.get(name, body) is body:
                        yield replace(match, bodies={**match.bodies, name: body})
        elif part.data == "number":
            if isinstance(node, Const) and node.value == int(name):
                yield match
        elif part.data == "call" and name == "where" and isinstance(node, Select):
            yield from self.chosen(below(inner[0]), node, match)
        elif part.data == "call" and name == "where" and isinstance(node, Apply):
            if FUNCTIONS[node.function].picks:
                yield from self.in_turn(below(inner[0]), node.args, match)
        elif part.data == "call" and isinstance(node, Apply) and node.function == name:
            yield from self.in_turn(below(inner[0]), node.args, match)
        elif part.data == "power" and isinstance(node, Power) and node.exponent == 2:
            yield from self.matched(inner[0], node.base, match)
        elif part.data == "product":
            numbers = [p for p in inner if head(p) in self.identity.sizes]
            value, core = expr.split_coefficient(node)
            if not numbers:
                operands = node.factors if isinstance(node, Mul) else (node,)
                yield from self.dealt(inner, operands, match, expr.const(1))
            elif value == int(value):
                for found in match.size(head(numbers[0]), int(value)):
                    yield from self.in_turn([p for p in inner if p not in numbers], [core], found)
        elif part.data == "sum" and isinstance(node, Add):
            signs = [expr.const(-1 if sign == "-" else 1) for sign in part.children[1::2]]
            yield from self.dealt(inner, node.terms, match, None, (expr.const(1), *signs))
        elif part.data in ("reduction", "read") and isinstance(node, Access):
            yield from self.nested(part, node, match)

    def at_rows(self, name: str, given: Sequence[str], node: Node, match: Match) -> Iterator[Match]:
        """The term as a body at indices that are known: a body known by then has this value there;
        another is the term whatever index it is given."""
        around = match.around
        known = match.bodies.get(name)
        if known is not None:
            rows = [*(match.rows[each] for each in given), *map(affine.iterator, around)]
            if substitute(known.body, rows) is node:
                yield match
        elif not node.free & ~sum(1 << i for i in around):
            order = (*range(BEYOND, BEYOND + len(given)), *around)
            yield replace(match, bodies={**match.bodies, name: self.body(node, order)})

    def chosen(self, parts: Sequence[Part], node: Select, match: Match) -> Iterator[Match]:
        """A choice by one comparison: its condition, then its two branches."""
        comparison, *branches = parts
        if comparison.data != "comparison" or len(node.conditions) != 1:
            return
        for found in self.condition(comparison, node.conditions[0], match):
            yield from self.in_turn(branches, (node.then, node.otherwise), found)

    def condition(self, part: Part, condition: Condition, match: Match) -> Iterator[Match]:
        """`a < b` of two names, where the condition is b - a - 1 >= 0: an index is what is counted
        negatively, and the other index the rest; likewise for the other relations."""
        left, right = below(part)
        relation = str(part.children[1])
        names = {head(side): side.data for side in (left, right)}
        if set(names.values()) != {"name"} or not {*names} <= {*self.identity.parameters}:
            return
        if relation not in RELATIONS or condition.relation != RELATIONS[relation]:
            return
        difference = affine.shift(condition.row, int(relation in ("<", ">")))
        negative = Row(0, tuple((i, -a) for i, a in difference.terms if a < 0))
        for less in dict.fromkeys((negative, affine.constant(0))):
            both = (affine.add(difference, less), less)
            both = both[::-1] if relation in ("<", "<=") else both
            rows = dict(zip(names, both, strict=True))
            if all(match.rows.get(name, row) == row for name, row in rows.items()):
                yield replace(match, rows={**match.rows, **rows})

    def in_turn(
        self, parts: Sequence[Part], nodes: Sequence[Node], match: Match
    ) -> Iterator[Match]:
        if not parts:
            yield match
            return
        for found in self.matched(parts[0], nodes[0], match):
            yield from self.in_turn(parts[1:], nodes[1:], found)

    def dealt(
        self,
        parts: Sequence[Part],
        operands: Sequence[Node],
        match: Match,
        one: Node | None,
        signs: Sequence[Node] = (),
    ) -> Iterator[Match]:
        """The operands of a product (with `one`) or a sum dealt out to the parts in every way."""
        for owners in hands(range(len(parts)), operands):
            dealt = list(zip(operands, owners, strict=True))
            given = [[o for o, owner in dealt if owner == n] for n in range(len(parts))]
            if one is not None:
                nodes = [expr.mul(one, *some) for some in given]
            elif all(given):
                nodes = [expr.mul(s, expr.add(*g)) for s, g in zip(signs, given, strict=True)]
            else:
                continue
            yield from self.in_turn(parts, nodes, match)

    def nested(self, part: Part, node: Access, match: Match) -> Iterator[Match]:
        """A nested scope: its reduction, with all of its iterators, or one of its loops."""
        source = node.source
        if not isinstance(source, Scope):
            return
        new = [affine.iterator(BEYOND + n) for n in range(len(source.sums))]
        if part.data == "reduction" and source.sums and head(part) == source.reducer:
            (name,) = map(head, below(below(part)[0]))
            places = {**match.places, name: tuple(range(BEYOND, BEYOND + len(new)))}
            inner = substitute(source.body, [*node.rows, *new])
            start = replace(match, places=places, beyond=source.sums)
            yield from self.matched(below(below(part)[-1])[0], inner, start)
        elif part.data == "read" and not source.sums:
            scope, items = below(part)
            binder, body = below(scope)
            (binding,), (index,) = below(binder), below(items)
            low, high = (head(below(end)[0]) for end in below(binding))
            for loop, bound in enumerate(source.loops):
                rows = [*node.rows]
                rows[loop] = affine.iterator(BEYOND)
                start = replace(
                    match,
                    places={**match.places, head(binding): (BEYOND,)},
                    sizes={**match.sizes, low: bound.lo, high: bound.hi},
                    rows={head(index): node.rows[loop]},
                )
                yield from self.matched(body, substitute(source.body, rows), start)


def hands(owners: Sequence[Owner], items: Sequence[object]) -> Iterator[tuple[Owner, ...]]:
    """Every owner's way to own the items; none has nothing unless there are too few."""
    for chosen in product(owners, repeat=len(items)):
        if len(set(chosen)) == len(owners) or len(items) < len(owners):
            yield chosen


def below(part: Part) -> list[Part]:
    return [child for child in part.children if isinstance(child, Tree)]


def head(part: Part) -> str:
    """The name that a part begins with."""
    return str(part.children[0])


def ended(end: Part, value: int, match: Match) -> Iterator[Match]:
    """The match where a range can end here: a name stands for the value."""
    if end.data == "name":
        yield from match.size(head(end), value)
    elif end.data != "number" or int(head(end)) == value:
        yield match


def parts_of(term: Node) -> Iterator[Node]:
    """The term, and what some of its operands make."""
    yield term
    if isinstance(term, Mul | Add):
        operands = term.factors if isinstance(term, Mul) else term.terms
        make = expr.mul if isinstance(term, Mul) else expr.add
        for chosen in product((False, True), repeat=len(operands)):
            if sum(chosen) > 1:
                yield make(*(o for o, taken in zip(operands, chosen, strict=True) if taken))


def read_within(scope: Scope) -> Iterator[Node]:
    """What the scopes read that the scope's body reads, in its iterators."""
    for read in accesses(scope.body):
        if isinstance(read.source, Scope):
            within_loops = (1 << len(read.source.loops)) - 1
            for inner in accesses(read.source.body):
                if not inner.free & ~within_loops:
                    yield substitute(inner, read.rows)


def normal(scope: Scope) -> Scope:
    """The scope with the loops of those that it reads in a fixed order, idle ones left out."""

    def read(access: Access) -> Node:
        if not isinstance(access.source, Scope):
            return access
        source = normal(access.source)
        needed = [
            d
            for d, (row, bound) in enumerate(zip(access.rows, source.loops, strict=True))
            if source.body.free >> d & 1 or not within([row], [bound], scope.domain)
        ]
        made = [(with_loops(source, order), order) for order in permutations(needed)]
        chosen, order = min(made, key=lambda found: found[0].digest)
        return expr.access(chosen, [access.rows[d] for d in order], access.fill)

    return make_scope(scope.loops, scope.sums, rebuild(scope.body, read), scope.reducer)


def with_loops(scope: Scope, order: Sequence[int]) -> Scope:
    inner = range(len(scope.loops), len(scope.domain))
    body = rename(scope.body, {old: new for new, old in enumerate((*order, *inner))})
    return make_scope([scope.loops[d] for d in order], scope.sums, body, scope.reducer)
