"""Terms that are sides of laws, and the terms that stand for the letters, found by comparing forms.

    relu(3*B[i]) - relu(-3*B[i]) + C[i]    is  relu(x) - relu(-x)  and a rest, for x = 3*B[i]
    A[i]^6/A[i]^4                          is  x^m/x^n             for x = A[i], m = 6, n = 4

Nothing here has to be trusted: a step writes the law out for these terms (`steps.law`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice, permutations
from re import findall
from typing import NamedTuple, TypeAlias

from einderive.derivations.steps.fold_by_law import FoldByLaw
from einderive.derivations.steps.law import ByLaw
from einderive.ta.facts.sides import (
    Sides,
    Values,
    fits,
    fold_of,
    letters_of,
    name_of,
    put,
    sides_of,
)
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Add, Apply, Const, Mul, Node, Power, Scope
from einderive.ta.ir.subst import children, factors_of, walk
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import WHOLE

MOST_OPERANDS = 12
"""Sums and products with more operands are left alone."""
MOST_WAYS = 3
"""At most this many ways to take a factor out of a sum are proposed.  Of the powers of one base,
the highest comes first, as in Horner's form; the rest is proposed again in later steps."""
ROOTS = {"sqrt": Fraction(1, 2), "rsqrt": Fraction(-1, 2)}
POWERS = frozenset({"^", "1/", "pow", *ROOTS})
REDUCED = {"max": "maximum", "min": "minimum"}
NAMES = frozenset({*FUNCTIONS, *REDUCED} - {"pow", *ROOTS})
ONE, ZERO = expr.const(1), expr.const(0)

Heads: TypeAlias = frozenset[str]


class Part(NamedTuple):
    """A term as `factor*left + rest`."""

    values: Values
    factor: Node
    rest: Node


class Laws(NamedTuple):
    """Names of laws; their equations are read from the left, or in both directions."""

    names: tuple[str, ...]
    both: bool = False


HELPING = Laws(tuple(law.name for law in REAL_LAWS.values() if law.helps))
"""The laws that a search uses unasked."""


def instances(scope: Scope, *laws: Laws) -> Iterator[ByLaw]:
    """Every term of the body that has the form of a side of these laws, or of a part of it."""
    heads = heads_of(scope.body)
    possible = [sides for each in laws for sides in _possible(each, heads)]
    if scope.sums:  # what sums of products become, rules of their own say
        possible = [sides for sides in possible if not is_polynomial(sides.before)]
    if not possible:
        return
    for position, term in enumerate(walk(scope.body)):
        for sides in possible:
            if _root(sides.before) != _root(term) and not _as_power(sides.before):
                continue
            found = _ways(sides, term)
            yield from dict.fromkeys([_witness(sides, part, position, scope) for part in found])


@lru_cache(maxsize=1 << 14)
def _ways(sides: Sides, term: Node) -> tuple[Part, ...]:
    """The ways in which the term is a multiple of the side that is replaced, and a rest.  Most
    terms of a program are terms of many of the scopes that a search meets."""
    side, heads = sides.before, heads_of(term)
    if not all(need & heads for need in _needs(side)):
        return ()
    ways = parts(side, term)
    if is_polynomial(side):
        ways = islice(ways, 1 if any(name_of(x) in WHOLE for x in sides.letters) else MOST_WAYS)
    if _as_power(side):  # every term is (x^1)^1
        ways = (part for part in ways if put(sides.after, part.values) is not term)
    return tuple(ways)


def folds(scope: Scope, laws: Laws) -> Iterator[FoldByLaw]:
    """Each max or min whose operand has the form of a law for two numbers.  Sums, and multiples by
    numbers, have a rule of their own."""
    body = scope.body
    if not scope.sums or not REDUCERS[scope.reducer].order or not isinstance(body, Apply | Mul):
        return
    if isinstance(body, Mul) and expr.split_coefficient(body)[0] != 1:
        return
    for name in laws.names:
        for number in range(len(REAL_LAWS[name].equations)):
            fold = fold_of(name, number) if _is_fold(name, number, body) else None
            if fold is None or fold.outer != scope.reducer:
                continue
            for found in matches(fold.operand, body, {}):
                terms = (make_scope(scope.domain, (), found[each]) for each in fold.letters)
                yield FoldByLaw(name, number, tuple(terms))


