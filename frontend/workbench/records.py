"""The records of the workbench: files in one folder, each a saved derivation."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from time import strftime

import platformdirs

from einderive.frontend.api.compiled import Derivation
from einderive.frontend.api.record import load
from einderive.frontend.explorer.comparison.page import comparison_page
from einderive.frontend.explorer.page import page
from einderive.frontend.explorer.view import view_of
from einderive.frontend.files import write_whole
from einderive.frontend.memory.folder import locked
from einderive.frontend.memory.surroundings import software
from einderive.frontend.workbench.entries import Entry, entry
from einderive.ta.errors import RecordError

NAME = re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}")
"""The day, the time, and what tells records of the same second apart."""
KEY, PORT = "address.key", "address.port"
KEY_TEXT = re.compile(r"[\w-]{22}", re.ASCII)


def usual_folder() -> Path:
    return platformdirs.user_data_path("einderive") / "records"


@dataclass(frozen=True, slots=True)
class Records:
    folder: Path

    def key(self) -> str:
        """What ends the workbench's address: the same at each start, so that links outlast it, and
        the same for workbenches that start at once.  Its file can be read by this user alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / KEY
        if kept := _key(file):
            return kept
        new = self.folder / f".{KEY}.{secrets.token_hex(8)}"
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
            written.write(secrets.token_urlsafe(16))
        try:
            with ExitStack() as alone:
                with suppress(OSError):  # a file system without locks
                    alone.enter_context(locked(self.folder))
                if not _key(file):  # else another one was first
                    os.replace(new, file)
                return _key(file)
        finally:
            new.unlink(missing_ok=True)

    def port(self) -> int:
        """The port of the last workbench with these records; 0 where there was none."""
        try:
            text = (self.folder / PORT).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return 0
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 0

    def keep_port(self, port: int) -> None:
        write_whole(self.folder / PORT, f"{port}")

    def new(self) -> str:
        """A name that no record has; the folder is made where it is missing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while self.path(name := f"{strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}").exists():
            pass
        return name

    def path(self, name: str) -> Path:
        """The file of a record; FileNotFoundError for what is no name of one."""
        if not NAME.fullmatch(name):
            raise FileNotFoundError(name)
        return self.folder / f"{name}.json"

    def existing(self, name: str) -> Path:
        """The file of a record that is there."""
        path = self.path(name)
        if not path.exists():
            raise FileNotFoundError(name)
        return path

    def page_file(self, name: str) -> Path:
        """Where the page of a record is kept."""
        return self.path(name).with_suffix(".html")

    def formula(self, name: str) -> str:
        """The formula of a record; RecordError where the file is none."""
        found = entry(self.existing(name))
        if found.problem:
            raise RecordError(found.problem)
        return found.formula

    def listed(self) -> list[Entry]:
        """The records, the latest first."""
        names = sorted((path.stem for path in self.folder.glob("*.json")), reverse=True)
        return [entry(self.path(name)) for name in names if NAME.fullmatch(name)]

    def take(self, text: str) -> str:
        """Keeps a record that was saved elsewhere, and gives its name; RecordError for what is
        none."""
        name = self.new()
        write_whole(self.path(name), text)
        try:
            load(self.path(name))
        except BaseException:
            self.forget(name)
            raise
        return name

    def forget(self, name: str) -> None:
        """Deletes a record and its page."""
        self.existing(name).unlink()
        self.page_file(name).unlink(missing_ok=True)

    def page(self, name: str) -> str:
        """The explorer's page of a record; RecordError where the file is none."""
        return page_of(self.existing(name), self.page_file(name))

    def comparison(self, one: str, other: str) -> str:
        """The explorer's page of two records side by side."""
        found = [load(self.existing(name)) for name in (one, other)]
        when = [entry(self.path(name)).when for name in (one, other)]
        names = tuple(when) if when[0] != when[1] else (one, other)
        return comparison_page(found[0], found[1], (names[0], names[1]))


def _key(file: Path) -> str:
    """The key that a file holds; empty where it holds none, or is not there."""
    try:
        found = file.read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""
    return found if KEY_TEXT.fullmatch(found) else ""


def page_of(record: Path, file: Path) -> str:
    """The page of the record, by its file where that belongs to the record's text and to this
    release, so that it opens at once; RecordError where the record is none."""
    mark = _mark(record)
    if file.exists() and (known := file.read_text(encoding="utf-8")).endswith(mark):
        return known
    return write_page(record, file, load(record))


def write_page(record: Path, file: Path, derivation: Derivation) -> str:
    """Writes the page of the record, whose derivation is at hand."""
    view = view_of(derivation, derivation.recorded_race, search=True, data=True)
    text = page(view) + _mark(record)
    write_whole(file, text)
    return text


def _mark(record: Path) -> str:
    release = repr(sorted(software().items())).encode()
    return f"<!-- {sha256(record.read_bytes() + release).hexdigest()} -->\n"
