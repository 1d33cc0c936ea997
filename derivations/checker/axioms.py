"""The identities of functions, reducers and powers that the checker takes as true.

    f(0) = 0                        for the functions that `ta.functions` marks so
    relu(c*a) = c*relu(a)           c > 0;    relu(inf) = inf, relu(-inf) = 0
    abs(c*a) = |c|*abs(a)           c /= 0;   abs(inf) = abs(-inf) = inf
    exp(a + b) = exp(a)*exp(b)      exp(0) = 1
    (c*a*b)^-1 = c^-1 * a^-1 * b^-1     c /= 0; a, b are finite;   inf^-1 = 0
    max(c*a) = c*max(a), min(c*a) = c*min(a)    c > 0;   max(c*a) = c*min(a) and so on for c < 0
    prod[k] (a*b) = prod[k] a * prod[k] b,   prod[k:0:n] b = b^n        b does not use k
    maximum(a, b) is the max, minimum(a, b) the min, of a set of two
    max[k] (a(k) + b) = max[k] a(k) + b       b does not use k; a or b is finite; min likewise
    max[k] b = b         b does not use k;    the max of nothing is -inf, the min of nothing inf

All other functions and reductions are equal only where what they are applied to is.  The identities
hold for all numbers, infinities included, and where there is no value on one side there is none on
the other.  In that of exp, one of a and b is finite.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from einderive.derivations.checker.formal import (
    NEGATIVE,
    ONE,
    POSITIVE,
    Atom,
    Sum,
    Term,
    scaled,
    variables_of,
)
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.functions.data import Function

ZERO: Sum = ()
INFINITY: Sum = (Term(ONE, (), (), (Atom(POSITIVE, (), True),)),)
MINUS_INFINITY: Sum = (Term(ONE, (), (), (Atom(NEGATIVE, (), True),)),)


def _values(function: Function) -> Iterator[tuple[tuple[str, Sum], Sum]]:
    """What the function's file says of its values at 0 and at the infinities."""
    if function.at_zero is not None:
        yield (function.name, ZERO), (Term(ONE),) if function.at_zero else ZERO
    pieces = function.pieces
    if pieces is not None and pieces.continuous and function.arity == 1:
        values = {0: ZERO, 1: INFINITY, -1: MINUS_INFINITY}
        for argument, rises in ((INFINITY, pieces.above[0]), (MINUS_INFINITY, -pieces.below[0])):
            yield (function.name, argument), values[(rises > 0) - (rises < 0)]


KNOWN: Mapping[tuple[str, Sum], Sum] = {
    ("^-1", INFINITY): ZERO,
    ("^-1", MINUS_INFINITY): ZERO,
    **{known: value for function in FUNCTIONS.values() for known, value in _values(function)},
}
"""Values of functions."""

MOST_COPIES = 64
"""A power of more factors stays as it is."""
MOST_EXPS = 4
"""exp(n*a) is exp(a)^n up to this n."""


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
