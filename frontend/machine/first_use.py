"""The rough profile that the first `compile` on a machine measures.

    no profile is kept, and one can be   ->   a rough one, in about a second, for all later ones

A profile of which figures are missing, as on a machine that does much else, is not kept: then the
next processes try it again, a few times.
"""

from __future__ import annotations

import os
from typing import Final

from einderive.eops.cache_folder import OFF
from einderive.frontend.machine.key import KIND, profile_key
from einderive.frontend.machine.measure import ROUGH, ROUGH_SECONDS, measured
from einderive.frontend.machine.stored import keep, profile_of
from einderive.frontend.memory.kept import store

VARIABLE: Final = "EINDERIVE_FIRST_PROFILE"
"""With `off`, no profile is measured but by `einderive machine`."""
ATTEMPTS: Final = "attempts"
MOST_ATTEMPTS: Final = 3


def measure_first() -> bool:
    """Measures and keeps a rough profile of the processor, where there is none; says whether that
    was done.  Where the store keeps nothing, nothing is measured, as each process would do it
    again.  KeyboardInterrupt ends it."""
    if os.environ.get(VARIABLE, "").lower() == OFF:
        return False
    kept, key = store(), profile_key()
    if kept.get(KIND, key) is not None:
        return False
    before = kept.get(ATTEMPTS, key)
    number = int(before.text) + 1 if before is not None and before.text.isdecimal() else 1
    if number > MOST_ATTEMPTS or not kept.put(ATTEMPTS, key, str(number), "to measure a profile"):
        return False
    found = measured(profile_of("cpu"), ROUGH_SECONDS, ROUGH)
    if found.interrupted:
        raise KeyboardInterrupt
    return not found.missing and keep(found.machine)
