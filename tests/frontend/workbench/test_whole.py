"""The workbench with its real worker: from a formula to a record, a search that is stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

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


def test_a_stopped_race_keeps_what_was_timed(client: Client) -> None:
    asked = DISTANCES | {"states": 100, "seconds": 60}
    assert [*client.events(client.post("derive", asked).data["number"])][-1]["state"] == "done"
    record = max(path.stem for path in client.records.folder.glob("*.json"))
    number = client.post("compile", {"record": record, "seconds": 300}).data["number"]
    for told in client.events(number):
        if "time so far" in told["progress"] and told["state"] == "running":
            client.post("stop", {"number": number})
    assert told["state"] == "stopped", told
    assert "Chosen: " in told["html"]


def test_ctrl_c_ends_the_server_and_its_worker(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "einderive.frontend.cli.main", "explore", "--no-browser"]
    server = subprocess.Popen(
        [*line, "--records", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[-1]
        assert server.stdout.readline() == "Ctrl-C ends it\n"
        headers = {"Content-Type": "application/json"}
        data = json.dumps(DISTANCES | {"states": 100_000, "seconds": 600}).encode()
        with urlopen(Request(f"{address}derive", data, headers), timeout=60) as answer:
            assert answer.status == 200
        with urlopen(f"{address}events", timeout=60) as events:
            while b"expanded" not in events.readline():
                pass
            workers = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
            server.send_signal(signal.SIGINT)
            out, err = server.communicate(timeout=60)
    finally:
        server.kill()
    assert (server.returncode, out, err) == (0, "", "")
    assert len(workers) == 1
    assert not Path(f"/proc/{workers[0]}").exists()