def _is_fold(name: str, number: int, body: Node) -> bool:
    """Whether the text of the equation begins like a max or min of such a body."""
    text = REAL_LAWS[name].equations[number]
    if isinstance(body, Apply):
        return text.startswith((f"max({body.function}(", f"min({body.function}("))
    return text.startswith(("max(c*", "min(c*"))


@lru_cache(maxsize=1 << 10)
def _possible(laws: Laws, heads: Heads) -> tuple[Sides, ...]:
    """The sides whose functions are those of a body, or some of them."""
    found = []
    for name in laws.names:
        for number, equation in enumerate(REAL_LAWS[name].equations):
            for backwards in (False, True)[: 1 + laws.both]:
                words = findall("[a-z0-9]{2,}", equation.split(" = ")[backwards])
                if all(REDUCED.get(word, word) in heads for word in words if word in NAMES):
                    sides = sides_of(name, number, backwards)
                    if sides is not None and _may_occur(sides.before, heads):
                        found.append(sides)
    return tuple(found)


@lru_cache
def is_polynomial(side: Node) -> bool:
    return all(
        _as_power(node)
        or (not isinstance(node, Apply) and not (isinstance(node, Power) and node.exponent < 0))
        for node in walk(side)
    )


def _may_occur(side: Node, heads: Heads) -> bool:
    return not _is_bare(side) and all(need & heads for need in _needs(side))


def _is_bare(side: Node) -> bool:
    """Whether the side is a letter, or a comparison of letters: the result has it as a part again,
    and so has the result's result."""
    letters = letters_of(side)
    compares = isinstance(side, Apply) and FUNCTIONS[side.function].truth
    return side in letters or (compares and all(each in letters for each in children(side)))


def _witness(sides: Sides, part: Part, position: int, scope: Scope) -> ByLaw:
    nodes = (*(part.values[letter] for letter in sides.letters), part.factor, part.rest)
    found = tuple(make_scope(scope.domain, (), node) for node in nodes)
    return ByLaw(position, sides.law.name, sides.equation, int(sides.backwards), found)


@lru_cache(maxsize=1 << 14)
def heads_of(body: Node) -> Heads:
    """The functions of the body; "^" and "1/" where it has powers and quotients."""
    found = set[str]()
    for node in walk(body):
        if isinstance(node, Apply):
            found.add(node.function)
        elif isinstance(node, Power):
            found.add("^" if node.exponent > 0 else "1/")
        elif isinstance(node, Add):
            found.add("+")
    return frozenset(found)


@lru_cache(maxsize=1 << 10)
def _needs(side: Node) -> tuple[Heads, ...]:
    """Sets of functions; the body has to have one function of each set."""
    found = list[Heads]()
    for node in walk(side):
        if isinstance(node, Power):
            found.append(frozenset({"1/"}) if node.exponent < 0 else POWERS)
        elif _as_power(node):
            found.append(POWERS)
        elif isinstance(node, Apply):
            found.append(frozenset({node.function}))
        elif isinstance(node, Add):
            found.append(frozenset({"+"}))
    return tuple(dict.fromkeys(found))


def _as_power(side: Node) -> bool:
    return isinstance(side, Apply) and side.function == "pow"


def _root(node: Node) -> str:
    if isinstance(node, Apply):
        return node.function
    return "^" if isinstance(node, Power) else type(node).__name__


def parts(side: Node, term: Node) -> Iterator[Part]:
    """The ways in which the term is a multiple of the side and a rest."""
    operands = children(term)
    if type(side) is not type(term) or not isinstance(term, Add | Mul):
        yield from (Part(found, ONE, ZERO) for found in matches(side, term, {}))
    elif len(operands) > MOST_OPERANDS:
        return
    elif isinstance(term, Mul):
        (c, core), (d, whole) = expr.split_coefficient(side), expr.split_coefficient(term)
        if isinstance(c, Fraction) and isinstance(d, Fraction) and c:  # else one is infinite
            for found, left in _assigned(Mul, factors_of(core), factors_of(whole), {}):
                yield Part(found, expr.mul(expr.const(d / c), *left), ZERO)
    else:
        ordered = sorted(operands, key=_degree, reverse=True)
        for scale in _scales(side, ordered):
            scaled = [expr.mul(expr.const(1 / scale), operand) for operand in ordered]
            for found, left in _assigned(Add, children(side), scaled, {}):
                factor = expr.const(scale)
                yield Part(found, factor, expr.mul(factor, expr.add(*left)))


