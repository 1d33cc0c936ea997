"""Mutants of plans that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

BODIES = "einderive.eops.loops.bodies"
DRAFT = "einderive.eops.loops.draft"
WINDOWS = "einderive.eops.loops.windows"

LISTED: tuple[Entry, ...] = (
    (
        BODIES,
        "Bodies._product",
        "factor.exponent < 0",
        ("factor.exponent <= 0",),
        "no such node: a power with the exponent 0 is the number 1",
    ),
    (
        BODIES,
        "Bodies._read",
        "isinstance(source, Scope) and source in self.totals",
        ("source in self.totals",),
        "told to the type checker only: totals are of scopes",
    ),
    (
        BODIES,
        "Bodies._multiplied",
        "len(factors) == 1",
        ("False",),
        "short way: the product of one factor is the factor",
    ),
    (
        BODIES,
        "Bodies._read",
        "isinstance(source, Scope) and source in self._inside",
        ("source in self._inside",),
        "told to the type checker only: stages are scopes",
    ),
    (
        BODIES,
        "_ordered",
        "len(args) == 2",
        ("True",),
        "the order of more operands decides only how they round",
    ),
    (
        BODIES,
        "Bodies._reduce",
        "made not in self.reductions",
        ("True",),
        "short way: the total is made twice, and one of both is read",
    ),
    (
        BODIES,
        "Bodies._written_out",
        "not sums or picked(stage) is not None",
        ("picked(stage) is not None",),
        "short way: a stage without sums is one term",
    ),
    (
        DRAFT,
        "merged",
        "place is not None and place >= draft.shared",
        ("place >= draft.shared",),
        "told to the type checker: a window's rows are iterators",
    ),
    (
        DRAFT,
        "merged",
        "place is not None and place >= draft.shared",
        ("place is not None and place > draft.shared",),
        "the first loop that is not shared has no other one before it to be merged with",
    ),
    (
        DRAFT,
        "_are_one",
        "domain[outer].extent == 1",
        ("False",),
        "short way: a loop and one of a single step are the same steps, merged or not",
    ),
    (
        DRAFT,
        "divided",
        "isinstance(old, Operation)",
        ("True",),
        "told to the type checker: what is an operation with other places was one before",
    ),
    (
        WINDOWS,
        "with_windows",
        "isinstance(access.source, Scope) and access.source in readers",
        ("access.source in readers",),
        "told to the type checker only: readers are of scopes",
    ),
    (
        WINDOWS,
        "_Moving._window",
        "place is None or place in (self.along, self.plan.inner)",
        ("place in (self.along, self.plan.inner)",),
        "told to the type checker: a window's rows are iterators",
    ),
    (
        WINDOWS,
        "_Moving._block",
        "plan.inner is not None and plan.turned is not None",
        ("plan.turned is not None",),
        "told to the type checker: only plans with an inner loop are turned",
    ),
    (
        WINDOWS,
        "_Moving._beside",
        "span is None or side is None",
        ("span is None",),
        "told to the type checker: a reader without such a side has no iterator to be beside",
    ),
    (
        WINDOWS,
        "_Moving._block",
        "plan.inner is not None and plan.turned is not None",
        ("plan.inner is not None",),
        "a block of any length is right",
    ),
    (
        WINDOWS,
        "_Moving._block",
        "block < 2 * plan.sizes.least_tile",
        ("block < 2 * plan.sizes.least_tile - 1",),
        "a block of any length is right",
    ),
    (
        WINDOWS,
        "_Moving._loops",
        "side is not None and row.lone is not None",
        ("side is not None",),
        "told to the type checker: a window's rows are iterators",
    ),
)
