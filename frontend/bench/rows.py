"""The table of a measurement: printed row by row, or kept for one JSON document at the end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from typing import Any, Self

from einderive.derivations.search.progress import Watch
from einderive.frontend.report.data import json_text, plain
from einderive.frontend.report.terminal import Progress


class Rows:
    """Text goes to stdout at once, and what is being measured to the line of progress; with
    `as_json`, stdout has the rows' data alone, when all are there or the run was interrupted."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json, self.found = as_json, list[Any]()
        self.progress = Progress()

    def __enter__(self) -> Self:
        self.progress.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self.progress.__exit__(*problem)
        if self.as_json and problem[0] in (None, KeyboardInterrupt):
            print(json_text(self.found))

    @property
    def watch(self) -> Watch | None:
        """The function to which a search reports its progress, if a terminal shows it."""
        return self.progress.watch if self.progress.wanted else None

    def say(self, text: str = "") -> None:
        """A line that is no row."""
        self.progress.write("")
        if not self.as_json:
            print(text, flush=True)

    def add(self, text: str, data: Any) -> None:
        """A row: the line, and the same as data."""
        self.found.append(plain(data))
        self.say(text)

    def add_from(self, command: Sequence[str]) -> int:
        """The rows of another process that measures, and its exit code."""
        options = ["--json"] if self.as_json else []
        kept = subprocess.PIPE if self.as_json else None
        done = subprocess.run([*command, *options], stdout=kept, check=False)
        if self.as_json and not done.returncode:
            self.found += json.loads(done.stdout)
        return done.returncode
