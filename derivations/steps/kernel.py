"""The kernel: a step is a rule's name, a scope, a witness and the equal scope it proves.

    before  =  apply(before, witness)  =  after

Anybody may propose a witness.  Only `apply` turns a witness into an equal scope, and it refuses the
witness unless every side condition is shown to hold.  A kind of witness is a class in a file of its
own in this folder.  The class answers all questions about such a step; no other file knows the
kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import ClassVar

from einderive.derivations import steps
from einderive.derivations.effects.rounding import Exactness, is_copied
from einderive.derivations.steps.told import UNNAMED, Names
from einderive.ta.errors import RuleRefused
from einderive.ta.ir.node import Scope
from einderive.ta.listing import classes


@dataclass(frozen=True, slots=True)
class Witness(ABC):
    """The proposal of a rule for a scope.  A record holds its fields: numbers, rows, ranges and
    scopes (`derivations.record.trace`)."""

    allows_empty: ClassVar[bool] = False
    """Whether the identity also holds over empty ranges, because it rewrites a body alone."""
    folds: ClassVar[bool] = False
    """Whether the search adds such steps by itself (`derivations.search.folding`)."""
    makes_views: ClassVar[bool] = False
    """Whether a view that the step makes may be worth keeping, although folding would remove it."""
    uses_law: ClassVar[bool] = False
    """Whether the step rests on a law of functions (`ta.laws`), which exact evaluation need not
    satisfy."""

    @abstractmethod
    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope that the witness proves equal to `scope`.  Otherwise RuleRefused gives the
        reason.

        `exact`: whether integer sets may decide what intervals leave open.
        """

    @abstractmethod
    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        """The effect of the step on rounding errors.  `stated` is the effect that its rule states
        for the identity."""

    @abstractmethod
    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """Whether the step is shown to keep NaN and the infinities where they were."""

    def multiplies_uncentred(self, before: Scope) -> bool:
        """Whether the step multiplies out, or sums apart, a difference with a term that is an entry
        of an input as it is."""
        return False

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        """What the names of the rule's identity stand for on this scope, and what its side
        conditions come to: pairs of words.  Asked only where `apply` accepts the witness."""
        return ()

    def words(self, scope: Scope, names: Names = UNNAMED) -> str:
        """The step on this scope in words for a reader; the witness's kind and fields where it
        names what the scope does not have."""
        try:
            return self.told(scope, names)
        except (LookupError, ValueError, RuleRefused):
            return Witness.told(self, scope, names)

    def told(self, scope: Scope, names: Names) -> str:
        """What the step does to this scope, in words; here the witness's kind and fields."""
        values = (f"{item.name} {getattr(self, item.name)}" for item in fields(self))
        return " ".join([type(self).__name__, *values])


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a derivation: `before = after` as tensors.

    `rule` is the name of the rule that proposed it; the `witness` says how `after` is made from
    `before`."""

    rule: str
    before: Scope
    after: Scope
    witness: Witness

    def exactness(self, stated: Exactness) -> Exactness:
        """The effect of the step on rounding errors (`derivations.effects.rounding`).

        `stated` is the exactness that its rule states.  If only iterators change, it decides
        between `exact` and `reassociates`, since a sum may be reversed.
        """
        if is_copied(self.before) and not is_copied(self.after):
            return "cancels"  # a reader's difference would no longer be known as one
        try:
            return self.witness.rounding(self.before, self.after, stated)
        except (LookupError, RuleRefused):  # the witness of a record that names what is not there
            return "cancels"

    def keeps_nonfinite(self) -> bool:
        """Whether the step is shown to keep NaN and the infinities where they were."""
        return self.witness.keeps_nonfinite(self.before, self.after)

    def multiplies_uncentred(self) -> bool:
        """Whether the step multiplies out a difference of data that are not centred
        (`derivations.effects.uncentred`)."""
        return self.witness.multiplies_uncentred(self.before)


def apply(scope: Scope, witness: Witness, *, exact: bool = True) -> Scope:
    """The scope that the witness proves equal to `scope`.

    RuleRefused names the condition that does not hold.  With `exact` off, conditions are decided by
    intervals alone, as the search does: this refuses more, and is a thousand times faster."""
    if scope.empty and not witness.allows_empty:
        raise RuleRefused("an iterator has an empty range")
    try:
        return witness.apply(scope, exact)
    except ValueError as error:  # a constructor has no such node: say, it adds inf and -inf
        raise RuleRefused(str(error)) from error


@cache
def kinds() -> Mapping[str, type[Witness]]:
    """All kinds of witness by name: the classes of this folder's files."""
    found = classes(steps.__name__)
    return {kind.__name__: kind for kind in found if issubclass(kind, Witness)}
