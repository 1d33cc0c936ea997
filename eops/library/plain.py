"""Reads that need no view of their own: each row a lone iterator or a constant, in range."""

from __future__ import annotations

from collections.abc import Sequence

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Mismatch

EMPTY = Mismatch("iterators", "an iterator has an empty range", (), 100.0)


def refuse_empty(scope: Scope) -> Mismatch | None:
    return EMPTY if scope.empty else None


def is_affine(access: Access) -> bool:
    return not any(row.floors for row in access.rows)


def is_plain(access: Access, domain: Sequence[Range]) -> bool:
    """Is every row a constant or an iterator of its own, and within the source?"""
    lone = [row.lone for row in access.rows if row.terms or row.floors]
    alone = None not in lone and len(set(lone)) == len(lone)
    return alone and affine.within(access.rows, access.source.ranges, domain)
