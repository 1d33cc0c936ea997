"""The two sides of a law as terms, and the terms that they become when terms replace the letters.

exp(log(x)) = x  for x > 0,  with A[i] for x:  exp(log(A[i])) = A[i], if A[i] > 0 is known
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from einderive.ta.facts.signs import NOT_NEGATIVE, POSITIVE, least_sign, not_zero
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Apply, Const, Node, Tensor
from einderive.ta.ir.subst import children, replace_node, walk, with_children
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import NUMBERS, WHOLE, Law
from einderive.ta.notation.parse import parse

Values: TypeAlias = Mapping[Node, Node]
"""The terms and numbers that stand for the letters."""


class Sides(NamedTuple):
    """One equation of a law, read from its left or, `backwards`, from its right."""

    law: Law
    equation: int
    backwards: bool
    before: Node
    after: Node
    letters: tuple[Node, ...]
    """The letters of the side `before`, by name; `after` has no others."""

    @property
    def chooses(self) -> bool:
        """Whether one side alone compares letters, and so may be a number where one is NaN."""
        compares = [any(map(_is_comparison, walk(side))) for side in (self.before, self.after)]
        return self.law.keeps != "always" and compares[0] is not compares[1]


def _is_comparison(node: Node) -> bool:
    return isinstance(node, Apply) and FUNCTIONS[node.function].truth


@lru_cache
def sides_of(law: str, equation: int, backwards: bool) -> Sides | None:
    """The sides of an equation.  None if there is no such equation, or if `after` has a letter that
    `before` lacks."""
    known = REAL_LAWS.get(law)
    if known is None or not known.applies or not 0 <= equation < len(known.equations):
        return None
    both = known.equations[equation].split(" = ")
    before, after = (
        parsed(side, known.letters_type) for side in (reversed(both) if backwards else both)
    )
    letters = letters_of(before)
    if not letters or not set(letters_of(after)) <= {*letters}:
        return None
    return Sides(known, equation, backwards, before, after, letters)


class Fold(NamedTuple):
    """R(g(a),g(b)) = h(R'(a,b)): so R[k] g(x(k)) = h(R'[k] x(k)), over one term or more."""

    law: Law
    outer: str
    inner: str
    operand: Node
    """g(a)"""
    letter: Node
    result: Node
    """h(a)"""
    letters: tuple[Node, ...]
    """The letters of the operand."""
    all_letters: tuple[Node, ...]


@lru_cache
def fold_of(law: str, equation: int) -> Fold | None:
    """The equation as a `Fold`; None if it has another form."""
    sides = sides_of(law, equation, False)
    if sides is None or not isinstance(sides.before, Apply):
        return None
    for node in walk(sides.after):
        if isinstance(node, Apply) and FUNCTIONS[node.function].reducer:
            outer, inner = (FUNCTIONS[n.function].reducer for n in (sides.before, node))
            first, second = node.args
            if outer and first in sides.letters and second in sides.letters:
                operand, other = sides.before.args
                result = replace_node(sides.after, node, first)
                letters = letters_of(operand)
                if put(operand, {first: second}) is other and second not in letters:
                    found = (sides.law, outer, inner, operand, first, result)
                    return Fold(*found, letters, sides.letters)
    return None


@lru_cache
def parsed(side: str, dtype: str = "float32") -> Node:
    """The term of a text in which each single letter stands for a number."""
    names = {each: () for each in side if each.isalpha()}
    words = "".join(each if each.isalnum() else " " for each in side).split()
    shapes = {name: shape for name, shape in names.items() if name in words}
    (root,) = parse(f"Y = {side}", shapes, dtype, {}).roots()
    return root.body


@lru_cache
def letters_of(side: Node) -> tuple[Node, ...]:
    found = (node for node in walk(side) if isinstance(node, Access))
    return tuple(sorted(dict.fromkeys(found), key=name_of))


def name_of(letter: Node) -> str:
    assert isinstance(letter, Access)
    assert isinstance(letter.source, Tensor)
    return letter.source.name


def put(side: Node, values: Values) -> Node:
    """The side with terms for its letters."""
    if side in values:
        return values[side]
    return with_children(side, tuple(put(child, values) for child in children(side)))


def fits(letter: Node, term: Node) -> bool:
    """Whether the term may stand for the letter: for some letters, only numbers of the text may."""
    name = name_of(letter)
    if name not in NUMBERS:
        return True
    if not isinstance(term, Const) or not isinstance(term.value, Fraction):
        return False
    return name not in WHOLE or term.value.denominator == 1


def holds(domain: str, values: Values, box: Sequence[Range]) -> bool:
    """Whether the condition of a law is known to hold at every point of the box."""
    return known_to_hold(domain, {name_of(letter): term for letter, term in values.items()}, box)


def known_to_hold(domain: str, values: Mapping[str, Node], box: Sequence[Range]) -> bool:
    """Whether the condition of a law is known to hold at every point of the box, where these terms
    stand for the letters of these names."""
    for condition in domain.split(", ") if domain else ():
        left, relation, right = condition.split()
        sides = [put(side, _of(side, values)) for side in map(parsed, (left, right))]
        if relation in ("<", "<="):
            sides.reverse()
        difference = expr.subtract(*sides)
        if relation == "!=":
            if not not_zero(difference, box):
                return False
            continue
        needed = NOT_NEGATIVE if relation in ("<=", ">=") else POSITIVE
        if least_sign(difference, box) < needed:
            return False
    return True


def _of(side: Node, values: Mapping[str, Node]) -> Values:
    return {letter: values[name_of(letter)] for letter in letters_of(side)}
