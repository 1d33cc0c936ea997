"""Records and command lines that were tampered with: refused by an error of ours, or read."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import pickle
from pathlib import Path
from random import Random
from typing import Any

import pytest

import einderive as ed
from einderive.frontend.cli.main import main
from einderive.ta.errors import RecordError
from tests.amount import CAMPAIGN
from tests.hostile.attempt import record
from tests.hostile.bounds import CALLS, bounded

MANY_TIMES = pytest.mark.parametrize("times", [1, pytest.param(20, marks=CAMPAIGN)])

JUNK: tuple[Any, ...] = (
    None, True, -1, 0, 2, 10**30, 10**400, 0.5, -1e308, "", "{L", "i", "A", [], [[]], [0, 1], {},
    {"kind": "Merge"}, "{L[i:0:4] A[i,0]}", "\x00", "\ud800", "é" * 300, [[[[[]]]]],
    "Y[i] = A[i,k]", "__import__('os').system('true')", "../../etc/passwd", 2**62, 2**31,
)  # fmt: skip


def spoiled(data: Any, random: Random) -> Any:
    """The data with one part replaced, left out, repeated or moved."""
    if isinstance(data, dict | list) and data and random.random() < 0.85:
        keys = list(data) if isinstance(data, dict) else range(len(data))
        key = random.choice(list(keys))
        chance = random.random()
        if chance < 0.1:
            del data[key]
        elif chance < 0.15 and isinstance(data, list):
            data.insert(0, copy.deepcopy(data[key]))
        else:
            data[key] = spoiled(data[key], random)
        return data
    return copy.deepcopy(random.choice(JUNK))


def is_read(path: Path, data: bytes) -> bool:
    path.write_bytes(data)
    try:
        found = ed.load(path)
    except RecordError as error:
        found, drawn = None, str(error)
    else:
        drawn = str(found.source)
    assert drawn.encode("utf-8")
    assert found is not None or "\n  next: " in drawn
    return found is not None


@MANY_TIMES
def test_spoiled_fields(tmp_path: Path, times: int, seed: int) -> None:
    random = Random(f"fields {seed}")
    with bounded(times * CALLS):
        read = [
            is_read(tmp_path / "d.json", json.dumps(spoiled(json.loads(record()), random)).encode())
            for _ in range(150 * times)
        ]
    assert read.count(False) > 75 * times


@MANY_TIMES
def test_spoiled_bytes(tmp_path: Path, times: int, seed: int) -> None:
    random, valid = Random(f"bytes {seed}"), record().encode()
    with bounded(times * CALLS):
        for _ in range(80 * times):
            data = bytearray(valid)
            for _ in range(random.choice((1, 1, 2, 30))):
                data[random.randrange(len(data))] = random.randrange(256)
            is_read(tmp_path / "d.json", bytes(data))
            is_read(tmp_path / "d.json", valid[: random.randrange(len(valid))])


@pytest.mark.parametrize(
    "text",
    ["[" * 1_000_000, '{"a":' * 1_000_000, '"' + "x" * 5_000_000, "9" * 1_000_000, "{}" * 100_000],
    ids=["lists", "objects", "text", "digits", "values"],
)
def test_large_files(tmp_path: Path, text: str) -> None:
    with bounded(mebibytes=200.0):
        assert not is_read(tmp_path / "d.json", text.encode())


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("einderive.frontend.api.json_file.MOST_BYTES", 1 << 20)
    with bounded(), pytest.raises(RecordError, match="more than 1 MiB"):
        ed.load("/dev/zero")


class Detonator:
    """Runs as soon as something unpickles it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_nothing_in_a_record_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    assert pickle.loads(pickle.dumps(Detonator(mark))) is None
    assert mark.exists(), "the detonator works"
    mark.unlink()
    assert not is_read(tmp_path / "d.json", pickle.dumps(Detonator(mark)))

    def planted(data: Any) -> Any:
        """The data with the code in place of each text, one at a time."""
        if isinstance(data, str):
            yield code
        parts = data.items() if isinstance(data, dict) else enumerate(data)
        for key, part in () if isinstance(data, str) or data is None else parts:
            if isinstance(part, dict | list | str):
                for new in planted(part):
                    changed = copy.copy(data)
                    changed[key] = new
                    yield changed

    planted_records = list(planted(json.loads(record())))
    assert len(planted_records) > 10
    for data in planted_records:
        is_read(tmp_path / "d.json", json.dumps(data).encode())
    assert not mark.exists()


WORDS = (
    "derive", "check", "run", "rules", "ops", "bench", "--json", "--html", "--save", "--seconds",
    "--states", "--dtype", "--range", "--weights", "--candidate", "--target", "--help", "--", "-",
    "Y[i] = A[i]", "Y[i] = A[i", "A=3", "A=", "=", "A=3,4", "A=-1", "A=99999999999999999999", "B=3",
    "i=0:3", "h=3:0", "0", "-1", "nan", "1e999", "float32", "A=int8", "gpu", "cpu", "K", "\ud800",
    "\x00", "é", "", "skew", "none.json", "\x1b[31m", "search", "a b", "%s", "{}", "\\", "'", '"',
)  # fmt: skip


@MANY_TIMES
def test_random_command_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int, seed: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("einderive.frontend.bench.run.bench_search", lambda **_: 0)  # takes minutes
    random = Random(f"lines {seed}")
    for _ in range(150 * times):
        line = [random.choice(WORDS) for _ in range(random.randrange(6))]
        if random.random() < 0.7:
            line = ["derive", "Y[i] = A[i]", "A=3", "--states", "9", *line]
        if line in ([], ["bench"]):  # shows the help
            continue
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            code = main(line)
        assert code in (0, 2), (line, errors.getvalue())
        assert code == 0 or errors.getvalue().startswith("error: "), line
