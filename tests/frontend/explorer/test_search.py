"""The search on a page: the tree that is drawn, why states were not taken, hostile texts."""

import json
import re
import zlib
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from einderive.derivations.search.searched import Searched
from einderive.frontend.explorer.models import SearchView
from einderive.frontend.explorer.page import FOLDER, page
from einderive.frontend.explorer.search import ROOT, search_view, tree
from einderive.frontend.explorer.view import view_of
from tests.frontend.explorer.derived import distances
from tests.frontend.explorer.test_page import HOSTILE, Balance


@pytest.fixture(scope="module")
def found() -> Searched:
    known = distances().searched()
    assert known is not None
    return known


@pytest.fixture(scope="module")
def view(found: Searched) -> SearchView:
    return search_view(found, distances().stats)


@pytest.fixture(scope="module")
def text(view: SearchView) -> str:
    return page(replace(view_of(distances(), checked=0), search=view))


def unpacked(view: SearchView) -> Any:
    return json.loads(zlib.decompress(b64decode(view.data)))


def test_every_state_hangs_below_one_that_leads_to_it(found: Searched) -> None:
    parents, ways, rules = tree(found)
    steps = {(s.before, s.after, s.rule) for s in found.equalities}
    assert [number for number, p in enumerate(parents) if p == ROOT] == list(found.given)
    for number, (parent, way, rule) in enumerate(zip(parents, ways, rules, strict=True)):
        if way in ("converging", "explorative"):
            assert (parent, number, rule) in steps
        elif way == "read":
            assert number in found.states[parent].reads
        at, above = number, set()
        while at != ROOT:  # no circle
            assert at not in above
            above.add(at)
            at = parents[at]


def test_why_a_state_was_not_taken(found: Searched, view: SearchView) -> None:
    data = unpacked(view)
    on_the_way = {state for way in found.programs for state in way}
    for number, words in enumerate(data["why"]):
        assert words.startswith("It is on the way to") == (number in on_the_way)
        assert ("No rule was asked" in words) == (found.states[number].expanded == 0)
    dearer = [words for words in data["why"] if words.startswith("The cheapest program")]
    assert dearer
    first = data["why"].index(dearer[0])
    assert found.states[first].best > min(state.best for state in found.states if state.best >= 0)


def test_the_counts_are_those_of_the_search(found: Searched, view: SearchView) -> None:
    assert sum(rule.steps for rule in view.rules) == len(found.equalities)
    assert sum(rule.refused for rule in view.rules) == sum(r.count for r in found.refused)
    assert len(view.path) == len(found.programs[0])
    assert f"{len(found.states)} expressions" in view.summary


def test_without_a_script_there_is_a_table(text: str, view: SearchView) -> None:
    parsed = Balance(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))
    assert parsed.open == []
    for row in view.path:
        assert row.text[:100] in parsed.text
    for rule in view.rules:
        assert rule.rule in parsed.text
    assert {given.get("id") for _, given in parsed.seen} >= {"s-canvas", "s-find", "s-detail"}
    labelled = [
        given for tag, given in parsed.seen if tag in ("canvas", "button") and "id" in given
    ]
    assert all(
        given.get("aria-label") or given["id"] in ("s-fit", "s-open", "s-fold")
        for given in labelled
    )


def test_every_part_that_the_script_asks_for_is_on_the_page(text: str) -> None:
    ids = {given.get("id") for _, given in Balance(text).seen}
    script = (FOLDER / "search.js").read_text("utf-8")
    asked = {f"s-{name}" for name in re.findall(r'byId\("(\w+)"\)', script)}
    assert len(asked) > 10
    assert asked <= ids
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", script)


def test_a_search_may_hold_anything(found: Searched) -> None:
    evil = replace(
        found,
        states=(replace(found.states[0], text=HOSTILE, nearest=HOSTILE), *found.states[1:]),
        equalities=(replace(found.equalities[0], rule=HOSTILE), *found.equalities[1:]),
        reasons=(HOSTILE,) * len(found.reasons),
    )
    shown = page(
        replace(view_of(distances(), checked=0), search=search_view(evil, distances().stats))
    )
    assert shown.count("<script") == 1
    assert HOSTILE in Balance(shown).text


def test_a_page_without_a_search_says_how_to_keep_it() -> None:
    shown = page(view_of(distances(), checked=0))
    assert "search=True" in shown
    assert "s-canvas" not in shown


def test_a_search_without_programs_is_shown(tmp_path: Path, found: Searched) -> None:
    bare = replace(found, programs=(), given=(), equalities=(), refused=())
    assert search_view(bare, distances().stats).path == ()
