"""Records of the workbench: the list, one as a page, one from elsewhere, what is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import einderive as ed
from einderive.derivations.search.strategy import Budget
from einderive.frontend.workbench.entries import entry
from tests.frontend.workbench.served import Client, served
from tests.frontend.workbench.test_jobs import TOY


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(TOY) as found:
        yield found


@pytest.fixture(scope="module")
def saved() -> str:
    derivation = ed.derive("Y[i] = 2*A[i,k]*x[k]", budget=Budget(states=30), A=(4, 3), x=(3,))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "d.json"
        derivation.save(path)
        return path.read_text(encoding="utf-8")


def kept(client: Client, text: str) -> str:
    answer = client.post("records", {"text": text})
    assert answer.status == 200, answer.text
    name: str = answer.data["record"]
    return name


def test_a_record_from_elsewhere_is_listed_shown_raced_and_deleted(
    client: Client, saved: str
) -> None:
    assert "No record yet" in client.get("records").text
    name = kept(client, saved)
    listed = client.get("records").text
    assert "Y[i] = 2*A[i,k]*x[k]" in listed
    assert "A 4 x 3, x 3; " in listed
    assert 'data-size="A=4,3 x=3" data-dtypes="float32"' in listed
    assert "measured" not in listed
    page = client.get(f"records/{name}")
    assert page.status == 200
    assert "A derivation by einderive" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    number = client.post("compile", {"record": name, "seconds": "2"}).data["number"]
    *_, last = client.events(number)
    assert (last["kind"], last["state"], last["html"]) == ("compile", "done", "<p>measured</p>")
    measured = client.get(f"records/{name}").text
    assert "Measured on cpu (a toy)" in measured
    written = client.records.page_file(name).stat().st_mtime_ns
    assert client.get(f"records/{name}").text == measured
    assert client.records.page_file(name).stat().st_mtime_ns == written
    assert "; measured" in client.get("records").text
    assert client.post("forget", {"record": name}).status == 200
    assert client.get(f"records/{name}").status == 404
    assert [*client.records.folder.iterdir()] == []


def test_a_race_is_told_while_it_goes_on(client: Client, saved: str) -> None:
    name = kept(client, saved)
    told = list(client.events(client.post("compile", {"record": name}).data["number"]))
    for each in told:
        if "time so far" in each["progress"]:  # the slowest last, what has no time after it
            labels = re.findall(r'<th scope="row">(.*?)</th>', each["progress"])
            assert labels == ["other", "candidate 1", "baseline"]
            assert "<i>" not in each["progress"]
    client.post("forget", {"record": name})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[1, 2]", "not a saved derivation"),
        ('{"format": "einderive derivation", "version": 99}', "the record has version 99"),
        ("[" * 50_000, "nested too deeply"),
        ("\x00<script>", "not JSON"),
    ],
)
def test_what_is_no_record_is_refused_and_not_kept(client: Client, text: str, words: str) -> None:
    answer = client.post("records", {"text": text})
    assert answer.status == 422
    assert words in answer.text
    assert [*client.records.folder.glob("*")] == []


def test_a_changed_record_is_refused(client: Client, saved: str) -> None:
    data = json.loads(saved)
    data["input"]["text"] = "Y[i] = __import__('os')"
    answer = client.post("records", {"text": json.dumps(data)})
    assert answer.status == 422
    assert "input" in answer.text
    assert client.post("records", {"text": 3}).status == 400
    assert client.post("records", {"text": "x" * 17_000_000}).status == 413


def test_two_records_are_compared(client: Client, saved: str) -> None:
    one, other = kept(client, saved), kept(client, saved)
    answer = client.get(f"compare?record={one}&record={other}")
    assert answer.status == 200
    assert "Both derive the same formula" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    for query in ("", f"?record={one}", f"?record={one}&record={one}&record={one}"):
        assert client.get(f"compare{query}").status == 400
    assert client.get(f"compare?record={one}&record=20000101-000000-0000").status == 404
    for name in (one, other):
        client.post("forget", {"record": name})


@pytest.mark.parametrize("name", ["../../etc/passwd", "x", "20000101-000000-0000", "", "é"])
def test_names_that_no_record_has(client: Client, name: str) -> None:
    for address in ("compile", "forget"):
        answer = client.post(address, {"record": name})
        assert (answer.status, answer.text) == (404, "there is no such record\n")


def test_a_file_that_is_damaged_later_stays_in_the_list(client: Client, saved: str) -> None:
    name = kept(client, saved)
    client.records.path(name).write_text('{"input": {"text": "<b>"}}')
    assert '<span class="bad">not a saved derivation</span>' in client.get("records").text
    assert client.get(f"records/{name}").status == 422
    answer = client.post("compile", {"record": name})
    assert (answer.status, answer.text) == (422, "not a saved derivation\n")
    client.post("forget", {"record": name})


def test_hostile_names_in_a_record_are_text(tmp_path: Path, client: Client, saved: str) -> None:
    data = json.loads(saved)
    data["input"] = {
        "text": "<script>f()</script>",
        "tensors": {'"><img src=x>': {"shape": [1], "dtype": "<b>"}},
    }
    client.records.folder.mkdir(exist_ok=True)
    path = client.records.path("20000101-000000-0000")
    path.write_text(json.dumps(data))
    assert entry(path).formula == "<script>f()</script>"
    listed = client.get("records").text
    assert "<script" not in listed
    assert "<img" not in listed
    assert "&lt;script&gt;" in listed
    path.unlink()
