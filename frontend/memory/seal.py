"""Seals: only what was kept with this folder's key is believed.

    seal(key, parts)  =  HMAC-SHA256(key, parts with their lengths)

The key is 32 random bytes in a file beside the store, for the user's eyes alone.  A damaged text
does not fit its seal, and nor does a store that comes from elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from einderive.frontend.memory.folder import locked

BYTES = 32


def seal(key: bytes, parts: Iterable[bytes]) -> bytes:
    """The seal of the parts, in this order."""
    found = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.digest()


def fits(one: bytes, other: object) -> bool:
    return isinstance(other, bytes) and hmac.compare_digest(one, other)


def known_key(folder: Path) -> bytes | None:
    """The folder's key, if it has a whole one."""
    try:
        found = (folder / "key").read_bytes()
    except OSError:
        return None
    return found if len(found) == BYTES else None


def key_of(folder: Path) -> bytes:
    """The folder's key, which is made where there is none.  Raises OSError where it cannot be
    kept."""
    found = known_key(folder)
    if found is not None:
        return found
    with locked(folder):
        found = known_key(folder)
        if found is None:
            found = secrets.token_bytes(BYTES)
            draft = folder / "key.draft"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(found)
            os.replace(draft, folder / "key")
    return found
