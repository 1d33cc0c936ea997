"""Jobs: one at a time, watched by every tab, stopped; what a worker does that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from einderive.frontend.workbench.jobs.curves import curves
from einderive.frontend.workbench.jobs.job import MOST_MOMENTS, Job, Moment
from einderive.frontend.workbench.options import LONGEST, options_of
from einderive.frontend.workbench.tasks import perform
from einderive.ta.errors import TextError
from tests.frontend.workbench.served import Client, served

TOY = (sys.executable, str(Path(__file__).parent / "toy_worker.py"))


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(TOY) as found:
        yield found


def begun(client: Client, what: str, **more: Any) -> int:
    answer = client.post("derive", {"formula": f"Y = {what}", "sizes": "", **more})
    assert answer.status == 200, answer.text
    number: int = answer.data["number"]
    return number


def test_a_job_is_watched_from_its_start_to_its_end(client: Client) -> None:
    told = list(client.events(begun(client, "ends")))
    assert (told[-1]["state"], told[-1]["said"]) == ("done", "Done")
    assert told[-1]["html"] == "<p>a program</p>"
    assert "50 expressions, 30 expanded, 20 waiting" in told[-1]["progress"]
    assert "<polyline" in told[-1]["progress"]
    assert "best program: 200 ms predicted" in told[-1]["progress"]


def test_the_tree_of_a_search_is_told_in_pieces_and_whole_to_who_comes_late(
    client: Client,
) -> None:
    number = begun(client, "ends")
    rows: list[Any] = []
    for told in client.events(number):
        assert told["tree"]["from"] == len(rows)
        rows += told["tree"]["rows"]
    assert [row[0] for row in rows] == [-1, 0, 1, 2, 3]
    (late,) = client.events(number)
    assert late["tree"] == {"from": 0, "rows": rows, "chosen": []}


def test_one_job_at_a_time_for_all_tabs_and_any_of_them_stops_it(client: Client) -> None:
    number = begun(client, "waits")
    seen: list[list[Any]] = [[], []]
    tabs = [Thread(target=lambda e=each: e.extend(client.events(number))) for each in seen]
    for tab in tabs:
        tab.start()
    busy = client.post("derive", {"formula": "Y = ends"})
    assert busy.status == 409
    assert "one job at a time: Y = waits is under way" in busy.text
    assert client.post("formula", {"formula": "Y = 2"}).data["ready"]  # the page still answers
    assert client.post("stop", {"number": number + 1}).status == 409
    assert client.post("stop", {"number": number}).status == 200
    for tab in tabs:
        tab.join(60)
    for told in seen:
        assert told[-1]["state"] == "stopped"
        assert told[-1]["said"] == "Stopped; what was found so far is kept"
        assert told[-1]["html"] == "<p>a program</p>"
    assert client.post("stop", {"number": number}).status == 409
    assert client.post("stop", {"number": "1"}).status == 409


def test_a_worker_that_ends_takes_its_job_along_and_no_other(client: Client) -> None:
    *_, last = client.events(begun(client, "dies"))
    assert last["state"] == "failed"
    assert "ended by code 7" in last["said"]
    *_, last = client.events(begun(client, "ends"))
    assert last["state"] == "done"


def test_a_failure_is_told_as_text(client: Client) -> None:
    *_, last = client.events(begun(client, "fails"))
    assert (last["state"], last["said"], last["html"]) == ("failed", "No <b>luck</b>", "")


def test_a_formula_in_a_job_is_shown_as_text(client: Client) -> None:
    *_, last = client.events(begun(client, "1 # <script>f()</script>\nY2 = ends"))
    assert "<script" not in last["progress"]
    assert "&lt;script&gt;" in last["progress"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"formula": "Y ="}, "the text ends"),
        ({"formula": "Y = 1", "seconds": "0"}, "seconds is a number above 0 and at most 600"),
        ({"formula": "Y = 1", "seconds": "nan"}, "seconds is a number"),
        ({"formula": "Y = 1", "states": 10**9}, "states is a number"),
        ({"formula": "Y = 1", "target": "tpu"}, "next: choose one of cpu"),
        ({"formula": "Y = 1", "accuracy": 3}, "accuracy is not 3"),
        ({"formula": "Y = 1", "nan": "<b>"}, "nan is not"),
    ],
)
def test_what_cannot_be_begun_is_refused(
    client: Client, fields: dict[str, Any], words: str
) -> None:
    answer = client.post("derive", fields)
    assert answer.status == 422
    assert words in answer.text


def test_options_have_usual_values() -> None:
    found = options_of({"weights": "K, g"})
    assert (found.seconds, found.states, found.target) == (5.0, 3000, "cpu")
    assert found.weights == ("K", "g")
    with pytest.raises(TextError, match="at most 600"):
        options_of({"seconds": LONGEST + 1})


def test_the_past_of_a_long_search_is_thinned() -> None:
    job = Job(1, "derive", "Y = 1", "")
    for number in range(1, 5000):
        event = Moment(number, number, number, 0, 1 / number, 0.5)
        fields = {name: getattr(event, name) for name in Moment.__slots__}
        job = job.after({"event": "search", "grown": [], **fields})
    assert MOST_MOMENTS / 2 <= len(job.moments) <= MOST_MOMENTS
    assert job.moments[-1].states == 4999
    assert [curve.title for curve in curves(job.moments)] == ["expressions", "best program"]
    assert curves(job.moments[:1]) == ()


def test_a_derivation_is_told_and_saved(tmp_path: Path) -> None:
    options = {"seconds": 60, "states": 60, "target": "cpu", "accuracy": "normwise"}
    task = {
        "kind": "derive",
        "asked": {"formula": "Y[i,j] = (A[i,k]-B[j,k])^2", "sizes": "A=8,4 B=6,4"},
        "options": options | {"nan": "ignore", "weights": []},
        "record": str(tmp_path / "d.json"),
        "page": str(tmp_path / "d.html"),
    }
    told: list[Any] = []
    perform(task, told.append)
    assert told[0]["event"] == "search"
    assert told[-1]["event"] == "done"
    assert not told[-1]["stopped"]
    assert "Candidate 1" in told[-1]["html"]
    assert (tmp_path / "d.json").exists()
    assert "A derivation by einderive" in (tmp_path / "d.html").read_text(encoding="utf-8")
    rows = [row for each in told if each["event"] == "search" for row in each["grown"]]
    (found,) = (each for each in told if each["event"] == "found")
    assert len(rows) > 30
    assert found["chosen"]
    assert max(found["chosen"]) < len(rows)
    perform(task | {"options": task["options"] | {"weights": ["Z"]}}, told.append)  # type: ignore[operator]
    assert told[-1]["event"] == "failed"
    assert "'Z' is given as a weight but is not a tensor" in told[-1]["text"]
