"""Which statements of a program are its outputs.

They are the statements that no other statement reads, and those with `out` before them; or those
that the caller names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from einderive.ta.errors import NameUnknownError, shown
from einderive.ta.refusals import misgiven


def output_names(
    statements: Sequence[str], read: Set[str], marked: Set[str], chosen: Sequence[str] | None
) -> tuple[str, ...]:
    """The names of the outputs, in the order of the statements."""
    outputs = marked | {name for name in statements if name not in read}
    if chosen is not None:
        _check(chosen, statements, marked)
        outputs = {*chosen}
    return tuple(name for name in statements if name in outputs)


def checked_names(names: object) -> tuple[str, ...]:
    """The argument `outputs` as a tuple of names.  RangeError for anything else, or for too many
    names."""
    found = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str) else None
    if found is None or not all(isinstance(name, str) for name in found):
        raise misgiven("outputs-of-others", given=shown(names))
    return found


def _check(chosen: Sequence[str], statements: Sequence[str], marked: Set[str]) -> None:
    message = "" if chosen else "outputs names no statement"
    for name in chosen:
        if name not in statements:
            message = f"{shown(name)} is named in outputs, and no statement defines it"
    for name in sorted(marked - {*chosen}):
        message = f"the text says `out {name}`, and outputs leaves it out"
    if message:
        raise NameUnknownError(message, next_step=f"the statements define {', '.join(statements)}")
