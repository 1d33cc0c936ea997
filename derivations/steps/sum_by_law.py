"""A sum over one index in closed form, by a law that holds for every range.

S[k:m:n] f(k) = g   gives   {L[x] S[y] S[k:m:n] f(k)}  =  {L[x] S[y] g}

S[k:0:9] A[i,k+1] - A[i,k] = A[i,9] - A[i,0];    S[k:0:9] B[i]*k = 36*B[i]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import Final

from einderive.derivations.effects.rounding import Exactness
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import keeps_by_law
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.closed import Closed, closed_of, placed
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.sides import known_to_hold
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Const, Node, Scope
from einderive.ta.ir.positions import is_position
from einderive.ta.ir.subst import factors_of, terms_of, walk
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import NUMBERS

MOST: Final = 1 << 63
MOST_TERMS: Final = 64
ZERO: Final = expr.const(0)


@dataclass(frozen=True, slots=True)
class SumByLaw(Witness):
    """Takes a reduction iterator out of a sum.

    - `law`, `equation`: the name of the law and the number of its equation.
    - `iterator`: the number of the reduction iterator.
    - `parts`: the terms for the letters in the order of their names, each as a scope over all other
      iterators; a function of the index is over the range m:n+1 besides.
    """

    law: str
    equation: int
    iterator: int
    parts: tuple[Scope, ...]
    uses_law = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """`S[y] g`."""
        if scope.reducer != "sum" or not 0 <= self.iterator < len(scope.sums):
            raise RuleRefused("the law is about a sum over an iterator")
        side = scope.sums[self.iterator]
        closed = closed_of(self.law, self.equation, side)
        if closed is None:
            raise RuleRefused("no law says this of a sum over an index")
        at = len(scope.loops) + self.iterator
        others = (*scope.domain[:at], *scope.domain[at + 1 :])
        if [(part.loops, part.sums) for part in self.parts] != [
            ((*others, *_own(closed, number, side)), ()) for number in range(len(closed.letters))
        ]:
            raise RuleRefused("the law has other letters, or they stand for terms of other ranges")
        names = (letter.name for letter in closed.letters)
        standing = dict(zip(names, (part.body for part in self.parts), strict=True))
        if any(n in NUMBERS and not isinstance(part, Const) for n, part in standing.items()):
            raise RuleRefused("a letter stands for a number of the text")
        rest = [affine.iterator(i) for i in range(len(scope.domain)) if i != at]
        index = affine.shift(affine.iterator(at), -closed.shift)
        term = placed(closed.term, standing, rest, [index], closed.shift)
        if _multiplied_out(term) is not _multiplied_out(scope.body):
            raise RuleRefused("the body is not the term of the law")
        if any(map(may_be_infinite, walk(scope.body))):
            raise RuleRefused("an infinite number takes part")
        if may_be_complex(scope.body) and not closed.law.of_complex_numbers:
            raise RuleRefused("the law is about real numbers")
        if not known_to_hold(closed.law.domain, standing, others):
            raise RuleRefused(f"what the law requires is not known: {closed.law.domain}")
        rest = [affine.iterator(i) for i in range(len(others))]
        body = placed(closed.result, standing, rest, (), closed.shift)
        if any(isinstance(node, Const) and _is_long(node) for node in walk(body)):
            raise RuleRefused("its numbers have too many digits")
        sums = (*scope.sums[: self.iterator], *scope.sums[self.iterator + 1 :])
        return make_scope(scope.loops, sums, body)

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """A law that helps has fewer roundings, if no terms are added that were not, or integers
        alone."""
        law = REAL_LAWS.get(self.law)
        bodies = [part.body for part in self.parts if part.body is not ZERO]
        whole = all(isinstance(body, Const) or is_position(body) for body in bodies)
        alone = len(bodies) == 1 or whole
        return "reassociates" if law and law.helps and (alone or "+" not in law.text) else "cancels"

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return keeps_by_law(REAL_LAWS.get(self.law), self.parts)

    def words(self, scope: Scope, names: Sequence[str] = ()) -> str:
        """The law with its name."""
        law = REAL_LAWS.get(self.law)
        known = law is not None and 0 <= self.equation < len(law.equations)
        return f"{self.law}: {law.equations[self.equation] if law and known else 'not known'}"


def _multiplied_out(node: Node) -> Node:
    """The sum without sums among the factors of its terms."""
    factors = [[terms_of(factor) for factor in factors_of(term)] for term in terms_of(node)]
    if sum(prod(map(len, each)) for each in factors) > MOST_TERMS:
        return node
    return expr.add(*(expr.mul(*one) for each in factors for one in product(*each)))


def _is_long(number: Const) -> bool:
    value = number.value
    return isinstance(value, Fraction) and max(abs(value.numerator), value.denominator) >= MOST


def _own(closed: Closed, number: int, side: Range) -> tuple[Range, ...]:
    """The range of what stands for a letter, besides the other iterators."""
    return (Range(side.lo, side.hi + 1),) if closed.letters[number].shape else ()
