"""The store on disk: one file of SQLite.

- A text is committed whole or not at all.  A process that is killed leaves what was committed
  before, and readers never wait for writers (the write-ahead log).  On a file system that is not
  known to be this machine's own, there is no such log, and readers wait.
- Each text has a seal (`memory.seal`).  What does not fit its seal is not there.
- Beyond `MOST_BYTES`, or `MOST_TEXTS` texts, those that were not used for the longest time are
  deleted, down to three quarters.
- A damaged file is deleted when the next text is kept.  The file of a newer release is left alone.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, TypeVar

from einderive.eops.cache_folder import theirs
from einderive.frontend.memory.folder import is_local, locked, writable
from einderive.frontend.memory.seal import fits, key_of, known_key, seal
from einderive.frontend.memory.store import Kept, State, Store

SCHEMA: Final = 1
TABLE: Final = """
create table if not exists kept (
    kind text not null, key text not null, about text not null, made real not null,
    used real not null, body blob not null, bytes integer not null, seal blob not null,
    primary key (kind, key))
"""
NAMES: Final = ["kind", "key", "about", "made", "used", "body", "bytes", "seal"]
COLUMNS: Final = "kind, key, about, made, used, body, seal"
MOST_BYTES: Final = 64 << 20
MOST_TEXTS: Final = 20_000
LONGEST: Final = 16 << 20
"""Characters of a text; a longer one is not kept, and none is unpacked beyond that."""
REST: Final = 4 << 20
"""Bytes of the file beside the texts."""
LEFT: Final = 0.75
PAGE: Final = 4096
WAITING: Final = 1.0
"""Seconds to wait for another process that writes."""
LONGEST_QUERY: Final = 5.0
"""Seconds after which a query is given up: in a damaged file, one might not end."""
HOUR: Final = 3600.0
"""The time of the last use is written down once an hour at most."""
DAMAGED: Final = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR))
"""Codes of a file that is none of SQLite's, or has other tables (all statements are fixed)."""

T = TypeVar("T")
Connection = sqlite3.Connection


class Newer(Exception):
    """The file was written by a release that keeps texts in another way."""


