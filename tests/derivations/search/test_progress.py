"""What a search tells of itself on the way: a few numbers, and nothing that holds the graph."""

from __future__ import annotations

import dataclasses
import itertools
from functools import lru_cache

import pytest

import einderive as ed
from einderive.frontend.api.optimize import TELL_SECONDS

TEXT = "Y[u,v,t] = C[u,i]*D[v,j]*E[t,k]*X[i,j,k]"
SHAPES = {"C": (8, 9), "D": (7, 6), "E": (5, 4), "X": (9, 6, 4)}
FEW = ed.Budget(states=600)


@lru_cache
def told(**options: object) -> tuple[list[ed.Progress], ed.Derivation]:
    records: list[ed.Progress] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("einderive.frontend.api.optimize.TELL_SECONDS", 0.0)
        found = ed.derive(TEXT, progress=records.append, **options, **SHAPES)  # type: ignore[arg-type]  # options of derive
    return records, found


def test_it_is_told_now_and_then() -> None:
    records: list[ed.Progress] = []
    found = ed.derive(TEXT, progress=records.append, budget=FEW, **SHAPES)
    assert 1 < len(records) <= 2 + found.stats.seconds / TELL_SECONDS
    assert records[-1].share == 1


def test_the_numbers_grow_to_what_the_statistics_say() -> None:
    records, found = told(budget=FEW)
    assert len(records) > 3
    for now, later in itertools.pairwise(records):
        assert now.seconds <= later.seconds
        assert now.states <= later.states
        assert now.expanded <= later.expanded
        assert now.share <= later.share <= 1
        assert later.best <= now.best * (1 + 1e-9)
    assert records[0].waiting > 0
    assert records[-1].waiting == 0
    assert records[-1].share == 1
    assert records[-1].expanded == found.stats.expanded
    assert records[-1].best <= found.unchanged.seconds
    assert records[-1].best == pytest.approx(found.candidates[0].seconds, rel=0.5)


def test_a_record_is_short_and_frozen() -> None:
    records, _ = told(budget=ed.Budget(states=300))
    for record in records:
        assert len(repr(record)) < 200
        assert len(str(record)) < 200
        told_of = [getattr(record, item.name) for item in dataclasses.fields(record) if item.repr]
        assert len(told_of) == 6
        assert all(isinstance(value, int | float) for value in told_of)
    with pytest.raises(dataclasses.FrozenInstanceError):
        records[0].states = 1  # type: ignore[misc]  # what is tested


def test_print_will_do(capsys: pytest.CaptureFixture[str]) -> None:
    ed.derive(TEXT, progress=print, budget=ed.Budget(states=600), **SHAPES)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all("expanded" in line and len(line) < 200 for line in lines)


def test_watching_changes_nothing() -> None:
    _, watched = told(budget=FEW)
    alone = ed.derive(TEXT, budget=FEW, **SHAPES)
    assert [str(watched.staged(plan)) for plan in watched.candidates] == [
        str(alone.staged(plan)) for plan in alone.candidates
    ]
