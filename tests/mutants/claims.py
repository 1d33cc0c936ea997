"""Claims that the checker is asked about, and whether they hold.

A true claim that is refused shows a fault as well as a false one that is accepted: a check that
refuses everything is of no use, and a case that nothing reaches is not seen to be decided rightly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from einderive.derivations.checker import compare, not_an_instance, not_shown
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding, Operator


class Claimed(NamedTuple):
    """`before` and `after` are equal tensors by the witness; or, with an operator, the stage
    `after` is computed as bound.  `holds` says whether that is so; `written_out`, whether it may
    be shown by writing out definitions, without formal sums."""

    holds: bool
    before: Scope
    after: Scope
    witness: Any = None
    operator: Operator | None = None
    binding: Binding | None = None
    written_out: bool = True


def wrong(claim: Claimed) -> str:
    """What the checker says of it that is wrong; nothing where it is right."""
    what = claim.operator.name if claim.operator else type(claim.witness).__name__
    try:
        if claim.operator is not None and claim.binding is not None:
            reason = not_an_instance(claim.after, claim.operator, claim.binding)
        elif claim.written_out:
            reason = not_shown(claim.before, claim.after, claim.witness)
        else:
            with (
                patch.object(compare, "same_by_definition", lambda left, right: False),
                patch.object(compare, "reduced_alike", lambda left, right, exp_sum: False),
            ):
                reason = not_shown(claim.before, claim.after, claim.witness)
    except Exception as error:
        return f"{what} raises {type(error).__name__}: {error}"
    if claim.holds:
        return f"refuses {what}: {reason}" if reason else ""
    return "" if reason else f"accepts {what}"


def first_fault(claims: Sequence[Claimed], order: Sequence[int]) -> tuple[int, str] | None:
    for number in order:
        shows = wrong(claims[number])
        if shows:
            return number, f"{shows}: {claims[number].before} and {claims[number].after}"
    return None
