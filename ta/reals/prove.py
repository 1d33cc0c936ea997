"""A proof that two programs are equal over the reals, wherever both have a value.

    left = right   <=   in each of finitely many cases, which together are all, the difference is 0
                        as a polynomial in generators, modulo their relations

The verdict "equal" is a proof: it uses no random numbers.  "None" says nothing.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, lcm
from time import monotonic
from typing import NamedTuple

from einderive.ta.ir.node import Bounds, Scope
from einderive.ta.reals import knowledge
from einderive.ta.reals.case import Case, NotDecided, NoValue, Split, Stopped, Unit
from einderive.ta.reals.evaluate import Evaluation
from einderive.ta.reals.field import Values
from einderive.ta.reals.generators import Registry
from einderive.ta.reals.polynomials import Polynomial, TooLarge, constant, generator, used

MOST_CASES = 100
MOST_ATTEMPTS = 600
MOST_UNIT = 48


class Proof(NamedTuple):
    """Whether it is one; the names of the laws that it used, and the number of its cases; or why
    there is none, and whether it was given up because of the time."""

    equal: bool
    laws: tuple[str, ...] = ()
    cases: int = 0
    reason: str = ""
    late: bool = False


def prove(left: Scope, right: Scope, seconds: float = inf) -> Proof:
    """The proof, if one is found before this many seconds are over."""
    end = monotonic() + seconds
    prover = _Prover(left, right, end)
    proof = prover.tried(Case())
    if not proof.equal and not proof.late and prover.registry.zero_roots:
        proof = _Prover(left, right, end).tried(Case(roots=True))  # many entries: too many cases
    return proof


class _Late(Exception):
    """The time is over."""


class _Prover:
    def __init__(self, left: Scope, right: Scope, end: float) -> None:
        self.sides, self.end = (left, right), end
        self.registry = Registry()
        self.units = {"exp": 1, "root": 1, "turn": 1}
        self.laws: set[str] = set()

    def tried(self, case: Case) -> Proof:
        """The proof from this case on, or the reason why there is none."""
        try:
            return self._run(case)
        except (NotDecided, TooLarge) as why:
            return Proof(False, reason=str(why))
        except RecursionError:
            return Proof(False, reason="expressions that are nested too deeply")
        except _Late:
            return Proof(False, reason="the time is over", late=True)

    def _run(self, case: Case) -> Proof:
        pending, cases = [case], 0
        for _ in range(MOST_ATTEMPTS):
            if not pending:
                return Proof(True, tuple(sorted(self.laws)), cases)
            if monotonic() > self.end:
                raise _Late
            case = pending.pop()
            try:
                if not self._equal(case):
                    raise NotDecided("both sides differ in their normal forms")
                cases += 1
            except NoValue:
                cases += 1
            except Stopped as stopped:
                pending += self._next(case, stopped)
            if cases + len(pending) > MOST_CASES:
                raise TooLarge("too many cases")
        raise TooLarge("too many attempts")

    def _equal(self, case: Case) -> bool:
        field = Values(self.registry, case, self._given(), self.units)
        if not field.known.consistent():
            return True
        evaluation = Evaluation(field, self.sides[0].loops)
        left, right = map(evaluation.scope, self.sides)
        equal = field.same(left, right)
        self.laws |= field.laws
        return equal

    def _given(self) -> list[knowledge.Fact]:
        """The assumptions about the entries that occur.  A read outside of a tensor is no entry."""
        found: list[knowledge.Fact] = []
        for number, made in enumerate(self.registry.all):
            if made.kind == "read" and isinstance(made.key, tuple) and made.key[1]:
                found += _facts(generator(number), made.key[0].source.bounds)
        return found

    def _next(self, case: Case, stopped: Stopped) -> list[Case]:
        match stopped:
            case Unit():
                unit = lcm(self.units[stopped.kind], self.units[stopped.kind] * stopped.denominator)
                if unit > MOST_UNIT:
                    raise TooLarge("fractions of too many kinds")
                self.units[stopped.kind] = unit
                return [case]
            case Split(polynomial=polynomial, ways=ways):
                return [new for signs in ways for new in self._with(case, polynomial, signs)]
        return [*stopped.cases]

    def _with(self, case: Case, polynomial: Polynomial, signs: knowledge.Signs) -> list[Case]:
        """The case with one more fact, or none where it contradicts the others.  What is 0 by all
        of them is replaced."""
        if (polynomial, signs) in case.facts or len(case.facts) >= knowledge.MOST_FACTS:
            raise NotDecided("a sign that stays unknown")
        case = replace(case, facts=(*case.facts, (polynomial, signs)))
        field = Values(self.registry, case, self._given(), self.units)
        if not field.known.consistent():
            return []
        for fact, known in field.known.facts:
            if not used(fact):
                continue
            exactly = known == knowledge.ZERO or (
                known in (knowledge.NOT_NEGATIVE, knowledge.NOT_POSITIVE)
                and field.known.signs(fact) == knowledge.ZERO
            )
            solution = field.solved(fact) if exactly else None
            if solution is not None:
                number, value = solution
                return [replace(case, values={**case.values, number: value})]
        return [case]


def _facts(entry: Polynomial, bounds: Bounds) -> list[knowledge.Fact]:
    """The facts about an entry between these bounds."""
    found: list[knowledge.Fact] = []
    if isinstance(bounds.least, Fraction):
        signs = knowledge.POSITIVE if bounds.above else knowledge.NOT_NEGATIVE
        found.append((entry - constant(bounds.least), signs))
    if isinstance(bounds.greatest, Fraction):
        signs = knowledge.NEGATIVE if bounds.below else knowledge.NOT_POSITIVE
        found.append((entry - constant(bounds.greatest), signs))
    if bounds.nonzero:
        found.append((entry, knowledge.NOT_ZERO))
    return found
