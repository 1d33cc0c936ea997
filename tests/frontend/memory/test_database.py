"""The store on disk: what was committed is found, what is damaged is not there, nothing crashes."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from einderive.frontend.memory import database, folder
from einderive.frontend.memory.database import SCHEMA, Database
from tests.frontend.memory.killed import TEXTS, killed

NOBODY = 65534


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def store(place: Path) -> Database:
    """A store that has one text."""
    found = Database(place)
    assert found.put("choice", "key", "text", "about")
    return found


def text_of(store: Database, key: str = "key") -> str | None:
    found = store.get("choice", key)
    return None if found is None else found.text


def changed(store: Database, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(store.file, isolation_level=None)) as connection:
        connection.execute(statement, values)


def test_what_is_put_is_found_by_kind_and_key(store: Database, place: Path) -> None:
    found = Database(place).get("choice", "key")
    assert found is not None
    assert found[:4] == ("choice", "key", "about", "text")
    assert store.get("choice", "other") is None
    assert store.get("derivation", "key") is None
    assert store.put("choice", "key", "later")
    assert text_of(store) == "later"
    assert [kept.text for kept in store.every()] == ["later"]


def test_nothing_is_made_by_looking(place: Path) -> None:
    store = Database(place)
    assert text_of(store) is None
    assert not [*store.every()]
    assert store.clear() == 0
    assert store.state().problem == ""
    assert not place.exists()


def test_it_is_forgotten_when_it_is_cleared(store: Database) -> None:
    assert store.put("choice", "other", "text")
    assert store.clear() == 2
    assert text_of(store) is None
    assert store.put("choice", "key", "again")
    assert text_of(store) == "again"


def test_the_files_are_the_user_s_alone(store: Database, place: Path) -> None:
    assert place.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in place.iterdir())


@pytest.mark.parametrize(
    ("column", "value"),
    [("body", b"text"), ("about", "other"), ("made", 1.0), ("seal", b"0" * 32), ("key", "stolen")],
)
def test_what_does_not_fit_its_seal_is_not_there(
    store: Database, column: str, value: object
) -> None:
    changed(store, f"update kept set {column} = ?", value)
    assert text_of(store, "stolen" if column == "key" else "key") is None
    assert not [*store.every()]
    assert store.put("choice", "key", "again")
    assert text_of(store) == "again"


def test_a_store_from_elsewhere_is_not_believed(
    store: Database, place: Path, tmp_path: Path
) -> None:
    other = Database(tmp_path / "other")
    assert other.put("choice", "key", "theirs")
    os.replace(other.file, store.file)
    assert text_of(store) is None
    (place / "key").unlink()
    assert text_of(store) is None
    assert "key is missing" in store.state().problem
    assert store.put("choice", "key", "ours")
    assert text_of(store) == "ours"


def noise(data: bytes) -> bytes:
    return random.Random(3).randbytes(len(data))


def one_page(data: bytes) -> bytes:
    return data[:4096] + noise(data[4096:8192]) + data[8192:]


@pytest.mark.parametrize(
    "damage",
    [noise, one_page, lambda data: b"", lambda data: data[:5000], lambda data: bytes(len(data))],
    ids=["noise", "a page", "empty", "short", "zeros"],
)
def test_a_damaged_file_is_made_anew(store: Database, damage: Callable[[bytes], bytes]) -> None:
    for number in range(6):
        assert store.put("choice", str(number), random.Random(number).randbytes(2000).hex())
    store.file.write_bytes(damage(store.file.read_bytes()))
    assert text_of(store) in (None, "text")
    store.state()
    [*store.every()]
    for number in (6, 7):
        store.put("choice", str(number), "text")
    assert text_of(store, "7") == "text"


@pytest.mark.parametrize(
    "statement",
    [
        "drop table kept",
        "alter table kept add column more text",
        "create trigger t after insert on kept begin delete from kept; end",
    ],
)
def test_a_file_with_other_tables_is_made_anew_or_left(store: Database, statement: str) -> None:
    changed(store, statement)
    store.put("choice", "other", "text")
    assert text_of(store, "other") in (None, "text")
    assert store.clear() >= 0


def test_the_file_of_a_newer_release_is_left_alone(store: Database) -> None:
    changed(store, f"pragma user_version = {SCHEMA + 1}")
    before = store.file.read_bytes()
    assert text_of(store) is None
    assert not store.put("choice", "key", "other")
    assert store.clear() == 0
    assert "newer" in store.state().problem
    assert store.file.read_bytes() == before


def test_a_folder_that_others_may_write_to_is_not_believed(store: Database, place: Path) -> None:
    place.chmod(0o777)
    assert text_of(store) is None
    assert not store.put("choice", "key", "other")
    assert "other users" in store.state().problem


@contextmanager
def as_nobody() -> Iterator[None]:
    """Permissions mean nothing to root."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("left", ["a file", "nothing"])
