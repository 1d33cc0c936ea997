"""The promises of a formula (`assume A > 0`) that the steps of a derivation used.

A step used no promise if its witness proves the same step where nothing is promised, or if the
checker shows the two sides equal there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from einderive.derivations.checker import not_shown
from einderive.derivations.steps.kernel import Step, Witness, apply
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.assumed import forgotten, promising
from einderive.ta.ir.node import Scope, Tensor


def used_by_all(steps: Iterable[Step]) -> tuple[Tensor, ...]:
    """The inputs whose promises some step used, each once."""
    return tuple(dict.fromkeys(tensor for step in steps for tensor in used_by(step)))


@lru_cache(maxsize=1 << 10)
def used_by(step: Step) -> tuple[Tensor, ...]:
    """The inputs whose promises the step used.

    The promises are removed one after the other, as long as the step still holds.
    """
    idle = frozenset(promising(step.before))
    if not idle or _holds(step, idle):
        return ()
    promised, idle = promising(step.before), frozenset()
    for tensor in promised:
        if _holds(step, idle | {tensor}):
            idle |= {tensor}
    return tuple(tensor for tensor in promised if tensor not in idle)


def _holds(step: Step, idle: frozenset[Tensor]) -> bool:
    """Whether the step holds without what is promised of these tensors."""
    before, after = forgotten(step.before, idle), forgotten(step.after, idle)
    witness = _forgetful(step.witness, idle)
    try:
        if apply(before, witness) is after:
            return True
    except (RuleRefused, LookupError):
        pass
    return not_shown(before, after, witness) is None


def _forgetful(witness: Witness, idle: frozenset[Tensor]) -> Witness:
    """The witness with its scopes forgetting likewise."""

    def plain(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(plain, value))
        return forgotten(value, idle) if isinstance(value, Scope) else value

    return replace(
        witness, **{item.name: plain(getattr(witness, item.name)) for item in fields(witness)}
    )
