"""A scope with all of its sums of exponentials about their maximum (`steps.exponential_shift`).

    {exp(W)/{S exp(W)}}   becomes   {exp(W - m)/{S exp(W - m)}}

For what is computed as a whole, and not stage by stage as the candidates of a search.
"""

from __future__ import annotations

from functools import lru_cache

from einderive.derivations.rules.exponential_shift import EXPONENTIAL_SHIFT
from einderive.ta.ir.node import Scope
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import stages


@lru_cache(maxsize=256)
def about_maxima(root: Scope) -> Scope:
    """The scope with the rule, and what follows it, applied to every stage as often as possible."""
    done: dict[Scope, Scope] = {}
    for stage in stages(root):
        current = redirected(stage, done)
        while step := next(EXPONENTIAL_SHIFT.steps(current), None):
            current = step.after
            for rule in EXPONENTIAL_SHIFT.then:
                current = next((then.after for then in rule.steps(current)), current)
        done[stage] = current
    return done[root]
