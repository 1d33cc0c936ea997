"""The tree of a growing search: each state once, below the one that leads to it."""

from __future__ import annotations

import einderive as ed
from einderive.derivations.search.progress import Progress
from einderive.derivations.search.strategy import Budget
from einderive.frontend.workbench.jobs.tree import GIVEN, Grown, Row
from einderive.ta.notation.parse import parse

TEXT, SHAPES = "Y[i,j] = (A[i,k]-B[j,k])^2", {"A": (64, 8), "B": (48, 8)}
STATES = Budget(states=150)


def test_a_look_leaves_the_search_as_it_is() -> None:
    program = parse(TEXT, SHAPES)
    grown, rows = Grown(program.roots()), list[Row]()

    def look(so_far: Progress) -> None:
        assert so_far.graph is not None
        before = len(so_far.graph.stages), dict(so_far.graph.pruned)
        rows.extend(grown.more(so_far.graph))
        assert before == (len(so_far.graph.stages), dict(so_far.graph.pruned))

    watched = ed.derive(program, budget=STATES, progress=look)
    alone = ed.derive(program, budget=STATES)
    assert [plan.roots for plan in watched.candidates] == [plan.roots for plan in alone.candidates]
    assert (watched.stats.states, watched.stats.steps) == (alone.stats.states, alone.stats.steps)

    assert len(rows) == len(grown.number) > 100
    assert [place for place, row in enumerate(rows) if row[1] == GIVEN] == [0]
    for place, (parent, way, rule, _, seconds, distance) in enumerate(rows):
        assert parent < place
        assert (parent < 0) == (way == GIVEN)
        assert (rule != "") == (way not in (GIVEN, 1))
        assert seconds == -1 or seconds > 0
        assert distance >= 0
    derived = next(plan for plan in watched.candidates if plan.steps)
    way = grown.on_the_way(derived)
    assert way[0] == 0
    assert len(set(way)) == len(way) > 2


def test_two_looks_at_one_graph_tell_each_state_once() -> None:
    found = ed.derive(TEXT, **SHAPES, budget=STATES)
    assert found.graph is not None
    grown = Grown(found.source.roots())
    assert grown.more(found.graph)
    assert grown.more(found.graph) == []
