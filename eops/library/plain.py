"""Reads that need no view of their own: each row a lone iterator or a constant, in range."""

from __future__ import annotations

from collections.abc import Sequence

from ta import affine
from ta.affine import Range
from ta.node import Access, Scope
from ta.operator import Mismatch


def refuse_empty(scope: Scope) -> Mismatch | None:
    if any(bound.extent == 0 for bound in scope.domain):
        return Mismatch("iterators", "an iterator has an empty range", (), 100.0)
    return None


def stays(access: Access, domain: Sequence[Range]) -> bool:
    """Does the read never leave its source, as far as bounds tell?"""
    spans = (affine.bounds(row, domain) for row in access.rows)
    return all(
        bound.lo <= low and high < bound.hi
        for (low, high), bound in zip(spans, access.source.ranges, strict=True)
    )


def is_affine(access: Access) -> bool:
    return not any(row.floors for row in access.rows)


def is_plain(access: Access, domain: Sequence[Range]) -> bool:
    """Is every row a constant or an iterator of its own, and within the source?"""
    lone = [row.lone for row in access.rows if row.terms or row.floors]
    return None not in lone and len(set(lone)) == len(lone) and stays(access, domain)
