"""Named functions.   log(1+exp(a)) + log(1+exp(b))  =  softplus(a) + log(1+exp(b)).

A program that overflows as it is written is right with named functions everywhere, and a search
that names one after the other may end before all have their names.  So a stage with several such
terms is opened with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from einderive.derivations.instances import Laws, instances
from einderive.derivations.rule import Rule, stated
from einderive.derivations.rules import law
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.law import ByLaw
from einderive.ta.ir.node import Scope

NAMES: Final = ("name-softplus", "name-logaddexp", "name-sigmoid")
"""Laws whose left side may overflow where the right side does not."""


def propose(scope: Scope) -> Iterator[Witness]:
    """The terms that have the form of such a function, if there are several."""
    found = [*_all(scope)]
    if len(found) > 1:
        yield from found


def _all(scope: Scope) -> Iterator[Witness]:
    found: dict[int, ByLaw] = {}
    for witness in instances(scope, Laws(NAMES)):
        found.setdefault(witness.term, witness)
    yield from found.values()


NAMED = Rule(
    **stated(__name__),
    propose=propose,
    proved=NAMES,
    opening=True,
    then=(replace(law.LAW, propose=_all),),
    joined=True,
)