def _scales(side: Node, terms: Sequence[Node]) -> list[Fraction]:
    """The numbers by which the first term of the side may be multiplied.  A polynomial has letters
    for that."""
    if is_polynomial(side):
        return [Fraction(1)]
    first, _ = expr.split_coefficient(_specific_first(children(side))[0])
    coefficients = (expr.split_coefficient(term)[0] for term in terms)
    finite = (c for c in coefficients if isinstance(c, Fraction))
    return list(dict.fromkeys(c / Fraction(first) for c in finite))


def _degree(term: Node) -> int:
    """The highest power among the factors."""
    return max(f.exponent if isinstance(f, Power) else 1 for f in factors_of(term))


def matches(side: Node, term: Node, found: Values) -> Iterator[Values]:
    """The terms that stand for the letters if the term is the side."""
    if side in letters_of(side):
        known = found.get(side)
        if known is term or (known is None and fits(side, term)):
            yield {**found, side: term}
        return
    match side:
        case Const():
            if side is term:
                yield found
        case Apply(function="pow"):
            for base, exponent in _powers(term):
                for one in matches(side.args[0], base, found):
                    yield from matches(side.args[1], exponent, one)
        case Apply() if isinstance(term, Apply) and term.function == side.function:
            orders = permutations(term.args) if FUNCTIONS[side.function].reducer else [term.args]
            for args in orders:
                yield from _each(side.args, args, found)
        case Power():
            if isinstance(term, Power):
                times, left = divmod(term.exponent, side.exponent)
                if not left and times > 0:
                    yield from matches(side.base, expr.power(term.base, times), found)
        case Mul() | Add():
            yield from _whole(side, term, found)


def _powers(term: Node) -> Iterator[tuple[Node, Node]]:
    """The term as base and exponent."""
    if isinstance(term, Power):
        yield term.base, expr.const(term.exponent)
    elif isinstance(term, Apply) and term.function in ROOTS:
        yield term.args[0], expr.const(ROOTS[term.function])
    elif isinstance(term, Apply) and term.function == "pow":
        yield term.args[0], term.args[1]
    if not isinstance(term, Const):
        yield term, ONE


def _each(sides: Sequence[Node], terms: Sequence[Node], found: Values) -> Iterator[Values]:
    if not sides:
        yield found
        return
    for one in matches(sides[0], terms[0], found):
        yield from _each(sides[1:], terms[1:], one)


def _whole(side: Mul | Add, term: Node, found: Values) -> Iterator[Values]:
    """A product or a sum that is the side without a rest; 2*x is 6*a for x = 3*a, -x is no a."""
    sides, operands = children(side), children(term) if type(term) is type(side) else (term,)
    (c, core), (d, whole) = expr.split_coefficient(side), expr.split_coefficient(term)
    if isinstance(side, Mul) and c != 1:
        if not isinstance(core, Mul):
            if isinstance(d, Fraction) and d / Fraction(c) > 0:
                yield from matches(core, expr.mul(expr.const(d / Fraction(c)), whole), found)
            return
        if c != d:
            return
        sides, operands = core.factors, factors_of(whole)
    if len(operands) <= MOST_OPERANDS:
        for one, left in _assigned(type(side), sides, operands, found):
            if not left:
                yield one


def _assigned(
    kind: type[Add] | type[Mul], sides: Sequence[Node], terms: Sequence[Node], found: Values
) -> Iterator[tuple[Values, tuple[Node, ...]]]:
    """Each operand of the side as one of the term's, or a letter as several that are already known;
    and the operands that are left."""
    if not sides:
        yield found, tuple(terms)
        return
    side, *others = _specific_first(sides)
    known = found.get(side)
    if known is not None:
        needed = children(known) if isinstance(known, kind) else (known,)
        if all(each in terms for each in needed):
            yield from _assigned(kind, others, [t for t in terms if t not in needed], found)
        return
    if (
        not others
        and len(terms) > 1
        and side in letters_of(side)
        and fits(side, joined := (expr.add if kind is Add else expr.mul)(*terms))
    ):
        yield {**found, side: joined}, ()
    for at, term in enumerate(terms):
        for one in matches(side, term, found):
            yield from _assigned(kind, others, [*terms[:at], *terms[at + 1 :]], one)


def _specific_first(sides: Sequence[Node]) -> list[Node]:
    """The sides in the order of how few terms match them: a letter comes last."""
    return sorted(sides, key=lambda side: -len(walk(side)))
