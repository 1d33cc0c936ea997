"""Compiled kernels on disk: a kernel that was compiled once is loaded later, in other processes
too.

The key of a kernel is a digest of everything that its machine code depends on: its source, the
types of operands and result, the files of `eops.cpu_kernels`, the versions of numba and llvmlite,
and the processor with its features.  They lie in the folder of `eops.cache_folder`.  A file appears
whole or not at all.  A file that is damaged, or cannot be read or written, is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from platform import machine
from typing import Any, Final, NamedTuple

from llvmlite import binding
from numba.core.registry import cpu_target

from einderive.eops.cpu_kernels.calls.entry import Code
from einderive.eops.cpu_kernels.calls.linked import Content, content, folder, needs_of
from einderive.eops.kept_files import keep_small, write_whole
from einderive.ta.functions import helper

MOST_BYTES: Final = 64 << 20
"""Bytes on disk.  Beyond this, the kernels that were not used for the longest time are deleted,
down to half of it."""


class Library(NamedTuple):
    """Machine code, and the name of its function."""

    library: Any
    symbol: str


def digest(source: str, types: Sequence[str]) -> str:
    """The name under which the kernel of this source is kept."""
    text = json.dumps([source, *types, *_surroundings()])
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _surroundings() -> tuple[str, ...]:
    """What machine code depends on besides."""
    own = hashlib.sha256()
    texts = Path(helper.__file__).parent  # of functions, some of which are compiled as they are
    for place in (Path(__file__).parents[1], texts):
        for path in sorted(place.rglob("*.*")):
            if path.suffix in (".py", ".toml"):
                own.update(path.read_bytes())
    return (
        own.hexdigest(),
        version("numba"),
        version("llvmlite"),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
    )


def has_half() -> bool:
    """Whether the processor converts float16."""
    features = binding.get_host_cpu_features()
    return bool(features.get("f16c", machine() not in ("x86_64", "AMD64", "i686")))


def stored(name: str) -> Code | None:
    """The kernel of this name, if it is kept."""
    place = folder()
    if place is None:
        return None
    path = place / name
    try:
        found = content(path.read_bytes())
        state = (found.library, "object", (found.machine, found.bitcode))
        library = cpu_target.target_context.codegen().unserialize_library(state)
        address = library.get_pointer_to_function(found.symbol)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None
    with suppress(OSError):
        os.utime(path)
    return Code(address, library, name) if address else None


def store(name: str, compiled: Library) -> Code:
    """The compiled code, kept if the disk allows it."""
    code = Code(compiled.library.get_pointer_to_function(compiled.symbol), compiled.library)
    place = folder()
    if place is None:
        return code
    library, _, (machine, bitcode) = compiled.library.serialize_using_object_code()
    made = Content(compiled.symbol, library, needs_of(machine), machine, bitcode)
    with suppress(OSError):
        write_whole(place / name, made.text())
        code = code._replace(file=name)
        keep_small(place, MOST_BYTES)
    return code
