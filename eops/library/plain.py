"""Reads that need no view of their own: each row is a lone iterator or a constant, in range."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf

from einderive.ta.exact.fields import rounded
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Access, Scope
from einderive.ta.ir.operator import Binding, Mismatch

EMPTY = Mismatch("iterators", "an iterator has an empty range", (), 100.0)


def refuse_empty(scope: Scope) -> Mismatch | None:
    return EMPTY if scope.empty else None


def view_refusal(binding: Binding) -> str | None:
    """The reason why a library call does not take the operands as views, with the factor outside of
    the sum.  None if it takes them."""
    if isinf(rounded(binding.coefficient)):
        return "an infinite factor cannot leave the sum"
    if not all(map(is_affine, binding.operands)):
        return "an index with // is not a view"
    return None


def is_affine(access: Access) -> bool:
    return not [row for row in access.rows if row.floors]


def is_plain(access: Access, domain: Sequence[Range]) -> bool:
    """Whether every row is a constant or an iterator of its own, within the source."""
    lone = [row.lone for row in access.rows if row.terms or row.floors]
    alone = None not in lone and len(set(lone)) == len(lone)
    return alone and affine.within(access.rows, access.source.ranges, domain)
