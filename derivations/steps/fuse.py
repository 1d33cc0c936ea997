"""Producers substituted into all their consumers, at every depth.

    {L[x] g(E[x], {L[y] S[k] E[y,k]}[x])}   with   E = {L[z] f(z)}
        =  {L[x] g(f(x), {L[y] S[k] f(y,k)}[x])}

A scope without a reduction is computed anew wherever it is read.  An operator that spans several
stages, such as a softmax, is often written with such intermediates.
Source: EinNet (OSDI'23), expression fusion.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial

from einderive.derivations.effects.nonfinite import drops_nothing
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.merge import Merge, guards, needs_guard, reads
from einderive.ta.errors import RuleRefused
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import fold, nested_scopes, stages
from einderive.ta.printing.written import MOST_LENGTH, written


@dataclass(frozen=True, slots=True)
class Fuse(Witness):
    """Puts all scopes without a reduction, at any depth below the scope, into their readers."""

    def apply(self, scope: Scope, exact: bool) -> Scope:
        """The scope in which producers without reductions are inlined, wherever that needs no
        condition."""
        if any(stage.empty for stage in stages(scope)):
            raise RuleRefused("an iterator has an empty range")
        for stage in stages(scope):  # producers first, so that none is asked for at any depth
            found = _fused(stage)
        if found is scope:
            raise RuleRefused("there is no producer that could be inlined")
        return found

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged("exact", before, after, deep=True)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        return drops_nothing(before, after) and not any(
            affine.leaving(access.rows, source.loops, stage.domain)
            for stage in stages(before)
            for access, source in reads(stage)
            if not source.sums
        )


@lru_cache(maxsize=1 << 14)
def _fused(stage: Scope) -> Scope:
    """The stage with its fused producers inlined.  The result does not depend on the scope that
    reads the stage.  It is cached, since many scopes of a long program read the same stage."""
    sources = {nested: _fused(nested) for nested in nested_scopes(stage)}
    return _inlined(redirected(stage, sources))


@lru_cache(maxsize=4096)
def _inlined(scope: Scope) -> Scope:
    """The scope with the body of each scope without a reduction in the place of its reads.  A read
    stays if inlining needs a guard, or if the result would be too long.

    Conditions are always decided by intervals, even if the caller allows integer sets, so that the
    result is the same for every caller.  Results are cached, since many scopes read the same one.
    A read that stays is tried once only, since the reason for which it stays remains true."""
    left: set[Access] = set()
    while True:
        asked = [
            (place, access, source)
            for place, (access, source) in enumerate(reads(scope))
            if access not in left and not source.sums
        ]
        if not asked:
            return scope
        place, access, source = asked[0]
        merged = scope
        too_long = _too_long(scope.body, access, source.body)
        if not too_long and not needs_guard(access, source, scope.domain, exact=False):
            with suppress(RuleRefused):
                merged = Merge(place).apply(scope, exact=False)
        longer = not written(merged.body).fits(written(scope.body))
        if merged is scope or longer or guards(merged) > guards(scope):
            left.add(access)
        else:
            scope = merged


def _too_long(body: Node, access: Access, inlined: Node) -> bool:
    """Whether the body is surely too long with `inlined` in the place of the read: each time that
    the read is written, it is, unless parts of it cancel."""
    own, source = written(body), written(inlined)
    most, further = max(MOST_LENGTH, own.length) - own.length, source.length - 1
    return further > most or fold(body, partial(_counted, access)) * further > most


def _counted(access: Access, node: Node, parts: tuple[int, ...]) -> int:
    """The number of times that the read stands in the term as it is written."""
    return 1 if node is access else sum(parts)
