"""Translation of expressions to formal sums.

Scopes that both sides of a comparison hold are taken as they are.  All others are replaced by their
definitions: the terms of a sum join those of its reader, its ranges become conditions, and outside
of its loops it is the reader's fill.  The operand of a function, or of a reduction by max, min or
prod, is cut into pieces on which its form does not depend on where reads miss.  Each piece is a
leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import prod
from typing import NamedTuple

from einderive.derivations.checker import axioms, positions
from einderive.derivations.checker.families import Families
from einderive.derivations.checker.formal import (
    ONE,
    Atom,
    NotShown,
    Sum,
    Term,
    bound_by,
    complement,
    product,
    scaled,
    undecided,
    used_by,
    within,
    without,
)
from einderive.derivations.checker.infinities import require_single
from einderive.derivations.checker.regions import MOST_PIECES, guard, pieces
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir import node as ir
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.positions import INDEX

MOST_STEPS = 100_000
"""At most this many expressions are translated for one comparison."""
MOST_FACTORS = 4096

Conditions = tuple[ir.Condition, ...]
EMPTY: Sum = ()
NEUTRAL: Sum = (Term(ONE),)
"""The number 1, as a product may hold it any number of times."""


class Piece(NamedTuple):
    """A part of a reduction: the value of its body where the conditions hold."""

    bound: tuple[tuple[int, Range], ...]
    conditions: Conditions
    value: Sum


class Translation:
    """Both sides of one comparison: their variables and, in `families`, their leaves; `exp_sum`
    says whether exp(a + b) = exp(a)*exp(b) is among the axioms."""

    def __init__(
        self, families: Families, kept: Collection[ir.Source], exp_sum: bool = True
    ) -> None:
        self.families, self.kept, self.exp_sum = families, kept, exp_sum
        self.ranges: dict[int, Range] = dict(families.box)
        self._known: dict[tuple[ir.Node, tuple[Row, ...], bool], Sum] = {}
        self._inverses: dict[Atom, Atom] = {}
        """exp(a) for each 1/exp(a)."""
        self._steps = 0
        self.lenient = False
        """Whether sums may lose their value where the expression has one.  With that on one side,
        equal sums say that it has the other side's value wherever the other side has one."""

    def _strictly(self, make: Callable[[], Sum]) -> Sum:
        """The result of `make` for operands of functions.  Values that become one leaf have to be
        one value."""
        before, self.lenient = self.lenient, False
        try:
            return make()
        finally:
            self.lenient = before

    def fresh(self, ranges: Sequence[Range]) -> tuple[tuple[int, Range], ...]:
        """New variables of these ranges."""
        found = tuple((self.families.fresh(), side) for side in ranges)
        self.ranges.update(found)
        return found

    def scope(self, scope: ir.Scope, rows: Sequence[Row]) -> Sum:
        """The scope at the rows, which lie in its loops."""
        if scope.reducer != "sum":
            reducer = scope.reducer
            return self._strictly(
                lambda: self._reduced(reducer, self._parts(scope, rows, reducer, ()))
            )
        if any(side.extent == 0 for side in scope.sums):
            return ()
        sums = self.fresh(scope.sums)
        terms = self.expression(scope.body, (*rows, *(affine.iterator(v) for v, _ in sums)))
        return bound_by(terms, sums)

    def expression(self, node: ir.Node, at: Sequence[Row]) -> Sum:
        """The expression with row `at[i]` for its iterator i.  The result is kept if it binds no
        variables."""
        place = (node, tuple(at), self.lenient)
        found = self._known.get(place)
        if found is None:
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise NotShown("too large: sums within sums are read too many times")
            if isinstance(node, ir.Apply) or (isinstance(node, ir.Power) and node.exponent < 0):
                found = self._strictly(lambda: self._expression(node, at))
            else:
                found = self._expression(node, at)
            if not any(term.bound for term in found):
                self._known[place] = found
        return found

    def _expression(self, node: ir.Node, at: Sequence[Row]) -> Sum:
        match node:
            case ir.Const():
                return axioms.constant(node.value)
            case ir.Access():
                rows = tuple(affine.substitute(row, at) for row in node.rows)
                return self._read(node.source, rows, node.fill)
            case ir.Add():
                terms = (t for operand in node.terms for t in self.expression(operand, at))
                return positions.merged(tuple(terms), self.families)
            case ir.Mul():
                found = self._times([self.expression(factor, at) for factor in node.factors])
                return positions.merged(found, self.families)
            case ir.Power():
                count = abs(node.exponent)
                once = max([1, *(len(t.atoms) for t in self.expression(node.base, at))])
                if count * once > MOST_FACTORS:
                    raise NotShown(f"too large: a power of {count * once} factors")
                if node.exponent < 0:  # without bound variables, so it may stand several times
                    return self._times([self._reciprocal(self.expression(node.base, at))] * count)
                return self._times([self.expression(node.base, at) for _ in range(count)])
            case ir.Apply() if FUNCTIONS[node.function].reducer:
                reducer = FUNCTIONS[node.function].reducer
                return self._reduced(reducer, self._body_parts(node, at, reducer))
            case ir.Apply():
                operands = [self.expression(operand, at) for operand in node.args]
                return self._function(node.function, operands)
            case ir.Select():
                conditions = _placed(node.conditions, at)
                found = self._where(self.expression(node.then, at), conditions)
                otherwise = self.expression(node.otherwise, at)
                for excluded in complement(conditions):
                    found += self._where(otherwise, excluded)
                return found
        raise NotShown(f"{type(node).__name__} is not known to the checker")

    def _times(self, factors: Sequence[Sum]) -> Sum:
        """The distributive law, where it holds with infinities or `lenient` allows it."""
        if not self.lenient:
            require_single(factors, lambda term: guard(term, self.families, self.ranges))
        found = product(factors)
        return tuple(map(self._cancelled, found)) if self._inverses else found

    def _cancelled(self, term: Term) -> Term:
        """The term without its pairs of factors exp(a) and 1/exp(a)."""
        for inverse in term.atoms:
            base = self._inverses.get(inverse)
            if base in term.atoms:
                term = without(term, (inverse, base))
        return term

    def _read(self, source: ir.Source, rows: tuple[Row, ...], fill: ir.Number) -> Sum:
        """The source at the rows, its fill where they miss."""
        if source is INDEX:
            return positions.value(rows[0], self.families)
        inside = within(rows, source.ranges)
        if isinstance(source, ir.Scope) and source not in self.kept:
            found = self._where(self.scope(source, rows), inside)
        else:
            found = (Term(ONE, (), (), (self.families.read(source, rows),)),)
        for excluded in complement(undecided(inside, self.ranges)):
            found += self._where(axioms.constant(fill), excluded)
        return found

    def _where(self, terms: Sum, conditions: Conditions) -> Sum:
        """The terms where the conditions hold, 0 elsewhere."""
        needed = undecided(conditions, self.ranges)
        return tuple(t._replace(conditions=(*needed, *t.conditions)) for t in terms)

    def _reciprocal(self, base: Sum) -> Sum:
        """1/base, factor by factor where the base is a product; one that is 0 is no divisor."""
        found: Sum = ()
        for conditions, value in self._regions(base):
            inverse = axioms.known_value("^-1", value)
            if inverse is None:
                common, rest = axioms.common_factors(value, self._is_positive)
                constant = len(rest) == 1 and rest[0] == Term(rest[0].coefficient)
                factors = [*map(self._inverse, common)]
                factors.append(
                    (Term(1 / rest[0].coefficient),) if constant else self._applied("^-1", rest)
                )
                inverse = product(factors)
            found += self._where(inverse, conditions)
        return found

    def _is_positive(self, atom: Atom) -> bool:
        """Whether the atom is an exp, or 1/exp(a)."""
        return self.families.is_exp(atom) or atom in self._inverses

    def _inverse(self, atom: Atom) -> Sum:
        """1/atom, which an exp cancels against."""
        if atom in self._inverses:
            return (Term(ONE, atoms=(self._inverses[atom],)),)
        inverse = self._applied("^-1", (Term(ONE, atoms=(atom,)),))
        if self.families.is_exp(atom):
            self._inverses[inverse[0].atoms[0]] = atom
        return inverse

    def _function(self, name: str, operands: Sequence[Sum]) -> Sum:
        """A function of expressions, with what the axioms know of it."""
        found: Sum = ()
        for conditions, parts in self._in_regions(operands):
            found += self._where(self._of_operands(name, parts), conditions)
        return found

    def _of_operands(self, name: str, parts: Sequence[Sum]) -> Sum:
        """The function's value for operands that are one formal sum each."""
        value = axioms.known_function(name, parts)
        if value is not None:
            return value
        name, parts = axioms.as_comparison(name, parts)
        if name == "not_equal" and axioms.ZERO in parts:
            (value,) = (part for part in parts if part != axioms.ZERO)
            if self.families.is_truth(value):
                return value
        if len(parts) == 1:
            return self._of_one(name, parts[0])
        if FUNCTIONS[name].picks and not any(t.unbounded for part in parts[1:] for t in part):
            return self._chosen(name, parts)
        return self._of_several(name, parts)

    def _chosen(self, name: str, parts: Sequence[Sum]) -> Sum:
        """`choose(c, a, b)`, term by term of a and b, without the inputs that a term multiplies."""
        found: Sum = ()
        for inputs, operands in axioms.choices(parts, self.families.is_read):
            named, own = axioms.as_comparison(name, operands)
            made = self._of_several if named == name else self._of_operands
            found += product([(inputs,), made(named, own)])
        return found

    def _of_one(self, name: str, part: Sum) -> Sum:
        if name == "exp" and self.exp_sum:
            return product([self._exponential(each) for each in axioms.exponents(part)])
        factor, rest = axioms.without_factor(name, part)
        return scaled(self._applied(name, rest), factor)

    def _exponential(self, argument: Sum) -> Sum:
        """exp of the argument: 1/exp(a) of a finite term -a."""
        one = len(argument) == 1 and not argument[0].unbounded
        if not one or argument[0].coefficient > 0:
            return self._applied("exp", argument)
        ((_, _, _, atoms), *_) = self._applied("exp", scaled(argument, -ONE))
        return self._inverse(atoms[0])

    def _in_regions(self, operands: Sequence[Sum]) -> list[tuple[Conditions, tuple[Sum, ...]]]:
        """The operands on regions that exclude each other, one after the other."""
        found: list[tuple[Conditions, tuple[Sum, ...]]] = [((), ())]
        for operand in operands:
            cut = self._regions(operand)
            found = [
                ((*conditions, *further), (*parts, part))
                for conditions, parts in found
                for further, part in cut
            ]
            if len(found) > MOST_PIECES:
                raise NotShown("too large: the operands fall into too many pieces")
        return found

    def _of_several(self, name: str, parts: Sequence[Sum]) -> Sum:
        """Operands as one formal sum, a leaf each that tells its place, where places matter.  Where
        they do not, two entries of one leaf stand in the order of their rows, whatever the names of
        the iterators are: equal(A[i], A[j]) with i <= j."""
        same = FUNCTIONS[name].symmetric
        atoms = [
            self.families.atom(axioms.OPERAND.format(name, 0 if same else place), part)
            for place, part in enumerate(parts)
        ]
        found: Sum = ()
        for conditions, step in axioms.orders(atoms) if same else [((), 1)]:
            ordered = tuple(Term(ONE, atoms=(atom,)) for atom in atoms[::step])
            found += self._where(self._applied(name, ordered), conditions)
        return found

    def _regions(self, value: Sum) -> list[tuple[Conditions, Sum]]:
        return pieces(value, self.families, self.ranges)

    def _applied(self, name: str, arg: Sum) -> Sum:
        """`name(arg)`, a leaf as it is."""
        return (Term(ONE, (), (), (self.families.atom(name, arg),)),)

    def _reduced(self, reducer: str, pieces: list[Piece]) -> Sum:
        """max and min of the set of the values of the pieces, prod of all of them."""
        pieces = [Piece(b, undecided(c, self.ranges), value) for b, c, value in pieces]
        if reducer == "prod":
            return self._product(pieces)
        factor, outside = ONE, EMPTY
        if len(pieces) == 1:
            ((bound, conditions, value),) = pieces
            reduced = [variable for variable, _ in bound]
            if not conditions and used_by(value, ()).isdisjoint(reduced):
                return value
            value, outside = axioms.pulled(value, reduced)
            factor, reducer, value = axioms.reduced_without_factor(reducer, value)
            pieces = [Piece(bound, conditions, value)]
        atom = self.families.atom(reducer, self._members(pieces))
        return (*scaled((Term(ONE, (), (), (atom,)),), factor), *outside)

    def _members(self, pieces: Sequence[Piece], neutral: Sum | None = None) -> Sum:
        """The values of the pieces, one leaf each, without those that are `neutral`."""
        members: Sum = ()
        for bound, conditions, value in pieces:
            for further, part in self._regions(value):
                needed = undecided((*conditions, *further), self.ranges)
                if part != neutral:
                    members += (Term(ONE, bound, needed, (self._value(part),)),)
        return members

    def _product(self, pieces: Sequence[Piece]) -> Sum:
        """The product of the values, a leaf for each factor of each piece."""
        factors: list[Sum] = []
        for bound, conditions, value in pieces:
            for factor in axioms.factors(value):
                if factor == NEUTRAL:
                    continue
                used = used_by(factor, conditions)
                own = tuple((variable, side) for variable, side in bound if variable in used)
                times = prod(side.extent for variable, side in bound if variable not in used)
                several = any(term.bound for term in factor)  # copies need variables of their own
                if several or times > axioms.MOST_COPIES:
                    own, times = bound, 1
                if own or conditions:
                    members = self._members([Piece(own, conditions, factor)], NEUTRAL)
                    factor = self._applied("prod", members)
                factors += [factor] * times
        return self._times(factors)

    def _value(self, value: Sum) -> Atom:
        """The value as a leaf: itself, where it is one."""
        if len(value) == 1 and value[0].atoms and value[0] == Term(ONE, atoms=value[0].atoms[:1]):
            return value[0].atoms[0]
        return self.families.atom("value", value)

    def _parts(
        self, scope: ir.Scope, rows: Sequence[Row], reducer: str, conditions: Conditions
    ) -> list[Piece]:
        """The pieces of a reduction's body; reductions by the same reducer become one."""
        sums = self.fresh(scope.sums)
        at = (*rows, *(affine.iterator(variable) for variable, _ in sums))
        if any(side.extent == 0 for side in scope.sums):
            return [Piece((), conditions, axioms.constant(REDUCERS[reducer].identity))]
        found = self._body_parts(scope.body, at, reducer)
        return [
            Piece(sums + piece.bound, (*conditions, *piece.conditions), piece.value)
            for piece in found
        ]

    def _body_parts(self, node: ir.Node, at: Sequence[Row], reducer: str) -> list[Piece]:
        """The pieces of one body: branches, operands of the reducer's own operation, and nested
        scopes without a reduction or with the same one."""
        if isinstance(node, ir.Select):
            conditions = _placed(node.conditions, at)
            found = [(conditions, node.then)]
            found += [(excluded, node.otherwise) for excluded in complement(conditions)]
            return [
                Piece(piece.bound, (*conditions, *piece.conditions), piece.value)
                for conditions, branch in found
                for piece in self._body_parts(branch, at, reducer)
            ]
        if isinstance(node, ir.Mul) and reducer == "prod":
            return [p for factor in node.factors for p in self._body_parts(factor, at, reducer)]
        if isinstance(node, ir.Apply) and FUNCTIONS[node.function].reducer == reducer:
            return [p for operand in node.args for p in self._body_parts(operand, at, reducer)]
        if isinstance(node, ir.Access) and isinstance(node.source, ir.Scope):
            source = node.source
            same = not source.sums or source.reducer == reducer
            if same and source not in self.kept:
                rows = tuple(affine.substitute(row, at) for row in node.rows)
                inside = within(rows, source.ranges)
                parts = self._parts(source, rows, reducer, inside)
                for excluded in complement(undecided(inside, self.ranges)):
                    parts.append(Piece((), excluded, axioms.constant(node.fill)))
                return parts
        return [Piece((), (), self.expression(node, at))]


def _placed(conditions: Sequence[ir.Condition], at: Sequence[Row]) -> Conditions:
    return tuple(ir.Condition(c.relation, affine.substitute(c.row, at)) for c in conditions)
