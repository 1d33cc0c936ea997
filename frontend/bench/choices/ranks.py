"""How well predicted seconds follow measured ones.

rank correlation    Pearson's correlation of the ranks (Spearman), equal values share a rank
relative error      |predicted - measured| / measured
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import nan
from statistics import correlation, median

FEWEST = 3


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """NaN for fewer than three pairs, or where one of the sequences is constant."""
    left, right = ranks(one), ranks(other)
    if len(left) < FEWEST or len(set(left)) < 2 or len(set(right)) < 2:
        return nan
    return correlation(left, right)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value among all, from 0; the mean place of equal ones."""
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    place = 0
    for _, group in groupby(order, key=values.__getitem__):
        same = list(group)
        for number in same:
            found[number] = place + (len(same) - 1) / 2
        place += len(same)
    return found


def median_error(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """The median of the relative errors; NaN for none."""
    errors = [abs(p - m) / m for p, m in zip(predicted, measured, strict=True)]
    return median(errors) if errors else nan
