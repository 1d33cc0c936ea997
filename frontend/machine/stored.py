"""The profile of this machine, as the store keeps it between processes.

A profile is kept for a processor with its threads and for torch with its settings
(`memory.surroundings`).  If the store has no profile that can be read, as it is for
`EINDERIVE_CACHE=off`, the profile that comes with the package takes its place.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from einderive.derivations.matching.cost import MACHINES
from einderive.derivations.matching.machine import Machine
from einderive.derivations.matching.profile import from_data, to_data
from einderive.eops.cache_folder import cache_folder
from einderive.frontend.machine.key import FORMAT, KIND, profile_key
from einderive.frontend.memory.kept import store


def profile_of(target: str) -> Machine:
    """The profile that predicts times on a target: one that was measured here, else the one that
    comes with the package."""
    if target != "cpu" or cache_folder() is None:
        return MACHINES[target]
    return _kept(str(cache_folder()), profile_key()) or MACHINES[target]


def profile_digest(target: str) -> str:
    """What a derivation depends on: with other figures, a search finds other programs."""
    found = json.dumps(to_data(profile_of(target)), sort_keys=True)
    return hashlib.sha256(found.encode()).hexdigest()[:32]


def keep(machine: Machine) -> bool:
    """Keeps the profile in place of the one before; says whether that is done."""
    text = json.dumps({"format": FORMAT, "profile": to_data(machine)})
    done = store().put(KIND, profile_key(), text, machine.title)
    _kept.cache_clear()
    return done


@lru_cache(maxsize=4)
def _kept(folder: str, key: str) -> Machine | None:
    """Read once by a process: its derivations do not depend on what others measure meanwhile."""
    found = store().get(KIND, key)
    if found is None:
        return None
    try:
        return from_data(json.loads(found.text)["profile"])
    except (LookupError, TypeError, ValueError):
        return None
