"""The bytes that a gather costs before a product, and within it.

    apart     read I and E, write G;  each tile reads G;  one launch more
    within    each tile reads I and E

A tile of the product reads a side once for each tile of the other side.  Where an index picks whole
pieces of memory, both ways read as much.  Where it picks single elements, each of these takes a
sector: then a side that many tiles read is gathered before the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from einderive.eops.loops.drafts.picks import picked
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.node import Scope
from einderive.ta.ir.subst import accesses
from einderive.ta.traffic.walks import dense_strides

SECTOR: Final = 32
"""Bytes of memory that a GPU reads at least."""
LAUNCH_BYTES: Final = 12e6
"""Bytes that memory moves in the 4 us of a launch."""


class Reading(NamedTuple):
    """How a product reads a gather: so many elements, each `times` times."""

    elements: int
    times: int


def is_less_within(gather: Scope, readings: Sequence[Reading]) -> bool:
    """Whether fewer bytes are moved if the products compute the gather where they read it."""
    item = element_bytes(gather)
    picking = _bytes_of_an_element(gather, item)
    apart = LAUNCH_BYTES + gather.size * (picking + item)
    apart += sum(item * one.elements * one.times for one in readings)
    within = sum(picking * one.elements * one.times for one in readings)
    return within <= apart


def _bytes_of_an_element(gather: Scope, item: int) -> float:
    """Bytes that are read for an element, without the few of indices."""
    found = picked(gather)
    assert found is not None
    loops = range(len(gather.loops))
    moved = 0.0
    for read in accesses(found.body):
        steps = dense_strides(read.source, read.rows)
        run = max((gather.extents[i] for i in loops if abs(steps.get(i, 0)) == 1), default=1)
        moved += max(item, SECTOR / run)
    return moved
