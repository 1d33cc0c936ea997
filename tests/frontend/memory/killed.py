"""Processes that keep and read texts in one store, and are killed at random.

A worker prints the number of a text when `put` says that it is kept.  What was printed must be
found in the end, and nothing but what was put may ever be found.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from einderive.frontend.memory.database import Database

ROOT = Path(__file__).parents[3]
COUNT = 2000
LEAST = 4
"""So many workers are killed at least."""
TEXTS = [random.Random(number).randbytes(50 + 40 * (number % 90)).hex() for number in range(COUNT)]
"""The text of each number, of 100 to 7000 characters."""


class Figures(NamedTuple):
    """What happened."""

    killed: int
    kept: int
    refused: int


def killed(place: Path, processes: int, seconds: float, seed: int) -> Figures:
    """Runs workers, kills them and starts others until the time is over; the figures."""
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:  # on another disk, which is not full
        return _figures(place, processes, seconds, drawn, Path(folder))


def _figures(
    place: Path, processes: int, seconds: float, drawn: random.Random, logs: Path
) -> Figures:
    running: list[tuple[subprocess.Popen[bytes], Path]] = []
    count, end = 0, time.monotonic() + seconds
    try:
        while time.monotonic() < end or count < LEAST:
            while len(running) < processes:
                log = logs / str(count + len(running))
                running.append((_worker(place, drawn.randrange(1 << 30), log), log))
            worker, log = running.pop(drawn.randrange(processes))
            while not log.stat().st_size:  # it has begun
                assert worker.poll() is None, "a worker ended by itself"
                time.sleep(0.01)
            time.sleep(drawn.uniform(0.0, 0.1))
            worker.kill()
            worker.wait()
            count += 1
    finally:
        for worker, _ in running:
            worker.kill()
            worker.wait()
    said = [line.split() for log in logs.iterdir() for line in log.read_text().splitlines()]
    assert not [words for words in said if words[0] == "wrong"]
    kept = {int(words[1]) for words in said if words[:1] == ["kept"] and words[-1] == "."}
    store = Database(place)
    for number in kept:
        found = store.get("choice", str(number))
        assert found is not None, f"{number} was kept and is lost"
        assert found.text == TEXTS[number]
    refused = sum(words[0] == "refused" for words in said)
    assert kept
    return Figures(count, len(kept), refused)


def _worker(place: Path, seed: int, log: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with open(log, "wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.frontend.memory.killed", str(place), str(seed)],
            stdout=file,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path},
        )


def work(place: Path, seed: int) -> None:
    """Keeps and reads texts until it is killed."""
    store, drawn = Database(place), random.Random(seed)
    while True:
        number = drawn.randrange(COUNT)
        if drawn.random() < 0.5:
            found = store.get("choice", str(number))
            if found is not None and found.text != TEXTS[number]:
                os.write(1, f"wrong {number} .\n".encode())
        else:
            said = "kept" if store.put("choice", str(number), TEXTS[number]) else "refused"
            os.write(1, f"{said} {number} .\n".encode())


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))
