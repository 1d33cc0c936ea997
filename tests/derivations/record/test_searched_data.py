"""The search in a record: what it holds, that it stays small, and that it is read as data."""

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import einderive as ed
from einderive.derivations.record import searched_data
from einderive.derivations.record.searched_data import (
    MOST_BYTES,
    MOST_UNPACKED,
    read_search,
    search_data,
)
from einderive.derivations.search.run import Statistics
from einderive.derivations.search.searched import (
    MOST_STATES,
    Equality,
    IteratorRow,
    Refused,
    Searched,
    State,
    searched,
)
from einderive.frontend.api.record import CANDIDATE, FIELDS
from einderive.ta.errors import RecordError
from tests.amount import sampled
from tests.frontend.explorer.derived import distances
from tests.test_layers import ROOT


@cache
def small() -> Searched:
    found = distances().searched()
    assert found is not None
    return found


def test_it_is_read_back(tmp_path: Path) -> None:
    derivation = distances()
    derivation.save(tmp_path / "d.json", search=True)
    found = ed.load(tmp_path / "d.json").searched()
    assert found is not None
    assert found.equalities == small().equalities
    assert found.refused == small().refused
    assert [replace(s, found=0.0, total=0.0, best=0.0, seconds=0.0) for s in found.states] == [
        replace(s, found=0.0, total=0.0, best=0.0, seconds=0.0) for s in small().states
    ]
    assert found.states[0].best == pytest.approx(small().states[0].best, rel=1e-4)
    ed.load(tmp_path / "d.json").save(tmp_path / "again.json", search=True)
    again, first = (
        json.loads((tmp_path / name).read_text("utf-8"))["search"]
        for name in ("again.json", "d.json")
    )
    assert again == first


def test_a_record_holds_it_on_request_alone(tmp_path: Path) -> None:
    distances().save(tmp_path / "d.json")
    assert "search" not in json.loads((tmp_path / "d.json").read_text("utf-8"))
    assert ed.load(tmp_path / "d.json").searched() is None


def test_it_says_what_the_graph_says() -> None:
    graph, found = distances().graph, small()
    assert graph is not None
    scopes = list(graph.stages)
    assert len(found.states) == len(scopes)
    explored = {(s.before, s.after, s.rule) for steps in graph.edges.values() for s in steps}
    taken = {(s.before, s.after, s.rule) for p in distances().candidates for s in p.steps}
    said = {(scopes[s.before], scopes[s.after], s.rule) for s in found.equalities}
    assert explored <= said <= explored | taken
    for state, stage in zip(found.states, graph.stages.values(), strict=True):
        assert (state.operator, state.distance) == (stage.operator or "", stage.distance)
        assert [(row.lo, row.hi) for row in state.iterators] == list(stage.scope.domain)
    times = [state.found for state in found.states]
    assert times == sorted(times)
    assert len(found.programs) == len(distances().candidates)
    assert {0} <= set(found.programs[0])
    assert found.refused
    assert all(found.reasons[each.reason] for each in found.refused)


def test_mismatches_stand_beside_the_iterators() -> None:
    """Of a convolution with a product of matrices: what plays no role has none."""
    text = "Y[h,f] = A[h+r,c]*K[r,c,f] where h in 0:6"
    found = ed.derive(text, A=(8, 4), K=(3, 4, 5), budget=ed.Budget(states=40)).searched()
    assert found is not None
    by_role = [s for s in found.states if s.operator and any(row.roles for row in s.iterators)]
    assert by_role
    for state in by_role:
        assert all(row.roles for row in state.iterators if row.hi - row.lo > 1)
        assert not state.mismatches
    missing = [s for s in found.states if not s.operator and s.distance]
    assert missing
    assert all(s.mismatches for s in missing if s.nearest)


