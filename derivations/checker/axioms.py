"""The identities of functions, reducers and powers that the checker takes as true.

    f(0) = 0                        for the functions that `ta.functions` marks so
    relu(c*a) = c*relu(a)           c > 0;    relu(inf) = inf, relu(-inf) = 0
    abs(c*a) = |c|*abs(a)           c /= 0;   abs(inf) = abs(-inf) = inf
    exp(a + b) = exp(a)*exp(b)      exp(0) = 1
    (c*a*b)^-1 = c^-1 * a^-1 * b^-1     c /= 0;   inf^-1 = 0, and 0^-1, which has no value, is inf
    max(c*a) = c*max(a), min(c*a) = c*min(a)    c > 0;   max(c*a) = c*min(a) and so on for c < 0
    prod[k] (a*b) = prod[k] a * prod[k] b,   prod[k:0:n] b = b^n        b does not use k
    maximum(a, b) is the max, minimum(a, b) the min, of a set of two
    max[k] (a(k) + b) = max[k] a(k) + b, max[k] b = b         b does not use k; min likewise

All other functions and reductions are equal only where what they are applied to is.  The identities
hold for all numbers, infinities included; none may be NaN.  That of exp holds for finite ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from derivations.checker.formal import ONE, Sum, Term, infinity, scaled, variables_of
from derivations.checker.forms import gathered
from ta.functions import FUNCTIONS

OPPOSITE = {"max": "min", "min": "max"}
AS_REDUCER = {"maximum": "max", "minimum": "min"}
MOST_COPIES = 64
"""A power of more factors stays as it is."""
MOST_EXPS = 4
"""exp(n*a) is exp(a)^n up to this n."""


def known_value(function: str, args: Sequence[Sum]) -> Sum | None:
    """`function(args)` where the operand is 0 or an infinity, as far as the axioms know it."""
    if len(args) != 1 or function not in FUNCTIONS:
        return None
    if not args[0]:
        return () if FUNCTIONS[function].keeps_zero else None
    for negative in (False, True):
        if args[0] == (infinity(negative),):
            if function == "relu":
                return () if negative else args[0]
            if function == "abs":
                return (infinity(False),)
    return None


def without_factor(function: str, args: Sequence[Sum]) -> tuple[Fraction, tuple[Sum, ...]]:
    """`(c, b)` with `function(args) = c * function(b)`; c > 0."""
    if function not in ("relu", "abs") or not args[0]:
        return ONE, tuple(args)
    factor = _leading(args[0])
    size = abs(factor)
    return size, (scaled(args[0], 1 / (factor if function == "abs" else size)),)


def exponents(argument: Sum) -> list[Sum]:
    """Sums b with exp(argument) = product of exp(b), each of one term; whole multiples of a term
    are several times the term."""
    found: list[Sum] = []
    for term in gathered(argument):
        count = abs(term.coefficient)
        if not term.infinite and count.denominator == 1 and count <= MOST_EXPS:
            found += [scaled((term,), 1 / count)] * int(count)
        else:
            found.append((term,))
    return found


def factors(body: Sum) -> list[Sum]:
    """Sums b with prod[k] body = product of prod[k] b."""
    if len(body) != 1 or body[0].bound:
        common = _leading(body) if body else ONE
        if common == 1 or any(term.infinite for term in body):
            return [body]
        return [scaled(body, 1 / common), (Term(common),)]
    (term,) = body
    found: list[Sum] = [(Term(ONE, (), term.conditions, (atom,)),) for atom in term.atoms]
    if term.coefficient != 1 or not found:
        found.append((Term(term.coefficient, (), term.conditions),))
    return found


def reduced_without_factor(reducer: str, body: Sum) -> tuple[Fraction, str, Sum]:
    """`(c, r, b)` with `reducer(body) = c * r(b)`."""
    if not body:
        return ONE, reducer, body
    factor = _leading(body)
    chosen = reducer if factor > 0 else OPPOSITE[reducer]
    return factor, chosen, scaled(body, 1 / factor)


def _leading(terms: Sum) -> Fraction:
    """A coefficient that equal sums agree on in most cases; any other choice is as true."""
    first = min(terms, key=lambda term: (term.infinite, term.leaves, -abs(term.coefficient)))
    return first.coefficient


def pulled(body: Sum, reduced: Collection[int]) -> tuple[Sum, Sum]:
    """`(a, b)` with `max(body) = max(a) + b`; b does not use the reduced variables."""
    outside = tuple(term for term in body if variables_of(term).isdisjoint(reduced))
    inside = tuple(term for term in body if term not in outside)
    return (inside, outside) if inside else (body, ())
