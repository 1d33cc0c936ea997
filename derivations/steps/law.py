"""A law of functions, on terms that stand for its letters.

    c*left + r  =  c*right + r      exp(log(x)) = x for x > 0;  max(a,-a) = abs(a);  a^6/a^4 = a^2

The laws are data (`ta.laws`).  The witness says which terms stand for the letters; the step writes
both sides out, and the left one has to be the term that is replaced.  What the law requires of the
terms has to follow from their forms, or from an assumption (`ta.facts.signs`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.terms import keeps_by_law, sub_term
from einderive.derivations.steps.told import Names
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.infinite import may_be_infinite
from einderive.ta.facts.sides import Sides, fits, holds, put, sides_of
from einderive.ta.facts.signs import bounds_over, not_zero
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Node, Power, Scope
from einderive.ta.ir.subst import accesses, children, producers, replace_node, walk, with_children


@dataclass(frozen=True, slots=True)
class ByLaw(Witness):
    """Applies a law to a term.

    - `term`: the position in `walk(body)` of `c*left + r`.
    - `law`, `equation`: the name of the law and the number of its equation.
    - `backwards`: 1 if the equation is read from its right side.
    - `parts`: the terms for the letters in the order of their names, then c and r, each as a scope
      over all iterators.
    """

    term: int
    law: str
    equation: int
    backwards: int
    parts: tuple[Scope, ...]
    allows_empty = True
    uses_law = True

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The body with `c*right + r` in the place of the term."""
        term, sides = sub_term(scope, self.term), self._sides()
        *values, factor, rest = (part.body for part in self._parts(scope, sides))
        letters = dict(zip(sides.letters, values, strict=True))
        if not all(fits(letter, value) for letter, value in letters.items()):
            raise RuleRefused("a letter of the law stands for numbers of the text only")
        left, right = (
            expr.add(expr.mul(factor, put(side, letters)), rest)
            for side in (sides.before, sides.after)
        )
        if in_order(left) is not in_order(term):
            raise RuleRefused("the term is not the left side of the law")
        if any(map(may_be_infinite, walk(left))):
            raise RuleRefused("an infinite number takes part")
        if may_be_complex(left) and not sides.law.of_complex_numbers:
            raise RuleRefused("the law is about real numbers")
        if sides.law.parts and not all(map(may_be_complex, values)):
            raise RuleRefused("the law is about complex numbers")
        if any(_divides_by_fill(node, scope) for node in walk(left)):
            raise RuleRefused("it divides by what is read outside")
        if not holds(sides.law.domain, letters, scope.domain):
            raise RuleRefused(f"what the law requires is not known: {sides.law.domain}")
        if _may_lack_value(left, right, scope.domain) and _hidden(scope.body, term):
            raise RuleRefused("a function would hide that one side has no value")
        if sides.chooses and any(_may_be_nan(value, scope.domain) for value in values):
            raise RuleRefused("one side would hide that a term has no value")
        body = replace_node(scope.body, term, right)
        return make_scope(scope.loops, scope.sums, body, scope.reducer)

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """A law that helps has fewer roundings."""
        return judged("reassociates" if self._sides().law.helps else "cancels", before, after)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return not self.backwards and keeps_by_law(self._sides().law, self.parts)

    def told(self, scope: Scope, names: Names) -> str:
        """The law in the direction in which it is used."""
        sides = sides_of(self.law, self.equation, bool(self.backwards))
        if sides is None:
            return f"a law {self.law!r} that is not known"
        both = sides.law.equations[self.equation].split(" = ")
        return f"{self.law}: {' = '.join(reversed(both) if self.backwards else both)}"

    def _sides(self) -> Sides:
        found = sides_of(self.law, self.equation, bool(self.backwards))
        if found is None:
            raise RuleRefused("there is no such law")
        return found

    def _parts(self, scope: Scope, sides: Sides) -> tuple[Scope, ...]:
        if len(self.parts) != len(sides.letters) + 2:
            raise RuleRefused("the law has another number of letters")
        if any((part.loops, part.sums) != (scope.domain, ()) for part in self.parts):
            raise RuleRefused("what stands for a letter is over other ranges")
        return self.parts


@lru_cache(maxsize=1 << 12)
def in_order(node: Node) -> Node:
    """The term with the operands of each maximum and minimum in a fixed order."""
    operands = tuple(map(in_order, children(node)))
    if isinstance(node, Apply) and FUNCTIONS[node.function].reducer:
        operands = tuple(sorted(operands, key=lambda each: each.digest))
    return with_children(node, operands)


def _may_lack_value(left: Node, right: Node, box: Sequence[Range]) -> bool:
    """Whether one side divides by what may be 0, or applies a function outside of its domain, and
    the other does not: x/x is NaN at x = 0, and 1 is not."""
    (there, back) = (frozenset(_partial(side, box)) for side in (left, right))
    return there != back


def _may_be_nan(term: Node, box: Sequence[Range]) -> bool:
    """Whether the term, or what it reads, has no value at some numbers: log(a) at a < 0."""
    stages = ((stage.body, stage.domain) for stage in producers(term))
    return any(any(_partial(*each)) for each in ((term, box), *stages))


def _partial(side: Node, box: Sequence[Range]) -> Iterator[Node]:
    """The operations of the term that may have no value at their operands."""
    for node in walk(side):
        if isinstance(node, Power) and node.exponent < 0 and not not_zero(node.base, box):
            yield node
        if isinstance(node, Apply) and not _has_value(node, box):
            yield node


def _has_value(node: Apply, box: Sequence[Range]) -> bool:
    """Whether the function has a value at all numbers that its operand is known to take."""
    known = FUNCTIONS[node.function]
    if known.domain is None:  # a function with a domain has one operand, and only that reason
        return known.finite_at_numbers
    operand, domain = bounds_over(node.args[0], box), known.domain
    above = domain.included or operand.above or operand.least > domain.least
    below = domain.included or operand.below or operand.greatest < domain.greatest
    within = operand.least >= domain.least and operand.greatest <= domain.greatest
    return within and above and (below or domain.greatest == math.inf)


def _hidden(body: Node, term: Node) -> bool:
    """Whether the term is within an operand of a function that hides NaN, or such a function:
    comparisons are 0 or 1 for NaN as well."""
    return any(
        hides and any(each is term for each in walk(operand))
        for node in walk(body)
        if isinstance(node, Apply)
        for hides, operand in zip(FUNCTIONS[node.function].hides, node.args, strict=True)
    ) or (isinstance(term, Apply) and any(FUNCTIONS[term.function].hides))


def _divides_by_fill(node: Node, scope: Scope) -> bool:
    """Whether a divisor is read outside of its source, where it may surely be 0."""
    if not isinstance(node, Power) or node.exponent > 0:
        return False
    return any(
        not affine.within(read.rows, read.source.ranges, scope.domain)
        for read in accesses(node.base)
    )
