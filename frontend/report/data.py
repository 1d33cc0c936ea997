"""Reports as plain data: what `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from einderive.derivations.rule import JointRule, Rule
from einderive.frontend.report.catalogue import facts, notes, refused_text
from einderive.ta.ir.operator import Operator

if TYPE_CHECKING:
    from einderive.frontend.trial.outcome import Outcome


def json_text(value: object) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False)


def plain(value: Any) -> Any:
    """The value in the form of JSON: fields by name, null for NaN and infinities, text for
    everything else."""
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)


def trials_data(compiled: Outcome) -> list[dict[str, Any]]:
    """The measurements.  A missing one is null."""
    return [
        {
            "label": trial.label,
            "operators": list(trial.words),
            "seconds": plain(trial.seconds),
            "spread": trial.spread,
            "error": plain(trial.error),
            "steps_that_can_cancel": list(trial.cancelling),
            "hard_inputs": [
                {
                    "family": family.family,
                    "error": plain(family.error),
                    "written_error": plain(family.written),
                    "digits_lost": family.digits,
                }
                for family in trial.families
            ],
            "verdict": trial.verdict,
            "chosen": trial is compiled.chosen,
        }
        for trial in compiled.trials
    ]


def rule_data(rule: Rule | JointRule) -> dict[str, Any]:
    refusals = [{"shapes": one.shapes, **asdict(refused_text(one))} for one in rule.refusals]
    return {
        "name": rule.name,
        "formula": rule.formula,
        **dict(facts(rule)),
        "examples": [
            {"shapes": one.shapes, "before": one.before, "after": one.after}
            for one in rule.examples
        ],
        "refusals": refusals,
    }


def operator_data(operator: Operator) -> dict[str, Any]:
    return {
        "name": operator.name,
        "definition": operator.definition,
        "summary": operator.summary,
        "reducers": list(operator.reducers),
        "notes": notes(operator),
    }
