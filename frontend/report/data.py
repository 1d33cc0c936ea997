"""Reports as plain data: what `--json` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from math import isfinite
from typing import Any

from einderive.derivations.rule import JointRule, Rule
from einderive.frontend.report.catalogue import facts, notes, refused_text
from einderive.ta.ir.operator import Operator


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
