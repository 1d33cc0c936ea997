"""Identities with pattern variables in the notation: the formulas of rules.

    sum[s,t](g(s)*f(s,t)) = sum[s](g(s)*sum[t](f(s,t)))
    sum[i](f(i)) = sum[j](f(a+b-1-j)) where i in a:b, j in a:b

    f(i), a    a body: any expression of the iterators in its brackets and of the loops around
    a:b, k     an integer: a name in a range, or in a comparison of the clause
    i in a:b   an iterator
    s          an iterator without a range: any number of iterators
    p          an index that nothing binds: any index of the loops around
    f(i) = r   in the clause: the body f has to satisfy this for every i

An identity holds inside of any loops.  The loops around are left out: each body may use them, and
each `{...}` has them as further loops, read where they stand.  An `Instance` chooses what the names
stand for.  The two sides are then scopes like any others, made by the usual constructors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple, TypeAlias

from lark import Lark, Token, Tree
from lark.exceptions import LarkError, VisitError

from einderive.ta.errors import FormulaSyntaxError, RangeError
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.subst import rebuild, stages, substitute
from einderive.ta.notation.conditions import select_on
from einderive.ta.notation.index import row
from einderive.ta.notation.lowering import Frame, closed_scope, scalar, statement_scope
from einderive.ta.refusals import NotationError
from einderive.ta.syntax import tree
from einderive.ta.syntax.tables import LANGUAGE
from einderive.ta.syntax.tree_builder import TreeBuilder, token_span
from einderive.ta.syntax.walks import iterator_names

Part: TypeAlias = Tree[Token]

WIDE = Range(-(1 << 20), 1 << 20)
"""The range of a body's iterators.  Nothing reads a body outside of it."""


