"""The assumptions of a formula (`assume A > 0`) that the steps of a derivation used.

A step used no assumption if its witness proves the same step where nothing is assumed, or if the
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
from einderive.ta.facts.assumed import assuming, forgotten
from einderive.ta.ir.node import Scope, Tensor


def used_by_all(steps: Iterable[Step]) -> tuple[Tensor, ...]:
    """The inputs whose assumptions some step used, each once."""
    return tuple(dict.fromkeys(tensor for step in steps for tensor in used_by(step)))


@lru_cache(maxsize=1 << 10)
def used_by(step: Step) -> tuple[Tensor, ...]:
    """The inputs whose assumptions the step used.

    The assumptions are removed one after the other, as long as the step still holds.
    """
    idle = frozenset(assuming(step.before))
    if not idle or _holds(step, idle):
        return ()
    assumed, idle = assuming(step.before), frozenset()
    for tensor in assumed:
        if _holds(step, idle | {tensor}):
            idle |= {tensor}
    return tuple(tensor for tensor in assumed if tensor not in idle)


def _holds(step: Step, idle: frozenset[Tensor]) -> bool:
    """Whether the step holds without the assumptions about these tensors."""
    before, after = forgotten(step.before, idle), forgotten(step.after, idle)
    witness = _forgetful(step.witness, idle)
    try:
        if apply(before, witness) is after:
            return True
    except (RuleRefused, LookupError):
        pass
    return not_shown(before, after, witness) is None


def _forgetful(witness: Witness, idle: frozenset[Tensor]) -> Witness:
    """The witness with its scopes without these assumptions too."""

    def plain(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(plain, value))
        return forgotten(value, idle) if isinstance(value, Scope) else value

    return replace(
        witness, **{item.name: plain(getattr(witness, item.name)) for item in fields(witness)}
    )
