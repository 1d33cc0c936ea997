"""Producers substituted into all their consumers, at every depth.

    {L[x] g(E[x], {L[y] S[k] E[y,k]}[x])}   with   E = {L[z] f(z)}
        =  {L[x] g(f(x), {L[y] S[k] f(y,k)}[x])}

A scope without a reduction is computed anew wherever it is read.  An operator that spans several
stages, such as a softmax, is often written with such intermediates.
Source: EinNet (OSDI'23), expression fusion.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from derivations.restructure import Merge, merge, reads
from ta.errors import RuleRefused
from ta.node import Scope, Select
from ta.subst import nested_scopes, redirected, stages, walk
from ta.written import written


@dataclass(frozen=True, slots=True)
class Fuse:
    """All scopes without a reduction that are read below the scope go into their readers."""


def fuse(scope: Scope, witness: Fuse, exact: bool = True) -> Scope:
    """The scope with its producers without reductions inlined wherever no condition is needed."""
    if any(r.lo >= r.hi for stage in stages(scope) for r in stage.domain):
        raise RuleRefused("an iterator has an empty range")
    for stage in stages(scope):  # producers first, so that none is asked for at any depth
        found = _fused(stage, exact)
    if found is scope:
        raise RuleRefused("there is no producer that could be inlined")
    return found


@lru_cache(maxsize=1 << 14)
def _fused(stage: Scope, exact: bool) -> Scope:
    """The stage with its producers inlined, these fused as well.  What a stage becomes does not
    depend on who reads it, and a long program asks for the same ones again and again."""
    sources = {nested: _fused(nested, exact) for nested in nested_scopes(stage)}
    return _inlined(redirected(stage, sources), exact)


@lru_cache(maxsize=4096)
def _inlined(scope: Scope, exact: bool) -> Scope:
    """Every read of a scope without a reduction replaced by its body, unless that needs a guard or
    becomes too long to be written out.

    Remembered: what is read at some depth is read by many scopes."""
    kept = 0
    while True:
        found = reads(scope)
        place = next(
            (
                position
                for position, access in enumerate(found)
                if position >= kept and isinstance(access.source, Scope) and not access.source.sums
            ),
            None,
        )
        if place is None:
            return scope
        try:
            merged = merge(scope, Merge(place), exact)
        except RuleRefused:
            merged = scope
        longer = not written(merged.body).fits(written(scope.body))
        if merged is scope or longer or _guards(merged) > _guards(scope):
            kept = place + 1
        else:
            scope, kept = merged, 0


def _guards(scope: Scope) -> int:
    return sum(isinstance(node, Select) for node in walk(scope.body))
