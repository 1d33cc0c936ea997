"""A case of a proof: what holds in it, and why an attempt stopped.

A proof evaluates both sides in one case.  Where that needs a sign that is not known, the case is
split; where a function has a value only under a condition, the condition is learned; where a
generator's unit is too large, a smaller one is taken; and the evaluation begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from einderive.ta.ir.node import Condition
from einderive.ta.reals.generators import Quotient
from einderive.ta.reals.knowledge import Fact, Signs
from einderive.ta.reals.polynomials import Polynomial


@dataclass(frozen=True)
class Case:
    facts: tuple[Fact, ...] = ()
    values: Mapping[int, Quotient] = field(default_factory=dict)
    """Generators that are another number here: x = 0, or a = b."""
    signed: Mapping[int, int] = field(default_factory=dict)
    """Entries x that are written as exp(log(x)), by 1, or as -exp(log(-x)), by -1."""
    conditions: Mapping[Condition, bool] = field(default_factory=dict)
    roots: bool = False
    """Whether the root of an entry that may be 0 is a number r >= 0 of its own, with r^n the entry.
    Otherwise the case is split at 0, and the entry is an exponential where it is not."""

    def with_sign(self, number: int, sign: int) -> Case:
        """The case in which an entry is written as an exponential."""
        return replace(self, signed={**self.signed, number: sign})

    def with_condition(self, condition: Condition, held: bool) -> Case:
        return replace(self, conditions={**self.conditions, condition: held})


class Stopped(Exception):
    """The evaluation of a case has to begin anew: in these cases, of which one holds."""

    def __init__(self, *cases: Case) -> None:
        super().__init__()
        self.cases = cases


class Split(Stopped):
    """The polynomial has one of these sets of signs wherever both sides have a value."""

    def __init__(self, polynomial: Polynomial, *ways: Signs) -> None:
        super().__init__()
        self.polynomial, self.ways = polynomial, ways


class Unit(Stopped):
    """The unit of generators of this kind has to be a multiple of the denominator."""

    def __init__(self, kind: str, value: Fraction) -> None:
        super().__init__()
        self.kind, self.denominator = kind, value.denominator


class NoValue(Exception):
    """A side has no value in this case."""


class NotDecided(Exception):
    """A step that the procedure cannot make.  The text is the reason."""
