"""Records of version 3 from before a field existed, and how the missing field is found.

A step by a law once named its term alone.  The law follows from the two sides of the step.
"""

from __future__ import annotations

from typing import Any

from einderive.derivations.rules.law import LAW
from einderive.derivations.steps import kernel
from einderive.derivations.steps.kernel import Witness
from einderive.ta.errors import RecordError, RuleRefused
from einderive.ta.ir.node import Scope


def completed(given: Any, before: Scope, after: Scope) -> Witness | None:
    """The full witness of a step by a law that states its term alone.  None for any other
    witness."""
    if not isinstance(given, dict) or given.keys() != {"kind", "term"} or given["kind"] != "ByLaw":
        return None
    for witness in LAW.propose(before):
        try:
            if kernel.apply(before, witness, exact=False) is after:
                return witness
        except RuleRefused:
            continue
    raise RecordError("no law leads from the left side of the step to its right side")
