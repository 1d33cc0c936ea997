"""Exact statements about quasi-affine rows over a box.

A box is a sequence of ranges.  Questions about all its points are answered by intervals where these
decide, else by integer sets (isl), symbolically: the cost does not depend on the extents.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import islpy as isl

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row

Box: TypeAlias = Sequence[Range]
Read: TypeAlias = tuple[Row, Range]
"""One index row of an access, with the range of the source's dimension that it reads."""

MOST_CORNERS = 256
_thread = threading.local()


def row_bounds(row: Row, ranges: Box) -> tuple[int, int]:
    """The least and the greatest value of the row over the box `ranges`; the row takes both.

    Raises ValueError if a range is empty.
    """
    if not all(side.extent for side in ranges):
        raise ValueError("an empty box has no bounds")
    bounds = affine.bounds(row, ranges)
    if not row.floors or bounds[0] == bounds[1]:
        return bounds
    # Only the iterators that occur matter; the others would multiply the corners.
    used = sorted(affine.iterators(row))
    narrow = affine.rename(row, {i: k for k, i in enumerate(used)})
    return _quasi_bounds(narrow, tuple(ranges[i] for i in used), bounds)


@lru_cache(maxsize=1 << 14)
def _quasi_bounds(row: Row, ranges: tuple[Range, ...], bounds: tuple[int, int]) -> tuple[int, int]:
    if 1 << len(ranges) <= MOST_CORNERS:
        corners = product(*({side.lo, side.hi - 1} for side in ranges))
        values = {affine.evaluate(row, corner.__getitem__) for corner in corners}
        if min(values) == bounds[0] and max(values) == bounds[1]:
            return bounds
    text = f"{{ [{_variables(ranges)}] -> [{_text(row)}] : {_inside(ranges)} }}"
    image = isl.Map(text, context=_context()).range()
    return image.dim_min_val(0).to_python(), image.dim_max_val(0).to_python()


def reads_miss(reads: Sequence[Read], inside: Sequence[Read], box: Box) -> bool:
    """Whether some read misses its source (its row leaves its range) at every point of the box
    where some row of `inside` leaves its range."""
    hits = [f"{r.lo} <= {_text(row)} < {r.hi}" for row, r in reads]
    for row, bound in inside:
        for leaves in (f"{_text(row)} < {bound.lo}", f"{_text(row)} >= {bound.hi}"):
            if not _set(box, " and ".join([leaves, *hits])).is_empty():
                return False
    return True


def _context() -> isl.Context:
    """This thread's context: isl objects of one context must not be used by two threads."""
    found = getattr(_thread, "context", None)
    if not isinstance(found, isl.Context):
        found = _thread.context = isl.Context()
    return found


def _text(row: Row) -> str:
    """The row in isl's notation."""
    parts = [str(row.const)]
    parts += [f"{a}*x{i}" for i, a in row.terms]
    parts += [f"{b}*floor(({_text(inner)})/{n})" for inner, n, b in row.floors]
    return " + ".join(parts)


def _variables(ranges: Box) -> str:
    return ", ".join(f"x{i}" for i in range(len(ranges)))


def _inside(ranges: Box) -> str:
    return " and ".join(f"{r.lo} <= x{i} < {r.hi}" for i, r in enumerate(ranges)) or "true"


def _set(ranges: Box, condition: str) -> isl.Set:
    """The points of the box where the condition holds."""
    text = f"{{ [{_variables(ranges)}] : {_inside(ranges)} and {condition} }}"
    return isl.Set(text, context=_context())