def test_a_home_that_is_read_only(place: Path, tmp_path: Path, left: str) -> None:
    store = Database(place)
    if left == "a file":
        assert store.put("choice", "key", "text")
    else:
        place.mkdir()
    if not os.geteuid():
        for path in (tmp_path, place, *place.iterdir()):
            os.chown(path, NOBODY, NOBODY)
    for parent in (p for p in tmp_path.parents if p.name.startswith(("pytest-", "popen-"))):
        parent.chmod(parent.stat().st_mode | 0o011)  # nobody may pass
    place.chmod(0o500)
    try:
        with as_nobody():
            assert text_of(store) == ("text" if left == "a file" else None)
            assert not store.put("choice", "key", "other")
            assert "cannot be written" in store.state().problem
            assert store.clear() == 0
    finally:
        place.chmod(0o700)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("")
    store = Database(tmp_path / "memory")
    assert not store.put("choice", "key", "text")
    assert text_of(store) is None
    assert store.state().problem


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_what_was_committed_stays(place: Path) -> None:
    store, kept = Database(place), []
    with files_of_at_most(60_000):
        for number in range(25):
            if store.put("choice", str(number), random.Random(number).randbytes(5000).hex()):
                kept.append(number)
    assert 0 < len(kept) < 25
    for number in kept:
        assert text_of(store, str(number)) == random.Random(number).randbytes(5000).hex()
    assert store.put("choice", "key", "text"), "there is room again"


def test_what_was_not_used_for_the_longest_time_is_deleted(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, now = Database(place, most=60_000), [0.0]
    monkeypatch.setattr(database.time, "time", lambda: now[0])
    for number in range(20):
        now[0] += 2 * database.HOUR
        assert store.put("choice", str(number), random.Random(number).randbytes(5000).hex())
        assert text_of(store, "0") is not None, "it is used all the time"
    left = {kept.key for kept in store.every()}
    assert {"0", "19", "18", "17"} <= left
    assert "1" not in left
    assert len(left) <= 60_000 // 5000
    assert store.state().size < 3 * 60_000


def test_there_are_not_too_many(place: Path) -> None:
    store = Database(place, texts=4)
    for number in range(9):
        assert store.put("choice", str(number), "")
    assert 3 <= len([*store.every()]) <= 4


def test_no_log_on_a_file_system_of_another_machine(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    monkeypatch.setattr(folder, "MOUNTS", mounts)
    lines = ["1 0 0:1 / / rw - ext4 /dev/a rw", f"2 1 0:2 / {tmp_path} rw - nfs4 host:/home rw"]
    mounts.write_text("\n".join(lines))
    assert not folder.is_local(place)
    store = Database(place)
    assert store.put("choice", "key", "text")
    assert text_of(store) == "text"
    assert store.state().journal == "delete"
    mounts.write_text(lines[0])
    assert folder.is_local(place)
    assert store.put("choice", "key", "text")
    assert store.state().journal == "wal"
    mounts.unlink()
    assert not folder.is_local(place), "unknown"


def test_processes_that_are_killed_lose_nothing(place: Path) -> None:
    killed(place, processes=3, seconds=0.0, seed=1)


@pytest.mark.campaign
def test_eight_processes_are_killed_for_two_minutes(place: Path, seed: int) -> None:
    figures = killed(place, processes=8, seconds=120.0, seed=seed)
    print(figures)


@pytest.mark.campaign
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_disk_of_one_megabyte(tmp_path: Path) -> None:
    made = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(tmp_path)]
    if subprocess.run(made, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        figures = killed(tmp_path / "memory", processes=4, seconds=20.0, seed=1)
        print(figures)
        assert figures.refused > 0
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_every_text_is_another_one() -> None:
    assert len({*TEXTS}) == len(TEXTS)
    assert sys.getsizeof(TEXTS[0]) > 100
