"""What a user may ask of a program besides its speed.

memory=         the bytes of temporaries that a call may have at once; "2GB", "512MiB", 10**9
deterministic=  the same operands give the same bits, whenever the program runs
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from einderive.ta.errors import TextError, shown

Memory: TypeAlias = int | str | None
"""A limit as a user gives it: bytes, or a number with a unit."""
_AMOUNT: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", re.IGNORECASE | re.ASCII)
_PREFIXES: Final = "kmgt"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is asked: `memory` in bytes, None for any amount."""

    memory: int | None = None
    deterministic: bool = False

    def __bool__(self) -> bool:
        return self.memory is not None or self.deterministic


ANY: Final = Limits()


def limits_of(memory: object, deterministic: object) -> Limits:
    """The limits that a user means.  TextError for what is no amount of memory, or no truth
    value."""
    if type(deterministic) is not bool:
        raise TextError(
            f"deterministic is True or False, not {shown(deterministic, 40)}",
            next_step="for example deterministic=True",
        )
    return Limits(None if memory is None else _bytes(memory), deterministic)


def _bytes(memory: object) -> int:
    if isinstance(memory, int | np.integer) and type(memory) is not bool and memory >= 0:
        return int(memory)
    found = _AMOUNT.fullmatch(memory) if isinstance(memory, str) else None
    if found is None:
        raise TextError(
            f"memory is a number of bytes, not {shown(memory, 40)}",
            next_step='for example memory="2GB", memory="512MiB" or memory=10**9',
        )
    number, unit = found[1], found[2].lower()
    power = _PREFIXES.find(unit[:1]) + 1 if unit else 0
    return int(float(number) * (1024 if "i" in unit else 1000) ** power)
