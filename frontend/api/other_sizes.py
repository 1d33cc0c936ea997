"""The program that a compiled function chose, for other sizes, by the options of `compile`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from einderive.derivations.rules import JOINT_RULES
from einderive.derivations.search.again import by_name
from einderive.frontend.api.laws import rules_with
from einderive.frontend.limits.asked import limits_of
from einderive.frontend.sizes.remade import remade
from einderive.frontend.trial.outcome import Outcome
from einderive.ta.ir.program import Program


def outcome_at(known: Outcome, program: Program, options: Mapping[str, Any]) -> Outcome | None:
    """What `known` chose, put together for a program that differs in sizes alone; None where that
    is refused."""
    rules = by_name((*rules_with(options.get("laws", ())), *JOINT_RULES))
    checked = options.get("check_assumptions", True)
    limits = limits_of(options.get("memory"), options.get("deterministic", False))
    return remade(known, program, rules, checked=checked, limits=limits)
