"""Writing a file: it appears whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path

from einderive.frontend.interruption import termination_waits
from einderive.ta.errors import OutputError, shown

MOST_SHOWN = 400
"""A longer path is cut to its beginning in messages."""


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file by renaming a finished temporary one over it.  OutputError if that fails.

    An existing file keeps its permissions, and a link still points to it.  A terminal, a pipe or a
    device is written to directly.
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise OutputError(f"{shown(path)} is not a path", next_step="name a file, as a text")
    try:
        name = os.fsdecode(path)
    except Exception as problem:  # whatever an object of the caller's raises
        raise OutputError(
            f"{shown(path)} is not a path", next_step="name a file, as a text"
        ) from problem
    try:
        data = text.encode("utf-8")
        _write(Path(os.path.realpath(name)), data)
    except (OSError, ValueError) as problem:  # ValueError: a NUL in the name, half a surrogate pair
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise OutputError(
            f"cannot write {name[:MOST_SHOWN] or 'to an empty name'}: {reason}",
            next_step="name a file in a folder that exists, can be written to and has space left",
        ) from None


def opened(write: Callable[[Path], None]) -> Path:
    """The page that `write` writes to a temporary file, shown in a browser if there is one."""
    path = Path(tempfile.mkdtemp(prefix="einderive-")) / "derivation.html"
    write(path)
    webbrowser.open(path.as_uri())
    return path


def _write(path: Path, data: bytes) -> None:
    mode = _mode(path)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, os.strerror(21))
    if mode and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            file.write(data)
        return
    temporary = path.parent / f".{path.name[:80]}.{secrets.token_hex(4)}"
    with termination_waits():
        try:  # its name is known before it is there, so that no interruption leaves it behind
            with open(temporary, "xb", opener=_private) as file:
                file.write(data)
            os.chmod(temporary, stat.S_IMODE(mode) if mode else 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def _mode(path: Path) -> int:
    """The kind of file at the path, and its permissions; 0 if there is none."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return 0


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
