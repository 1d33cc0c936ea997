"""Reads with jumps, of which each finds its cache line gone.

    Y[i,j] = A[i,j]*B[j,i]      over j, each step reads another line of B

A line holds numbers of the next columns, too.  The next steps of `i` find it in the cache where as
many lines as `j` has steps stay there.  Fewer stay where the jumps are multiples of a large power
of two, since then all lines compete for few places (sets) of the cache; and memory is found through
a table of pages, which is limited as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd, prod
from typing import Final

LINE: Final = 16
"""Numbers of four bytes in one line."""
LINES: Final = 1 << 15
WAYS: Final = 16
"""The lines of a cache of 2 MiB, and how many of these one address can be held in."""
PAGE: Final = 1 << 10
PAGES: Final = 1 << 11
"""Numbers of a page, and the pages whose addresses are kept."""
FULL: Final = 0.75
WIDTH: Final = 0.6
"""The first lines are lost where the lines take this part of the places, and all of them where they
take this much more: measured for columns of 256 to 64,000 rows with jumps of 64 bytes to 32 KiB."""


def lost_share(loops: Sequence[int], steps: Mapping[int, int], extents: Sequence[int]) -> float:
    """The part of the reads whose line is read from memory again.  The loops are the outer ones
    first, the steps are those through the operand, in numbers."""
    inner = loops[-1]
    if abs(steps.get(inner, 0)) < LINE:
        return 0.0
    again = (k for k in range(len(loops) - 1) if 0 < abs(steps.get(loops[k], 0)) < LINE)
    between = [i for i in loops[max(again, default=-1) + 1 :] if steps.get(i, 0)]
    lines = prod(extents[i] for i in between)
    common = gcd(*(steps[i] for i in between))
    places = max(WAYS, LINES * LINE // max(LINE, common & -common))
    span = sum((extents[i] - 1) * abs(steps[i]) for i in between)
    pages = min(lines, span // PAGE + 1)
    taken = max(lines / places, pages / PAGES)
    return min(1.0, max(0.0, (taken - FULL) / WIDTH))
