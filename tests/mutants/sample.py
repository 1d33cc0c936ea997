"""A few mutants of every kind: always the same ones for the same source.

Of each module's mutants, in the order of the source, those at equal distances are taken, as many as
the module's share of all mutants, at least one a module.  Those that are listed as changing nothing
are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.mutate import Mutant
from tests.mutants.targets import Family

Plan = list[tuple[Family, list[Mutant]]]


def each(plan: Sequence[tuple[Family, list[Mutant]]], count: int) -> Plan:
    """So many of every module."""
    return [
        (family, [m for those in _modules(own) for m in _apart(those, count)])
        for family, own in plan
    ]


def sample(plan: Sequence[tuple[Family, list[Mutant]]], count: int) -> Plan:
    total = sum(len(own) for _, own in plan)
    chosen: Plan = []
    for family, own in plan:
        picked: list[Mutant] = []
        for those in _modules(own):
            picked += _apart(those, max(1, round(count * len(those) / total)))
        chosen.append((family, picked))
    return chosen


def _modules(own: Sequence[Mutant]) -> list[list[Mutant]]:
    """Those of each module that are not listed."""
    modules = dict.fromkeys(mutant.module for mutant in own)
    return [[m for m in own if m.module == one and m.key not in EQUIVALENT] for one in modules]


def _apart(those: Sequence[Mutant], count: int) -> list[Mutant]:
    share = min(len(those), count)
    return [those[(2 * k + 1) * len(those) // (2 * share)] for k in range(share)]
