"""A case of a proof: what holds in it, and why an attempt stopped.

A proof evaluates both sides in one case.  Where that needs a sign that is not known, the case is
split; where a function has a value only under a condition, the condition is learned; where a
generator's unit is too large, a smaller one is taken; and the evaluation begins anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


class Stopped(Exception):
    """The evaluation of a case has to begin anew."""


class Began(Stopped):
    """An entry occurs of which something may be stated."""


class Learned(Stopped):
    """The polynomial has one of these signs wherever both sides have a value."""

    def __init__(self, polynomial: Polynomial, signs: Signs) -> None:
        super().__init__()
        self.polynomial, self.signs = polynomial, signs


class Split(Stopped):
    """One of these holds of the polynomial."""

    def __init__(self, polynomial: Polynomial, ways: Sequence[Signs]) -> None:
        super().__init__()
        self.polynomial, self.ways = polynomial, tuple(ways)


class Branch(Stopped):
    """The condition holds, or it does not."""

    def __init__(self, condition: Condition) -> None:
        super().__init__()
        self.condition = condition


class Signed(Stopped):
    """An entry is to be written as an exponential."""

    def __init__(self, number: int, sign: int) -> None:
        super().__init__()
        self.number, self.sign = number, sign


class Unit(Stopped):
    """The unit of generators of this kind has to be a multiple of the denominator."""

    def __init__(self, kind: str, value: Fraction) -> None:
        super().__init__()
        self.kind, self.denominator = kind, value.denominator


class NoValue(Exception):
    """A side has no value in this case."""


class NotDecided(Exception):
    """A step that the procedure cannot make.  The text is the reason."""
