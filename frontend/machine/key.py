"""Under what the store keeps the profile of this machine."""

from __future__ import annotations

import hashlib

from einderive.frontend.memory.surroundings import machine as surroundings

KIND = "profile"
FORMAT = 5


def profile_key() -> str:
    return hashlib.sha256(repr((FORMAT, surroundings("cpu"))).encode()).hexdigest()
