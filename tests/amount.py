"""How much of a long test is run: a part of it every time, the whole in a campaign."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

CAMPAIGN = pytest.mark.campaign
PART = 4
"""What is run every time is one of so many."""


def examples(count: int, part: int = 2 * PART) -> int:
    """Random examples of a test by Hypothesis: all of them only where a seed is given."""
    return count // part if settings.default.derandomize else count


def first(count: int, values: Iterable[Any]) -> list[Any]:
    """Parameters: the others than the first so many are of a campaign."""
    wrapped = [value if isinstance(value, tuple) else (value,) for value in values]
    few = [pytest.param(*value) for value in wrapped[:count]]
    return few + [pytest.param(*value, marks=CAMPAIGN) for value in wrapped[count:]]


def one_in(part: int, values: Iterable[Any]) -> list[Any]:
    """Parameters: one of so many, throughout the list; the others are of a campaign."""
    ordered = list(values)
    chosen = ordered[::part]
    others = [value for place, value in enumerate(ordered) if place % part]
    return first(len(chosen), [*chosen, *others])


def one_of_each_number(names: Iterable[str]) -> list[Any]:
    """Names that begin with a number: its other variants are of a campaign."""
    ordered, numbers = list(names), set[str]()
    leading = []
    for name in ordered:
        if name.split()[0] not in numbers:
            leading.append(name)
        numbers.add(name.split()[0])
    return first(len(leading), [*leading, *(name for name in ordered if name not in leading)])
