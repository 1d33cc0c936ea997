"""Gathers and scatters: stages of which most terms are 0, and the few terms that are evaluated."""

from __future__ import annotations

from typing import NamedTuple

from einderive.ta.exact.one_term import one_term
from einderive.ta.exact.scattered import scattered
from einderive.ta.ir.node import Apply, Node, Scope, Select


class Direct(NamedTuple):
    """A gather or a scatter.  `fixed` maps each iterator that an equality fixes to its value;
    `body` is the rest of the terms."""

    fixed: dict[int, Node]
    body: Node


def direct(scope: Scope) -> Direct | None:
    """The scope as a gather or a scatter, which need not be computed term by term; None for any
    other scope."""
    if scope.sums and isinstance(scope.body, Apply | Select):
        found = one_term(scope) or scattered(scope)
        if found is not None:
            return Direct(*found)
    return None