def test_what_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    derivation = distances()
    assert derivation.graph is not None
    part = searched(derivation.graph, derivation.source, derivation.candidates, 30)
    whole = small()
    assert part.left_out == len(whole.states) - len(part.states) > 0
    assert len(part.programs) == len(whole.programs)
    kept = {state.text.split(" = ")[1] for state in part.states}
    assert {"(A[i,k] - B[j,k])^2"} <= {text.removeprefix("sum[k](")[:-1] for text in kept}
    most = len(search_data(lambda states: whole)["data"])
    monkeypatch.setattr(searched_data, "MOST_BYTES", most - 1)
    asked: list[int] = []

    def made(states: int) -> Searched:
        asked.append(states)
        return whole if states == MOST_STATES else part

    assert len(search_data(made)["data"]) < most
    assert asked == [MOST_STATES, MOST_STATES // 2]


@pytest.mark.campaign
def test_ten_thousand_states_stay_under_two_megabytes() -> None:
    found = ed.derive(
        "Y[i,j] = (A[i,k]-B[j,k])^2",
        A=(512, 64),
        B=(512, 64),
        budget=ed.Budget(states=10_000, effort=20.0),
    )
    search = found.searched()
    assert search is not None
    assert len(search.states) == 10_000 <= len(search.states) + search.left_out
    data = search_data(lambda most: search)
    assert len(data["data"]) < 2_000_000
    assert read_search(data).equalities == search.equalities


def packed(change: Callable[[Any], None]) -> dict[str, Any]:
    data = json.loads(zlib.decompress(b64decode(search_data(lambda most: small())["data"])))
    change(data)
    text = json.dumps(data).encode("utf-8")
    return {"version": 1, "data": b64encode(zlib.compress(text)).decode("ascii")}


WRONG: dict[str, Callable[[Any], None]] = {
    "lacks": lambda data: data.pop("reasons"),
    "is not known": lambda data: data.update(more=1),
    "states or reasons that it does not have": lambda data: data["given"].append(10**6),
    "a list of": lambda data: data["states"]["text"].pop(),
    "cannot be shown": lambda data: data["states"]["text"].__setitem__(0, "Y = \x1b[2J"),
    "more loops than iterators": lambda data: data["states"]["loops"].__setitem__(0, 9),
    "where a number belongs": lambda data: data["states"]["best"].__setitem__(0, "1"),
    "where a text belongs": lambda data: data["reasons"].append(1),
    "where true or false belongs": lambda data: data["equalities"]["converging"].__setitem__(0, 1),
    "where an integer belongs": lambda data: data["refused"]["count"].__setitem__(0, True),
    "is too large": lambda data: [
        column.extend(column[:1] * 30_000) for column in data["states"].values()
    ],
}


@sampled(4)
@pytest.mark.parametrize("said", WRONG)
def test_what_was_tampered_with_is_refused(said: str) -> None:
    with pytest.raises(RecordError, match=said):
        read_search(packed(WRONG[said]))
    read_search(packed(lambda data: None))


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_UNPACKED == 1 << 26
    monkeypatch.setattr(searched_data, "MOST_UNPACKED", 1 << 20)
    bomb = b64encode(zlib.compress(b" " * (1 << 20) + b"{}")).decode()
    with pytest.raises(RecordError, match="unpacks to more than 1 MiB"):
        read_search({"version": 1, "data": bomb})


def test_the_schema_is_published() -> None:
    page = (ROOT / "docs" / "record.md").read_text("utf-8")
    kinds = (Searched, State, IteratorRow, Equality, Refused, Statistics)
    names = [*FIELDS, *CANDIDATE, *(item.name for kind in kinds for item in fields(kind))]
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "an object"),
        ({"version": 2, "data": ""}, "another version"),
        ({"version": 1, "data": "no base64"}, "cannot be unpacked"),
        ({"version": 1, "data": "A" * (MOST_BYTES + 1)}, "more than"),
        (
            {"version": 1, "data": b64encode(zlib.compress(b"[" * 10**6)).decode()},
            "cannot be unpacked",
        ),
        ({"version": 1, "data": b64encode(zlib.compress(b"NaN")).decode()}, "cannot be unpacked"),
    ],
)
def test_what_is_no_search_is_refused(data: Any, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        read_search(data)
