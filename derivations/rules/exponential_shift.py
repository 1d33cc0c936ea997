"""Exponential shift.   S[t] exp(f(s,t))  =  exp(m(s)) * S[t] exp(f(s,t) - m(s)),  m the maximum.

In a quotient of exponentials exp(m) is left out on both sides; the logarithm of a sum becomes m
plus a logarithm, by a law.  The search applies the rule before all others, to the stages of the
given program: it saves no time, but the sum neither overflows nor vanishes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from einderive.derivations.rule import Rule, stated
from einderive.derivations.rules import law
from einderive.derivations.steps.exponential_shift import ExponentialShift, quotient, sum_of
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.ta.ir.node import Apply, Mul, Node, Scope
from einderive.ta.ir.subst import accesses, factors_of, terms_of, walk

LOGARITHM: Final = "log-exp-factor"
"""The law log(exp(a)*b) = a + log(b)."""


def propose(scope: Scope) -> Iterator[Witness]:
    """All sums of exponentials, not about a maximum already, by which an exponential or another
    such sum is divided, or of which the logarithm is taken."""
    terms = walk(scope.body)
    found = tuple(place for place, term in enumerate(terms) if _may_shift(term))
    gaining = tuple(p for p in found if any(_gains(term, terms[p], scope) for term in terms))
    if gaining:
        yield ExponentialShift(gaining)


def _may_shift(term: Node) -> bool:
    found = sum_of(term)
    return found is not None and not _is_about(found.exponent)


def _gains(term: Node, read: Node, scope: Scope) -> bool:
    """Whether the term is such a quotient or logarithm."""
    if isinstance(term, Apply):
        return term.function == "log" and read in factors_of(term.args[0])
    return isinstance(term, Mul) and quotient(term, read, scope.domain) is not None


def _is_about(exponent: Node) -> bool:
    """Whether a maximum is among the terms."""
    reads = (read for term in terms_of(exponent) for read in accesses(term))
    return any(isinstance(r.source, Scope) and r.source.reducer == "max" for r in reads)


def _by_logarithm(scope: Scope) -> Iterator[Witness]:
    for witness in law.propose(scope):
        if isinstance(witness, ByLaw) and witness.law == LOGARITHM:
            yield witness


EXPONENTIAL_SHIFT = Rule(
    **stated(__name__),
    propose=propose,
    proved=("exp-sum",),
    opening=True,
    then=(replace(law.LAW, propose=_by_logarithm),),
    joined=True,
)
