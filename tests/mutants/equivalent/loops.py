"""Mutants of plans that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

BODIES = "einderive.eops.loops.drafts.bodies"
DRAFT = "einderive.eops.loops.drafts.draft"
WINDOWS = "einderive.eops.loops.windows"
ARRANGE = "einderive.eops.loops.arrange"
ORDERED = "einderive.eops.loops.drafts.ordered"
GROUP = "einderive.eops.loops.drafts.group"
VALUES = "einderive.eops.loops.drafts.values"
LOOP_PLANS = "einderive.eops.loops.plan"
SHORT_SUMS = "einderive.eops.loops.drafts.short_sums"
KEEP = "einderive.eops.loops.keep"
NARROWED = "einderive.eops.loops.drafts.narrow"

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
    (ARRANGE, "_has_parts", "place not in again", ("True",), "chosen by predicted time: as right"),
    (ARRANGE, "_arranged", "used != long", ("False",), "chosen by predicted time: as right"),
    (
        ARRANGE,
        "_apart",
        "len(phase.outputs) > 1 and (not phase.reductions) and bool(order)",
        ("not phase.reductions and bool(order)",),
        "one result apart is the pass itself",
    ),
    (
        ARRANGE,
        "_loops",
        "phase.reductions and plan.inner is None",
        ("plan.inner is None",),
        "a loop of one step",
    ),
    (KEEP, "_again", "1", ("2",), "the pass itself is one that needs the value"),
    (KEEP, "_columns_kept", "continue", ("pass",), "a value is kept once"),
    (
        KEEP,
        "_columns_kept",
        "mask >> plan.inner & 1 and _effort(plan, place, phase) >= TOTAL"
        " and all((one.value != place for one in kept))",
        (
            "mask >> plan.inner & 1 and _effort(plan, place, phase) > TOTAL"
            " and all((one.value != place for one in kept))",
        ),
        "chosen by predicted time: as right",
    ),
    (
        KEEP,
        "_effort",
        "value not in seen and plan.depth(plan.masks[value], phase)",
        ("plan.depth(plan.masks[value], phase)",),
        "chosen by predicted time: as right",
    ),
    (
        KEEP,
        "_effort",
        "isinstance(plan.values[value], Total)",
        ("False",),
        "chosen by predicted time: as right",
    ),
    (
        NARROWED,
        "_Narrowing.narrow",
        "found is None",
        ("True",),
        "short way: the same value is made again",
    ),
    (SHORT_SUMS, "_may_nest", "stage in sums", ("True",), "a stage without a sum has one term"),
    (
        SHORT_SUMS,
        "written",
        "isinstance(access.source, Scope) and access.source in rows",
        ("access.source in rows",),
        "told to the type checker: only stages have rows",
    ),
    (LOOP_PLANS, "value_text", "1", ("2",), "each part of a divisor has it first"),
    (
        ORDERED,
        "_Ordering.placed",
        "found is None",
        ("True",),
        "short way: the same value is made again",
    ),
    (ORDERED, "_Ordering.key", "found is None", ("True",), "short way: the same key is made again"),
    (ORDERED, "_without_large", "0", ("1",), "a large number is neither"),
    (
        GROUP,
        "_Aligning._places",
        "place >= self.shared",
        ("True",),
        "only places of own loops are taken",
    ),
    (
        GROUP,
        "_Aligning._reads_totals_in_place",
        "isinstance(source, Scope) and source in self.places",
        ("source in self.places",),
        "told to the type checker: only stages have places",
    ),
    (VALUES, "cut_of", "1", ("2",), "twice the row has the same sign"),
)
