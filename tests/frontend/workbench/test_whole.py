"""The workbench with its real worker: from a formula to a record, a search that is stopped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from einderive.frontend.api.record import load
from tests.frontend.workbench.served import Client, served

DISTANCES = {"formula": "Y[i,j] = (A[i,k]-B[j,k])^2", "sizes": "A=64,16 B=64,16"}
pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as found:
        yield found


def test_from_a_formula_to_a_record(client: Client) -> None:
    number = client.post("derive", DISTANCES | {"states": 200, "seconds": 60}).data["number"]
    *_, last = client.events(number)
    assert last["state"] == "done", last
    (path,) = client.records.folder.glob("*.json")
    assert load(path).check()
    answer = client.get(f"records/{path.stem}")
    assert answer.status == 200
    assert "A derivation by einderive" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert client.get("records/20000101-000000-0000").status == 404
    assert client.get("records/..%2F..%2Fetc").status == 404


def test_a_stopped_search_keeps_what_it_found(client: Client) -> None:
    before = {*client.records.folder.glob("*.json")}
    asked = DISTANCES | {"states": 100_000, "seconds": 600}
    number = client.post("derive", asked).data["number"]
    for told in client.events(number):
        if "expanded" in told["progress"] and told["state"] == "running":
            assert client.post("stop", {"number": number}).status == 200
    assert told["state"] == "stopped", told
    (path,) = {*client.records.folder.glob("*.json")} - before
    derivation = load(path)
    assert derivation.stats.stopped == "interrupted"
    assert derivation.check()


def test_a_record_is_raced(client: Client) -> None:
    asked = DISTANCES | {"states": 100, "seconds": 60}
    assert [*client.events(client.post("derive", asked).data["number"])][-1]["state"] == "done"
    record = max(path.stem for path in client.records.folder.glob("*.json"))
    told = list(client.events(client.post("compile", {"record": record}).data["number"]))
    assert told[-1]["state"] == "done", told[-1]
    assert any("time so far" in each["progress"] for each in told)
    assert "Chosen: " in told[-1]["html"]
    assert "Programs that were timed" in client.get(f"records/{record}").text
