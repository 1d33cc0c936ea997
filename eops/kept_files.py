"""Files that back ends keep in the folder of caches: each appears whole or not at all, and those of
one folder together stay small."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write the file by renaming a finished temporary one over it.  Its folder is made if there is
    none, for this user alone.  Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def keep_small(folder: Path, most: int, named: str = "*", spared: float = 0.0) -> None:
    """Delete the files of such names that were used least lately, if all together have more than
    `most` bytes, down to half of it; not those that were used in the last `spared` seconds.
    Raises OSError."""
    there = (path for path in folder.glob(named) if path.is_file())
    files = sorted(((path.stat(), path) for path in there), key=lambda file: file[0].st_mtime)
    total = sum(status.st_size for status, _ in files)
    if total <= most:
        return
    latest = time.time() - spared
    for status, path in files:
        if spared and status.st_mtime > latest:
            return
        path.unlink(missing_ok=True)
        total -= status.st_size
        if total <= most // 2:
            return
