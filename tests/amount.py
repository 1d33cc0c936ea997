"""How much of a long test is run: a part of it every time, the whole in a campaign."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import settings

CAMPAIGN = pytest.mark.campaign
PART = 6
"""What is run every time is one of so many."""


def examples(count: int, part: int = 2 * PART) -> int:
    """Random examples of a test by Hypothesis: all of them only where a seed is given."""
    return count // part if settings.default.derandomize else count


def sampled(part: int) -> pytest.MarkDecorator:
    """Of all cases of a test that this decorates, one of so many is run every time, drawn from
    them; the others are of a campaign."""
    return pytest.mark.sampled(part)


def leave_to_campaigns(items: Iterable[pytest.Item]) -> None:
    """Marks the cases of each sampled test that were not drawn: the same ones every time."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") is not None and not of_campaign(item.iter_markers()):
            cases.setdefault((item.path, item.name.split("[")[0]), []).append(item)
    for (_, name), every in cases.items():
        mark = every[0].get_closest_marker("sampled")
        assert mark is not None
        drawn = {*Random(name).sample(range(len(every)), -(-len(every) // mark.args[0]))}
        for place, item in enumerate(every):
            if place not in drawn:
                item.add_marker(CAMPAIGN)


def of_campaign(marks: Iterable[pytest.Mark | pytest.MarkDecorator]) -> bool:
    return any(mark.name == CAMPAIGN.name for mark in marks)


def without_campaigns(parametrize: pytest.Mark) -> pytest.Mark:
    """The mark without parameters of a campaign; with the first one where all are."""
    names, values = parametrize.args[0], list(parametrize.args[1])
    some = [n for n, value in enumerate(values) if not of_campaign(getattr(value, "marks", ()))]
    places, options = some or range(min(1, len(values))), dict(parametrize.kwargs)
    ids = options.get("ids")
    if ids is not None and not callable(ids):
        ids = list(ids)
        options["ids"] = [ids[place] for place in places]
    return pytest.mark.parametrize(names, [values[place] for place in places], **options).mark


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
