"""Random programs with a side of a law in them, on terms for which the law's condition is known.

T[i] = where(tanh(A[i]*B[i-1]) < tanh(3*C[i]), A[i], 0);  Y[i,j] = T[i]*log(exp(B[j])*(1 + A[i]^2))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Final

from einderive.ta.facts.closed import closed_of, placed
from einderive.ta.facts.sides import fold_of, name_of, put, sides_of
from einderive.ta.functions import REDUCERS
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Const, Node, Number, Scope
from einderive.ta.ir.subst import substitute
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import NUMBERS, WHOLE
from tests.derivations.seeds import points
from tests.fuzz.generator import MOST_POINTS, Program, Statement
from tests.fuzz.typed import ComplexStatement, OfComplex

STEPS: Final = tuple(law.name for law in REAL_LAWS.values() if law.applies or law.closes)
"""The laws by which a step can be made; the others have no letters, and only `equivalent` uses
them."""
FOLD_SHARE = 0.3
"""Of the statements with a law that a max or min over an index has, those that have one."""


def law_program(random: Random, law: str) -> tuple[Scope, ...]:
    """One or two outputs, of at most MOST_POINTS points together, with sides of this law."""
    known = REAL_LAWS[law]
    kind = _OfComplexLaw if known.parts or "1j" in known.text else _OfLaw
    while True:
        try:
            roots = kind(random, law=law).roots()
        except ValueError:  # a constructor refuses
            continue
        if sum(map(points, roots)) <= MOST_POINTS and not isinstance(roots[0].body, Const):
            return roots


class _Statement(Statement):
    """A statement whose body is, or has as a part, a side of the law."""

    law: str

    def scope(self) -> Scope:
        random, law = self.random, REAL_LAWS[self.law]
        number = random.randrange(len(law.equations))
        if law.closes:
            return self.sum_over_index(number)
        fold = fold_of(law.name, number)
        if fold is not None and self.first < len(self.domain) and random.random() < FOLD_SHARE:
            found = self.terms(list(map(name_of, fold.all_letters)))
            values = {letter: self.free_of_sums(found[name_of(letter)]) for letter in fold.letters}
            values[fold.letter] = found[name_of(fold.letter)]
            self.reducer = fold.outer
            return self.made(put(fold.operand, values))
        backwards = not law.helps and random.random() < 0.5
        sides = sides_of(law.name, number, backwards) or sides_of(law.name, number, not backwards)
        assert sides is not None
        found = self.terms(list(map(name_of, sides.letters)))
        side = put(sides.before, {letter: found[name_of(letter)] for letter in sides.letters})
        return self.made(self.around(side))

    def made(self, body: Node) -> Scope:
        if may_be_complex(body) and REDUCERS[self.reducer].order:
            self.reducer = "sum"
        return make_scope(self.domain[: self.first], self.domain[self.first :], body, self.reducer)

    def around(self, side: Node) -> Node:
        """The side by itself, or as a part of a term."""
        random = self.random
        kind = random.random()
        if kind < 0.4:
            return side
        if kind < 0.55:
            return expr.mul(side, self.access())
        if kind < 0.7:
            return expr.add(side, self.expression(1))
        if kind < 0.8 and not may_be_complex(side):
            return expr.apply("choose", side, self.access(), self.otherwise(1))
        return expr.apply(random.choice(("exp", "tanh", "sin")), side)

    def terms(self, names: Sequence[str]) -> Mapping[str, Node]:
        """A term for each letter; together they satisfy the law's condition."""
        found: dict[str, Node] = {}
        for name in sorted(names, reverse=True):  # of a >= b, b comes first
            found[name] = self.term(name, found)
        return found

    def term(self, name: str, found: Mapping[str, Node]) -> Node:
        random, law = self.random, REAL_LAWS[self.law]
        if name in WHOLE:
            return expr.const(random.randint(3, 5) if name == "m" else 2)
        if name in NUMBERS:
            return expr.const(random.choice((Fraction(3, 2), Fraction(5, 2), Fraction(3))))
        term = self.expression(random.choice((0, 0, 1, 1, 2)))
        if law.parts and not may_be_complex(term):
            term = expr.mul(term, expr.apply("1j"))
        said = [each for each in law.domain.split(", ") if name in each.split()]
        if not said:
            return term
        if any(each.endswith((" 1", "1/2")) and "<" in each for each in said):
            bounded = expr.apply(random.choice(("sin", "cos", "tanh")), term)
            return expr.mul(expr.const(Fraction(1, 2)), bounded) if law.closes else bounded
        if "a >= b" in said:
            return expr.add(found["b"], self.positive(term)) if name == "a" else term
        if any("<" in each for each in said):
            return expr.mul(expr.const(-1), self.positive(term))
        return expr.add(expr.const(2), self.positive(term)) if law.closes else self.positive(term)

    def positive(self, term: Node) -> Node:
        kind = self.random.random()
        if kind < 0.4:
            return expr.apply("exp", term)
        if kind < 0.7:
            return expr.add(expr.const(1), expr.power(term, 2))
        magnitude = expr.apply("abs", term)
        return expr.add(magnitude, expr.const(2)) if kind < 0.9 else expr.apply("sigmoid", term)

    def free_of_sums(self, term: Node) -> Node:
        """The term at the first point of the reduction."""
        rows = [affine.iterator(i) for i in range(self.first)]
        rows += [affine.constant(side.lo) for side in self.domain[self.first :]]
        return substitute(term, rows)

    def sum_over_index(self, equation: int) -> Scope:
        """A sum that the law closes, over an iterator that comes last."""
        random, others = self.random, self.domain
        low = random.choice((0, 0, 0, 1, 2))
        side = Range(low, low + random.choice((2, 3, 4, 5)))
        closed = closed_of(self.law, equation, side)
        if closed is None:
            raise ValueError("no law of this range")
        standing = {}
        for letter in closed.letters:
            self.domain = (*others, Range(side.lo, side.hi + 1)) if letter.shape else others
            few = random.random() < 0.3 and letter.name in "bcd"
            standing[letter.name] = expr.const(0) if few else self.term(letter.name, {})
        self.domain, self.reducer = (*others, side), "sum"
        rows = [affine.iterator(i) for i in range(len(self.domain))]
        return self.made(placed(closed.term, standing, rows[:-1], rows[-1:], closed.shift))

    def number(self) -> Number:
        return Fraction(self.random.choice((-3, -2, -1, 1, 2, 2, 3)))

    def infinity(self) -> float:
        raise ValueError("no infinities")

    def fill(self) -> Number:
        return Fraction(self.random.choice((0, 0, 0, 0, 1, 2)))

    def otherwise(self, height: int) -> Node:
        return self.expression(height - 1) if self.random.random() < 0.4 else expr.const(0)


class _ComplexStatement(_Statement, ComplexStatement):
    pass


class _OfLaw(Program):
    made_by: type[_Statement] = _Statement

    def __init__(self, random: Random, law: str) -> None:
        super().__init__(random)
        self.law = law

    def statement(self) -> Scope:
        found = self.made_by(self)
        found.law = self.law
        return found.scope()


class _OfComplexLaw(_OfLaw, OfComplex):
    made_by = _ComplexStatement
