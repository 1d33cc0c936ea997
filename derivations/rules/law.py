"""Law.   exp(log(a)) = a,   a^6/a^4 = a^2,   sum[k](a(k+1)-a(k)) = a(n)-a(m):  a law."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from einderive.derivations.closed_sums import closed_sums
from einderive.derivations.instances import HELPING, Laws, folds, instances
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope
from einderive.ta.laws import REAL_LAWS


def propose(scope: Scope) -> Iterator[Witness]:
    """Every term, or part of a term, that has the form of the left side of a helping law; every
    max or min whose operand has the form of a law; and every sum over an index that a law closes.
    """
    yield from instances(scope, HELPING)
    yield from folds(scope, HELPING)
    yield from closed_sums(scope, HELPING)


def by_laws(names: frozenset[str]) -> Rule:
    """The rule with these laws besides, each used in both directions."""
    laws = Laws(tuple(name for name in REAL_LAWS if name in names), both=True)

    def propose(scope: Scope) -> Iterator[Witness]:
        yield from instances(scope, HELPING, laws)
        yield from folds(scope, HELPING)
        yield from closed_sums(scope, Laws((*HELPING.names, *laws.names)))

    return replace(LAW, propose=propose, proved=(*LAW.proved, *sorted(names)))


LAW = Rule(**stated(__name__), propose=propose, proved=HELPING.names)
