"""Stages of which most terms are nothing: gathers and scatters, and the terms that they visit."""

from __future__ import annotations

from typing import NamedTuple

from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.scattered import scattered
from einderive.ta.ir.node import Apply, Node, Scope, Select


class Direct(NamedTuple):
    """`fixed`: the iterators that an equality fixes, each with its value; `body` is what is left of
    the terms."""

    fixed: dict[int, Node]
    body: Node


def direct(scope: Scope) -> Direct | None:
    """What the stage visits, if it is a gather or a scatter: it is not computed term by term."""
    if scope.sums and isinstance(scope.body, Apply | Select):
        found = one_term(scope) or scattered(scope)
        if found is not None:
            return Direct(*found)
    return None
