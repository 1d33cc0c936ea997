"""Times of a kernel's configurations on disk: what one process measured, later ones read.

    keep(name, {"BLOCK = 512, ...": 1.2e-5, ...});  kept(name, configurations)  ->  the times again

The name is a digest of everything that the times depend on: of the kernel (its source, operands,
results and configurations), of the kind of device, and of what makes machine code of the source:
the files of `eops.triton_kernels`, torch, CUDA and Triton.  A file appears whole or not at all.  A
damaged one, or one that cannot be read or written, is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from math import inf, isfinite
from pathlib import Path
from typing import Final

import torch

from einderive.eops.cache_folder import cache_folder, theirs
from einderive.eops.kept_files import keep_small, write_whole

FOLDER: Final = "configurations"
MOST_BYTES: Final = 1 << 20
"""Bytes on disk, of thousands of kernels.  Beyond this, those that were not used for the longest
time are deleted, down to half of it."""


def digest(*facts: object) -> str:
    """The name under which the times are kept of a kernel with these facts."""
    text = json.dumps([*map(str, facts), *_surroundings()])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _surroundings() -> tuple[str, ...]:
    """What makes machine code of a kernel's source."""
    own = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        own.update(path.read_bytes())
    return own.hexdigest(), torch.__version__, str(torch.version.cuda), version("triton")


def kept(name: str, configurations: Sequence[str]) -> tuple[float, ...] | None:
    """The seconds of these configurations, if they are kept; infinite for one that cannot run."""
    place = _folder()
    if place is None:
        return None
    path = place / name
    try:
        seconds = json.loads(path.read_bytes())["seconds"]
        found = tuple(
            [inf if seconds[one] is None else float(seconds[one]) for one in configurations]
        )
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
    if not isfinite(min(found)) or min(found) <= 0:
        return None
    with suppress(OSError):
        os.utime(path)
    return found


def keep(name: str, seconds: Mapping[str, float]) -> None:
    """Keep the seconds of the configurations, if one of them can run and the disk allows it."""
    place = _folder()
    if place is None or not any(map(isfinite, seconds.values())):
        return
    best = min(seconds, key=seconds.__getitem__)
    found = {one: each if isfinite(each) else None for one, each in seconds.items()}
    text = json.dumps({"fastest": best, "seconds": found})
    with suppress(OSError):
        write_whole(place / name, text.encode())
        keep_small(place, MOST_BYTES)


def _folder() -> Path | None:
    """The folder of times; None if nothing is kept, or if others may write there."""
    place = cache_folder()
    found = None if place is None else place / FOLDER
    return None if found is None or theirs(found) else found
