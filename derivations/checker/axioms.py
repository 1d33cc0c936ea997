"""The identities of functions, reducers and powers that the checker takes as true.

    f(0) = 0, or 1                  as the function's file states: relu(0) = 0, exp(0) = 1
    f(c*a) = c*f(a)                 c > 0;  for f that compares: relu(inf) = inf, relu(-inf) = 0
    f(c*a) = |c|*f(a)               c /= 0; for f that is even besides: abs(inf) = abs(-inf) = inf
    exp(a + b) = exp(a)*exp(b)      where the law is asked for; the one law of a single function
    exp(-a) = exp(a)^-1             a is finite
    (c*a*b)^-1 = c^-1 * a^-1 * b^-1     c /= 0; a, b are finite;   inf^-1 = 0
    (S[k] exp(a)*b)^-1 = exp(a)^-1 * (S[k] b)^-1    a does not use k;   exp(a) * exp(a)^-1 = 1
    max(c*a) = c*max(a), min(c*a) = c*min(a)    c > 0;   max(c*a) = c*min(a) and so on for c < 0
    prod[k] (a*b) = prod[k] a * prod[k] b,   prod[k:0:n] b = b^n        b does not use k
    f(1, 2) = its value             of numbers alone, for comparisons and isnan, isinf, isfinite
    choose(c, a, b) = a             c a number other than 0;  = b for c = 0;  choose(c, a, a) = a
    choose(c, a + b, d) = choose(c, a, 0) + choose(c, b, 0) + choose(c, 0, d);   a, b, d are finite
    choose(c, S[k] r*a, 0) = S[k] r*choose(c, a, 0)        r a read of an input, which is finite
    choose(c, 1, 0) = (c != 0), which is c for a comparison;  choose(c, 0, 1) = (c == 0)
    f(a, b) = f(b, a)               as the file states: equal(A[i], A[j]) stands with i <= j
    maximum(a, b) is the max, minimum(a, b) the min, of a set of two
    max[k] (a(k) + b) = max[k] a(k) + b       b does not use k; a or b is finite; min likewise
    max[k] b = b         b does not use k;    the max of nothing is -inf, the min of nothing inf

What the files of `ta.functions` state is listed in docs/functions.md.  All other functions and
reductions are equal only where what they are applied to is.  The identities hold for all numbers,
infinities included, and where there is no value on one side there is none on the other.  In that of
exp, one of a and b is finite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from math import inf

from einderive.derivations.checker.formal import (
    NEGATIVE,
    ONE,
    POSITIVE,
    Atom,
    Sum,
    Term,
    scaled,
    variables_of,
    without,
)
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.node import Condition

ZERO: Sum = ()
INFINITY: Sum = (Term(ONE, (), (), (Atom(POSITIVE, (), True),)),)
MINUS_INFINITY: Sum = (Term(ONE, (), (), (Atom(NEGATIVE, (), True),)),)
MOST_COPIES = 64
"""A power with an exponent above this is not written out as a product."""
MOST_EXPS = 4
"""exp(n*a) is exp(a)^n up to this n."""
OPERAND = "{}, operand {}"
"""The name of a leaf: a function of several operands, and the place of one of them."""


def number(value: Sum) -> Fraction | float | None:
    """The number that the sum equals; None if it is no number."""
    if value in (INFINITY, MINUS_INFINITY):
        return inf if value == INFINITY else -inf
    total = sum((term.coefficient for term in value), Fraction(0))
    return total if all(term == Term(term.coefficient) for term in value) else None


def known_function(name: str, operands: Sequence[Sum]) -> Sum | None:
    """`name(operands)`, if the operands that are numbers, or equal operands, decide the value."""
    known = FUNCTIONS[name]
    numbers = [number(operand) for operand in operands]
    if known.picks:
        _, then, otherwise = operands
        return then if then == otherwise or numbers[0] else otherwise if numbers[0] == 0 else None
    if known.exact is not None and None not in numbers:
        return _as_sum(known.exact(*numbers))
    return known_value(name, operands[0]) if len(operands) == 1 else None


def _as_sum(value: Fraction | float | int) -> Sum | None:
    """A number as a sum; None for a NaN."""
    if value != value:
        return None
    return constant(value if value in (inf, -inf) else Fraction(value))


def constant(value: Fraction | float) -> Sum:
    """The sum of one number, or of none for 0."""
    if isinstance(value, Fraction):
        return (Term(value),) if value else ZERO
    return INFINITY if value > 0 else MINUS_INFINITY


def as_comparison(name: str, operands: Sequence[Sum]) -> tuple[str, Sequence[Sum]]:
    """A choice between 1 and 0, written as the comparison that it equals."""
    if FUNCTIONS[name].picks and set(operands[1:]) == {(Term(ONE),), ZERO}:
        return ("equal" if operands[1] == ZERO else "not_equal"), (operands[0], ZERO)
    return name, operands


def choices(
    parts: Sequence[Sum], is_read: Callable[[Atom], bool]
) -> Iterator[tuple[Term, list[Sum]]]:
    """`(r, [c, a, 0])` and `(r, [c, 0, b])` with choose(c, ...) = sum of r*choose(c, a, 0) and so
    on, for each term r*a or r*b.  All that is bound stays with r, and so may be named in a."""
    condition, *branches = parts
    for place, branch in enumerate(branches, 1):
        for term in branch:
            rest = tuple(atom for atom in term.atoms if not is_read(atom))
            operands = [condition, ZERO, ZERO]
            operands[place] = (Term(ONE, atoms=rest),)
            yield without(term, rest), operands


def orders(atoms: Sequence[Atom]) -> Iterator[tuple[tuple[Condition, ...], int]]:
    """Conditions that exclude each other, of which one holds, each with 1 where the two atoms stand
    in the order of their rows, and with -1 where the other one comes first."""
    one, other = atoms
    if one.leaf != other.leaf or one.rows == other.rows:
        yield (), 1
        return
    apart = [affine.add(q, p, -1) for p, q in zip(one.rows, other.rows, strict=True)]
    equal = [Condition("==", row) for row in apart]
    yield tuple(equal), 1
    for step in (1, -1):
        for k, row in enumerate(apart):
            yield (*equal[:k], Condition(">=", affine.shift(affine.scale(row, step), -1))), step


def known_value(name: str, operand: Sum) -> Sum | None:
    """`name(operand)`, if the operand is 0 or an infinity and the value is known."""
    if name == "^-1":
        return ZERO if operand in (INFINITY, MINUS_INFINITY) else None
    known = FUNCTIONS[name]
    if operand == ZERO and known.at_zero is not None:
        return (Term(ONE),) if known.at_zero else ZERO
    pieces = known.pieces if known.compares else None
    if pieces is None or operand not in (INFINITY, MINUS_INFINITY):
        return None
    (slope,) = pieces.above if operand == INFINITY else pieces.below
    rises = slope if operand == INFINITY else -slope
    return INFINITY if rises > 0 else MINUS_INFINITY if rises < 0 else ZERO


def without_factor(function: str, operand: Sum) -> tuple[Fraction, Sum]:
    """`(c, b)` with `function(operand) = c * function(b)`; c > 0; the operand is not 0."""
    pieces = FUNCTIONS[function].pieces
    if pieces is None or not pieces.continuous:
        return ONE, operand
    factor = _leading(operand)
    size = abs(factor)
    return size, scaled(operand, 1 / (factor if pieces.even else size))


def exponents(argument: Sum) -> list[Sum]:
    """Sums b with exp(argument) = product of exp(b), each of one term, or of all those that may be
    infinite; whole multiples of a term are several times the term."""
    found: list[Sum] = []
    unbounded = tuple(term for term in argument if term.unbounded)
    if len(unbounded) > 1:
        found.append(unbounded)
        argument = tuple(term for term in argument if not term.unbounded)
    for term in argument:
        count = abs(term.coefficient)
        if count.denominator == 1 and count <= MOST_EXPS:
            found += [scaled((term,), 1 / count)] * int(count)
        else:
            found.append((term,))
    return found


def common_factors(divisor: Sum, is_exp: Callable[[Atom], bool]) -> tuple[list[Atom], Sum]:
    """`(a, b)` with divisor = product of a * b: all atoms of a product, or the exps before a
    sum."""
    common = Counter(divisor[0].atoms if divisor else ())
    for term in divisor:
        common &= Counter(term.atoms)
    bound = {variable for term in divisor for variable, _ in term.bound}
    product = len(divisor) == 1 and not bound
    found = [
        atom
        for atom in common.elements()
        if product or (is_exp(atom) and bound.isdisjoint(variables_of(Term(ONE, atoms=(atom,)))))
    ]
    return found, tuple(without(term, found) for term in divisor)


def factors(body: Sum) -> list[Sum]:
    """Sums b with prod[k] body = product of prod[k] b."""
    if len(body) != 1 or body[0].bound:
        common = _leading(body)
        return [scaled(body, 1 / common), (Term(common),)]
    (term,) = body
    found: list[Sum] = [(Term(ONE, (), term.conditions, (atom,)),) for atom in term.atoms]
    if term.coefficient != 1 or not found:
        found.append((Term(term.coefficient, (), term.conditions),))
    return found


def reduced_without_factor(reducer: str, body: Sum) -> tuple[Fraction, str, Sum]:
    """`(c, r, b)` with `reducer(body) = c * r(b)`."""
    factor = _leading(body)
    chosen = reducer if factor > 0 else REDUCERS[reducer].opposite
    return factor, chosen, scaled(body, 1 / factor)


def _leading(terms: Sum) -> Fraction:
    """A coefficient that equal sums agree on in most cases; any other choice is as true."""
    first = min(
        terms,
        key=lambda term: (term.infinite, term.leaves, -abs(term.coefficient)),
        default=Term(ONE),
    )
    return first.coefficient


def pulled(body: Sum, reduced: Collection[int]) -> tuple[Sum, Sum]:
    """`(a, b)` with `max(body) = max(a) + b`; b does not use the reduced variables, and one of a
    and b is finite."""
    alone = [term for term in body if variables_of(term).isdisjoint(reduced)]
    if any(term.unbounded for term in body if term not in alone):
        alone = [term for term in alone if not term.unbounded]
    return tuple(term for term in body if term not in alone), tuple(alone)