class Database(Store):
    """The store in a folder.  It is opened anew for each operation: nothing is shared by threads,
    or by processes that were forked."""

    def __init__(self, folder: Path, most: int = MOST_BYTES, texts: int = MOST_TEXTS) -> None:
        self.folder, self.most, self.texts = folder, most, texts
        self.file = folder / "memory.sqlite"

    def get(self, kind: str, key: str) -> Kept | None:
        sealing = known_key(self.folder)
        if sealing is None or theirs(self.folder):
            return None

        def read(connection: Connection) -> Kept | None:
            query = f"select {COLUMNS} from kept where kind = ? and key = ?"
            row = connection.execute(query, (kind, key)).fetchone()
            found = None if row is None else _opened(row, sealing)
            if found is not None and time.time() - found.used > HOUR:
                with suppress(sqlite3.Error):
                    connection.execute(
                        "update kept set used = ? where kind = ? and key = ?",
                        (time.time(), kind, key),
                    )
            return found

        return self._read(read, None)

    def put(self, kind: str, key: str, text: str, about: str = "") -> bool:
        if len(text) > LONGEST:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if theirs(self.folder):
                return False
            sealing, now = key_of(self.folder), time.time()
            body = zlib.compress(text.encode(), 6)
            sealed = seal(sealing, _sealed(kind, key, about, now, body))
            row = (kind, key, about, now, now, body, len(body) + len(about), sealed)
            try:
                self._write(row)
            except sqlite3.DatabaseError as problem:
                if _code(problem) not in DAMAGED:
                    return False
                self._delete_damaged()
                self._write(row)
        except (OSError, sqlite3.Error, Newer, UnicodeError):
            return False
        return True

    def every(self) -> Iterator[Kept]:
        sealing = known_key(self.folder)
        if sealing is None or theirs(self.folder):
            return
        query = "select kind, key from kept order by used desc, kind, key"
        nothing: list[tuple[str, str]] = []
        rows = self._read(lambda connection: connection.execute(query).fetchall(), nothing)
        for kind, key in rows:  # one after the other: all together may be large
            found = self.get(kind, key)
            if found is not None:
                yield found

    def clear(self) -> int:
        if theirs(self.folder):
            return 0

        def delete(connection: Connection) -> int:
            (count,) = connection.execute("select count(*) from kept").fetchone()
            connection.execute("delete from kept")
            with suppress(sqlite3.Error):  # another process may be reading
                connection.execute("vacuum")
                connection.execute("pragma wal_checkpoint(truncate)")
            return int(count)

        try:
            with closing(self._connection()) as connection:
                return delete(connection)
        except (OSError, sqlite3.Error, Newer) as problem:
            if _code(problem) in DAMAGED:
                with suppress(OSError):
                    self._delete_damaged()
            return 0

    def state(self) -> State:
        size, journal = 0, ""
        for path in self._files():
            with suppress(OSError):
                size += path.stat().st_size
        problem = theirs(self.folder)
        if not problem:
            try:
                if self.file.exists():
                    with closing(self._connection()) as connection:
                        (journal,) = connection.execute("pragma journal_mode").fetchone()
                        connection.execute("select count(*) from kept").fetchone()
                    if known_key(self.folder) is None:
                        problem = "its key is missing"
                problem = problem or self._not_writable()
            except Newer:
                problem = "a newer release of einderive wrote it"
            except (OSError, sqlite3.Error) as error:
                damaged = _code(error) in DAMAGED
                problem = (
                    "it is damaged, and made anew at the next compile" if damaged else str(error)
                )
        return State(str(self.file), problem, journal, size, self.most)

    def _not_writable(self) -> str:
        """Why nothing can be added; empty if something can."""
        place = self.folder
        while not place.exists() and place != place.parent:
            place = place.parent
        return "" if place.is_dir() and writable(place) else "the folder cannot be written to"

    def _files(self) -> list[Path]:
        return [
            self.file.with_name(self.file.name + end) for end in ("", "-wal", "-shm", "-journal")
        ]

    def _read(self, read: Callable[[Connection], T], otherwise: T) -> T:
        if not self.file.exists():
            return otherwise
        try:
            with closing(self._connection()) as connection:
                return read(connection)
        except (OSError, sqlite3.Error, Newer):
            return otherwise

    def _connection(self, write: bool = False) -> Connection:
        """Raises Newer, OSError or sqlite3.Error.  Unless something is to be written, there must be
        a file; one that cannot be written to is read as it stands."""
        place = self.file.as_uri()
        if write:
            return self._checked(f"{place}?mode=rwc")
        try:
            return self._checked(f"{place}?mode=rw")
        except sqlite3.OperationalError:
            if writable(self.folder) or self._files()[1].exists():
                raise
            return self._checked(f"{place}?immutable=1")

    def _checked(self, place: str) -> Connection:
        connection = sqlite3.connect(place, WAITING, isolation_level=None, uri=True)
        try:
            end = time.monotonic() + LONGEST_QUERY
            connection.set_progress_handler(lambda: time.monotonic() > end, 10_000)
            connection.execute("pragma trusted_schema = off")
            connection.execute("pragma cell_size_check = on")
            (version,) = connection.execute("pragma user_version").fetchone()
            if version > SCHEMA:
                raise Newer
        except BaseException:
            connection.close()
            raise
        return connection

    def _write(self, row: tuple[object, ...]) -> None:
        fresh = not self.file.exists()
        if fresh:  # SQLite would let others read it
            with suppress(FileExistsError):
                os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(self._connection(write=True)) as connection:
            log = is_local(self.folder)
            with suppress(sqlite3.OperationalError):  # others have it open: it stays as it is
                connection.execute(f"pragma journal_mode = {'wal' if log else 'delete'}")
            connection.execute(f"pragma synchronous = {'normal' if log else 'full'}")
            connection.execute(f"pragma journal_size_limit = {REST}")
            connection.execute(f"pragma max_page_count = {(2 * self.most + REST) // PAGE}")
            connection.execute("begin immediate")
            try:
                connection.execute(TABLE)
                connection.execute(f"pragma user_version = {SCHEMA}")
                connection.execute(
                    "insert or replace into kept values (?, ?, ?, ?, ?, ?, ?, ?)", row
                )
                self._evict(connection)
                connection.execute("commit")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("rollback")
                raise

    def _evict(self, connection: Connection) -> None:
        """Deletes what was not used for the longest time, where all together is too much."""
        query = "select count(*), coalesce(sum(bytes), 0) from kept"
        count, total = connection.execute(query).fetchone()
        if total <= self.most and count <= self.texts:
            return
        oldest = connection.execute("select rowid, bytes from kept order by used, rowid").fetchall()
        for row, size in oldest[:-1]:  # never what was just added
            connection.execute("delete from kept where rowid = ?", (row,))
            count, total = count - 1, total - size
            if total <= LEFT * self.most and count <= LEFT * self.texts:
                return

    def _delete_damaged(self) -> None:
        """Deletes the file, unless another process has made it anew meanwhile."""
        with locked(self.folder):
            try:
                with closing(self._connection()) as connection:
                    if _is_ours(connection):
                        return
            except Newer:
                return
            except sqlite3.Error as problem:
                if _code(problem) not in DAMAGED:
                    return
            for path in self._files():
                path.unlink(missing_ok=True)


def _is_ours(connection: Connection) -> bool:
    """Whether the file is whole, and has the one table that is made here."""
    (found,) = connection.execute("pragma quick_check(1)").fetchone()
    columns = [row[1] for row in connection.execute("pragma table_info(kept)")]
    (others,) = connection.execute(
        "select count(*) from sqlite_master where type in ('trigger', 'view')"
    ).fetchone()
    return found == "ok" and columns == NAMES and not others


def _code(problem: BaseException) -> int:
    """SQLite's code for the error, without its extension; -1 where there is none."""
    return getattr(problem, "sqlite_errorcode", -1) & 0xFF


def _sealed(kind: str, key: str, about: str, made: float, body: bytes) -> tuple[bytes, ...]:
    return kind.encode(), key.encode(), about.encode(), made.hex().encode(), body


def _opened(row: tuple[object, ...], sealing: bytes) -> Kept | None:
    """The text of a row; None if it does not fit its seal."""
    kind, key, about, made, used, body, sealed = row
    if not (isinstance(kind, str) and isinstance(key, str) and isinstance(about, str)):
        return None
    if not (isinstance(made, float) and isinstance(used, float) and isinstance(body, bytes)):
        return None
    if not fits(seal(sealing, _sealed(kind, key, about, made, body)), sealed):
        return None
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(body, 4 * LONGEST).decode()
    except (zlib.error, UnicodeError):
        return None
    return Kept(kind, key, about, text, made, used) if unpacking.eof else None
