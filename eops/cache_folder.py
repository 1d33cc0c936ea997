"""The folder that keeps what later processes use again: compiled kernels, sources, derivations.

`EINDERIVE_CACHE` names it, or is `off`; by default it is `einderive` in the platform's folder of
caches.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

VARIABLE: Final = "EINDERIVE_CACHE"
OFF: Final = "off"


def cache_folder() -> Path | None:
    """The folder, which may not exist yet; None if nothing is kept."""
    said = os.environ.get(VARIABLE, "")
    if said.lower() == OFF:
        return None
    try:
        if said:
            return Path(said).absolute()
        import platformdirs  # only where nothing is said

        return platformdirs.user_cache_path("einderive")
    except (OSError, RuntimeError):  # no home
        return None


def theirs(folder: Path) -> str:
    """Why what lies in the folder may be another user's; empty if it is not, or if there is no
    folder."""
    if not hasattr(os, "geteuid"):
        return ""
    try:
        found = folder.stat()
    except OSError:
        return ""
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "other users may write to it"
    return ""
