"""The options beside a formula, checked: how much to search, and which guarantees hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from einderive.derivations.matching.cost import MACHINES
from einderive.frontend.accuracy.levels import ACCURACIES, NANS
from einderive.ta.errors import TextError, shown

LONGEST, MOST_STATES = 600.0, 100_000
"""Seconds and expressions of one search."""
TARGETS = (*MACHINES,)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `derive`, by its names; `seconds` and `states` are of its budget."""

    seconds: float
    states: int
    target: str
    accuracy: str
    nan: str
    weights: tuple[str, ...]


def options_of(fields: Mapping[str, Any]) -> Options:
    """The options that a request states; TextError for what cannot be used."""
    weights = _one(fields, "weights", "")
    return Options(
        seconds=seconds_of(fields, 5.0),
        states=int(_number(fields, "states", 3000, MOST_STATES)),
        target=_one(fields, "target", "cpu", TARGETS),
        accuracy=_one(fields, "accuracy", "normwise", ACCURACIES),
        nan=_one(fields, "nan", "ignore", NANS),
        weights=tuple(name for name in weights.replace(",", " ").split()),
    )


def seconds_of(fields: Mapping[str, Any], usual: float) -> float:
    """The seconds that a request states."""
    return _number(fields, "seconds", usual, LONGEST)


def _one(fields: Mapping[str, Any], name: str, usual: str, known: tuple[str, ...] = ()) -> str:
    value = fields.get(name, usual)
    if not isinstance(value, str) or (known and value not in known):
        raise TextError(
            f"{name} is not {shown(value, 40)}",
            next_step=f"choose one of {', '.join(known)}" if known else "give a text",
        )
    return value


def _number(fields: Mapping[str, Any], name: str, usual: float, most: float) -> float:
    """A number, or the text of one, as a form sends it."""
    given = fields.get(name, usual)
    try:
        value = float(given) if isinstance(given, int | float | str) else 0.0
    except (ValueError, OverflowError):
        value = 0.0
    if not (isfinite(value) and 0 < value <= most) or (name == "states" and value < 1):
        raise TextError(
            f"{name} is a number above 0 and at most {most:g}, not {shown(given, 40)}",
            next_step=f"for example {usual:g}",
        )
    return value
