"""Provisional mean.   S[s,t] (f(s,t)-m)^2  =  S[s] (D2(s) + 2*(c(s)-m)*D1(s) + n*(c(s)-m)^2).

The mean m comes from the same D1, so that one pass over f is enough (`derivations.one_pass`).
"""

from __future__ import annotations

from collections.abc import Iterator

from einderive.derivations.one_pass import about, holds_sums, last_iterators, parts_of
from einderive.derivations.rule import Rule, stated
from einderive.derivations.steps.kernel import Witness
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses


def propose(scope: Scope) -> Iterator[Witness]:
    """The last reduction iterators, where squares of deviations from something computed are
    summed."""
    inner = last_iterators(scope)
    found = parts_of(scope) if inner else None
    if found is None or found.centre is None or not holds_sums(scope):
        return
    if any(isinstance(read.source, Scope) for read in accesses(found.centre)):
        yield about(scope, inner)


PROVISIONAL_MEAN = Rule(**stated(__name__), propose=propose)
