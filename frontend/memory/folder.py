"""The folder of the store: whether it may be written to, and whether it lies on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

LOCAL = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs"),
    *("overlay", "tmpfs", "ramfs", "apfs", "hfs", "ufs"),
}
"""File systems of one machine: processes share memory there, which SQLite's log needs."""
MOUNTS = Path("/proc/self/mountinfo")
WAITING = 5.0
"""Seconds to wait for a lock."""


def writable(folder: Path) -> bool:
    """Whether this process may add files."""
    return os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_local(folder: Path) -> bool:
    """Whether the folder is known to lie on a disk of this machine."""
    try:
        place = folder.resolve()
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, RuntimeError):
        return False
    found, longest = "", -1
    for line in lines:
        before, _, after = line.partition(" - ")
        words = before.split()
        if len(words) > 4 and after:
            point = words[4].encode().decode("unicode_escape")  # a blank is \040
            if place.is_relative_to(point) and len(point) >= longest:  # the last covers the others
                found, longest = after.split()[0], len(point)
    return found in LOCAL


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A context that one process at a time is in.  A process that ends leaves it, however it
    ends.  Raises OSError where another one stays in it for seconds."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock(handle)
        yield
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    if fcntl is None:
        return
    end = time.monotonic() + WAITING
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