@dataclass(frozen=True, slots=True)
class Instance:
    """The objects that the names of an identity stand for.

    - `sizes`: an integer for each name of an integer.
    - `ranges`: several ranges for each iterator without a range.
    - `rows`: a row of the iterators `around` for each index that nothing binds.
    - `around`: the ranges of the loops around.
    - `bodies`: for each body a scope over the iterators in its brackets and then those around, each
      with the range `WIDE`.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Range, ...]] = field(default_factory=dict)
    rows: Mapping[str, Row] = field(default_factory=dict)
    around: tuple[Range, ...] = ()
    bodies: Mapping[str, Scope] = field(default_factory=dict)


class Occurrence(NamedTuple):
    """A name in an identity with its role there.

    The role is "size"; "ranged" for an iterator with a range in the clause, "local" for one of a
    scope, "bound" for one of a reducer; "index"; or "body", with the `names` in its brackets.
    """

    role: str
    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Identity:
    """One equation.  `text` is the equation as it was written."""

    text: str
    left: Part = field(repr=False)
    right: Part = field(repr=False)
    clause: tuple[Part, ...] = field(repr=False)

    @cached_property
    def _roles(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """The names in each role, in the order of the text."""
        found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for part, role in ((self.left, "body"), (self.right, "body"), *self._stated):
            for occurrence in _occurrences(part, role):
                found[occurrence.role].setdefault(occurrence.name, occurrence.names)
        return found

    @property
    def _stated(self) -> Iterator[tuple[Part, str]]:
        """Ranges and conditions of the clause."""
        single = (_trees(part) for part in self.clause)
        return ((found[0], "size") for found in single if len(found) == 1)

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of integers."""
        return tuple(self._roles["size"])

    @cached_property
    def bodies(self) -> Mapping[str, tuple[str, ...]]:
        """The names of bodies, each with the names in its brackets at its first occurrence."""
        return {n: given for n, given in self._roles["body"].items() if n not in self.sizes}

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """The iterators without a range."""
        return tuple(name for name in self._roles["bound"] if name not in self._roles["ranged"])

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The indices that nothing binds."""
        roles = self._roles
        known = {*roles["bound"], *roles["local"], *self.sizes}
        return tuple(name for name in roles["index"] if name not in known)

    def sides(self, chosen: Instance) -> tuple[Scope, Scope] | None:
        """Both sides, over the loops that a side `{L[...] ...}` names and those around.  None if a
        condition of the clause fails."""
        builder = _Builder(chosen, self)
        stated = [part for part, _ in self._stated]
        try:
            for part in stated:
                if part.data != "range" and builder.fails(part):
                    return None
            clause = [builder.transform(part) for part in stated if part.data == "range"]
            builder.given = {binding.name: binding.range for binding in clause}
            bound = [name for name in self.parameters if name in builder.given]
            rows, allowed = [chosen.rows[n] for n in bound], [builder.given[n] for n in bound]
            if not affine.within(rows, allowed, chosen.around):
                return None
            return builder.side(self.left), builder.side(self.right)
        except VisitError as error:
            problem = error.orig_exc
        except NotationError as error:
            problem = error
        if not isinstance(problem, NotationError):
            raise problem
        if problem.kind is RangeError:
            return None  # a range ends before it begins
        raise problem.complete(self.text)

    def restricted(self, chosen: Instance) -> Instance:
        """The instance with bodies that satisfy the clause: the requirement `f(i) = r(f)` is met by
        taking r(f) of the given f as the body."""
        for left, right in (_trees(part) for part in self.clause if len(_trees(part)) > 1):
            name = str(left.children[0])
            body = chosen.bodies[name]
            whole = make_scope((*body.loops, *body.sums), (), body.body)
            builder = _Builder(replace(chosen, bodies={**chosen.bodies, name: whole}), self)
            builder.around |= {f"own{n}": bound for n, bound in enumerate(body.sums)}
            names = (
                read.name
                for index in builder.transform(left).indices
                for read in iterator_names(index)
            )
            frame = Frame(builder.chosen.bodies, tuple(names), whole.loops)
            made = make_scope(whole.loops, (), scalar(builder.transform(right), frame))
            made = _inlined(made, builder.chosen.bodies)
            made = make_scope(body.loops, body.sums, made.body, body.reducer)
            chosen = replace(chosen, bodies={**chosen.bodies, name: made})
        return chosen


def _occurrences(part: Part | Token, role: str) -> Iterator[Occurrence]:
    """The names of a part, in which a bare name has the role."""
    if isinstance(part, Token):
        return
    inside = part.children
    first = str(inside[0]) if inside and isinstance(inside[0], Token) else ""
    if part.data == "name":
        yield Occurrence(role, first)
    elif part.data == "call" and first not in (*FUNCTIONS, "where"):
        yield Occurrence("body", first, _names(part))
        role = "index"
    elif part.data == "bound":
        role = "size"
    elif part.data in ("range", "binding"):
        yield Occurrence("ranged", first)
        if part.data == "binding":
            yield Occurrence("local", first)
    elif part.data == "comparison" and role == "body":
        role = "index"
    for child in inside:
        items = isinstance(child, Tree) and child.data == "items"
        chosen = {"reduction": "bound", "read": "index"}.get(part.data, role) if items else role
        yield from _occurrences(child, chosen)


def _trees(part: Part) -> list[Part]:
    return [child for child in part.children if isinstance(child, Tree)]


def _names(call: Part) -> tuple[str, ...]:
    """The arguments of a call: names, and an empty text for every other argument."""
    items = [item for child in _trees(call) for item in _trees(child)]
    return tuple(str(item.children[0]) if item.data == "name" else "" for item in items)


class _Builder(TreeBuilder):
    """Syntax trees of an instance: ordinary ones, in which a body is a tensor that is read at what
    it is given and at all iterators around."""

    def __init__(self, chosen: Instance, identity: Identity) -> None:
        super().__init__()
        self.chosen, self.identity = chosen, identity
        self.around = {f"around{n}": bound for n, bound in enumerate(chosen.around)}
        self.several = {
            name: {f"{name}_{n}": bound for n, bound in enumerate(chosen.ranges.get(name, ()))}
            for name in identity.groups
        }
        self.given: dict[str, Range] = {}

    def side(self, part: Part) -> Scope:
        """The scope that a side is."""
        value = self.transform(part)
        if isinstance(value, tree.ScopeText):
            found = closed_scope(value, self.chosen.bodies)
        else:
            known = self.around | self.given
            for group in self.several.values():
                known |= group
            loops = self._surroundings(value.span)
            found = statement_scope(value, loops, Frame(self.chosen.bodies, bindable=known))
        return _inlined(found, self.chosen.bodies)

    def fails(self, condition: Part) -> bool:
        """Whether a condition on integers does not hold."""
        one, zero = expr.const(1), expr.const(0)
        stated = self.transform(condition)
        return select_on(stated, one, zero, lambda index: row(index, Frame({}))) is zero

    def name(self, children: list[Any]) -> tree.Expression:
        name, span = str(children[0]), token_span(children[0])
        if name in self.chosen.sizes:
            return tree.Number(span, Fraction(self.chosen.sizes[name]))
        if name in self.chosen.rows:
            return self._index(self.chosen.rows[name], span)
        plain = tree.Name(span, name)
        return self._body(plain, []) if name in self.chosen.bodies else plain

    def call(self, children: list[Any]) -> tree.Expression:
        if children[0] not in self.chosen.bodies:
            return super().call(children)
        given = next((child for child in children if isinstance(child, list)), [])
        return self._body(
            tree.Name(token_span(children[0]), str(children[0])), self._several(given)
        )

    def reduction(self, children: list[Any]) -> tree.Reduction | tree.Defined:
        made = super().reduction(children)
        return replace(made, names=tuple(self._several(made.names)))

    def read(self, children: list[Any]) -> tree.Read:
        made = super().read(children)
        return replace(made, indices=(*made.indices, *self._surroundings(made.span)))

    def scope(self, children: list[Any]) -> tree.ScopeText:
        made = super().scope(children)
        loops = [b for binder in made.binders if binder.kind == "L" for b in binder.bindings]
        loops += [tree.Binding(made.span, name, bound) for name, bound in self.around.items()]
        others = (binder for binder in made.binders if binder.kind != "L")
        return replace(made, binders=(tree.Binder(made.span, "L", tuple(loops)), *others))

    def _index(self, row: Row, span: tree.Span) -> tree.Expression:
        """The row as text would give it."""

        def scaled(value: tree.Expression, factor: int) -> tree.Expression:
            return tree.Product(span, (("*", value), ("*", tree.Number(span, Fraction(factor)))))

        names = self._surroundings(span)
        terms: list[tree.Expression] = [tree.Number(span, Fraction(row.const))]
        terms += [scaled(names[i], a) for i, a in row.terms]
        for inner, n, a in row.floors:
            divided = (("*", self._index(inner, span)), ("//", tree.Number(span, Fraction(n))))
            terms.append(scaled(tree.Product(span, divided), a))
        return tree.Sum(span, tuple((False, term) for term in terms))

    def _body(self, name: tree.Name, indices: Iterable[tree.Expression]) -> tree.Read:
        return tree.Read(name.span, name, None, (*indices, *self._surroundings(name.span)))

    def _surroundings(self, span: tree.Span) -> list[tree.Name]:
        return [tree.Name(span, name) for name in self.around]

    def _several(self, given: Iterable[tree.Expression]) -> list[Any]:
        """The expressions with each iterator that stands for several replaced by these."""
        found: list[tree.Expression] = []
        for item in given:
            if isinstance(item, tree.Name) and item.name in self.several:
                found += [tree.Name(item.span, name) for name in self.several[item.name]]
            else:
                found.append(item)
        return found


def _inlined(scope: Scope, bodies: Mapping[str, Scope]) -> Scope:
    """The scope with what each body is in the place of its reads.  A body with a reduction of its
    own can only be the whole of a scope without one; elsewhere its reads stay."""
    known = set(bodies.values())
    done: dict[Scope, Scope] = {}

    def filled(access: Access) -> Node:
        source = access.source
        if not isinstance(source, Scope):
            return access
        if source in known and not source.sums:
            return substitute(source.body, access.rows)
        return expr.access(done.get(source, source), access.rows, access.fill)

    for stage in stages(scope):
        whole = stage.body
        if stage in known:
            continue
        body = whole.source if isinstance(whole, Access) else None
        if (
            isinstance(whole, Access)
            and isinstance(body, Scope)
            and body in known
            and not stage.sums
        ):
            count = len(stage.loops)
            inner = affine.iterator_rows(count + len(body.sums))[count:]
            filled_in = substitute(body.body, (*whole.rows, *inner))
            done[stage] = make_scope(stage.loops, body.sums, filled_in, body.reducer)
        else:
            done[stage] = make_scope(stage.loops, stage.sums, rebuild(whole, filled), stage.reducer)
    return done[scope]


@lru_cache(maxsize=1)
def _parser() -> Lark:
    places = (("syntax", "grammar.lark"), ("identities", "identity.lark"))
    folders = ((files(f"einderive.ta.{room}"), name) for room, name in places)
    texts = (folder.joinpath(name).read_text("utf-8") for folder, name in folders)
    options = {**LANGUAGE, "start": "formula", "propagate_positions": True}
    return Lark("\n".join(texts), **options)


@lru_cache(maxsize=256)
def identities(text: str) -> tuple[Identity, ...]:
    """The identities of a formula, one a line.  Raises FormulaSyntaxError."""
    try:
        parsed = _parser().parse(text)
    except LarkError as error:
        raise FormulaSyntaxError(str(error), text=text) from None
    found = []
    for each in _trees(parsed):
        left, right, *clause = _trees(each)
        parts = tuple(_trees(clause[0])) if clause else ()
        found.append(Identity(text[each.meta.start_pos : each.meta.end_pos], left, right, parts))
    return tuple(found)
