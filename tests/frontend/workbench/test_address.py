"""The workbench's address: the same at each start, its key private, its port free to others."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_IMODE
from types import SimpleNamespace

import pytest

import einderive.frontend.workbench.records as keeping
import einderive.frontend.workbench.serve as serving
from einderive.frontend.workbench.records import KEY, KEY_TEXT, PORT, Records
from tests.frontend.workbench.served import PATIENCE


def test_the_key_of_the_address_stays_and_is_private(tmp_path: Path) -> None:
    key = Records(tmp_path).key()
    assert Records(tmp_path).key() == key != Records(tmp_path / "other").key()
    file = tmp_path / KEY
    assert S_IMODE(file.stat().st_mode) == 0o600
    for broken in ("", "../" * 8, f"{key}/"):
        file.write_text(broken)
        assert KEY_TEXT.fullmatch(Records(tmp_path).key())
    assert Records(tmp_path).listed() == []


@pytest.mark.parametrize("before", [None, "", "no key"])
def test_workbenches_that_start_at_once_have_one_key(before: str | None, tmp_path: Path) -> None:
    """Each looks while the others have not written yet, as threads that wait for one another."""
    looked, real, count = threading.Barrier(4), keeping._key, threading.local()

    def looking(file: Path) -> str:
        found = real(file)
        if not hasattr(count, "looked"):
            count.looked = True
            looked.wait(PATIENCE)
        return found

    if before is not None:
        (tmp_path / KEY).write_text(before, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(4) as threads:
        patch.setattr(keeping, "_key", looking)
        keys = list(threads.map(lambda _: Records(tmp_path).key(), range(4)))
    assert len(set(keys)) == 1
    assert Records(tmp_path).key() == keys[0]
    assert sorted(each.name for each in tmp_path.iterdir()) == [KEY, "lock"]
    assert S_IMODE((tmp_path / KEY).stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "-1", "x", "123456", "８", "\n"])
def test_a_kept_port_that_is_none_is_no_port(text: str, tmp_path: Path) -> None:
    Records(tmp_path).keep_port(4711)
    assert Records(tmp_path).port() == 4711
    (tmp_path / PORT).write_text(text, encoding="utf-8")
    assert Records(tmp_path).port() == 0


def test_a_link_holds_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(run=lambda sockets: None)
    monkeypatch.setattr(serving, "server_of", lambda *given: ended)
    told: list[str] = []

    def started(port: int = 0) -> str:
        serving.serve(port, Records(tmp_path), told.append)
        return told[-1]

    first = started()
    assert started() == first
    with socket.socket() as other:
        other.bind((serving.HOME, Records(tmp_path).port()))
        other.listen()
        assert started() != first
    assert started() == first
