"""Mutants of `tests.mutants.features` that change nothing."""

from __future__ import annotations

from tests.mutants.equivalent.entry import Entry

ONE_PASS = "einderive.derivations.one_pass"
COST = "einderive.eops.loops.cost"
SQUARES = "einderive.eops.cpu_kernels.turned.squares"

LISTED: tuple[Entry, ...] = (
    (
        ONE_PASS,
        "last_iterators",
        "prod(extents[k:]) >= terms and total >= parts * prod(extents[k:])",
        ("prod(extents[k:]) >= terms and total >= parts * prod(extents[k:]) - 1",),
        "a multiple of a number above 1 is not one below another multiple of it",
    ),
    (ONE_PASS, "parts_of", "1", ("0", "2"), "the number of first terms is not asked for"),
    (
        ONE_PASS,
        "_sums_of_data",
        "found is None or found.centre is None",
        ("found is None",),
        "asked for the type checker: no centre has no reads",
    ),
    (ONE_PASS, "_divisor", "0", ("1",), "the kernel refuses a split into parts of one term"),
    (
        "einderive.derivations.rules.provisional_mean",
        "propose",
        "found is None or found.centre is None or (not holds_sums(scope))",
        ("found is None or not holds_sums(scope)",),
        "asked for the type checker: no centre has no reads",
    ),
    (
        "einderive.derivations.steps.provisional_mean",
        "ProvisionalMean.parts",
        "not inside",
        ("False",),
        "no such scope: a body has all iterators of its sums",
    ),
    (
        "einderive.eops.cpu_kernels.compiling.streaming",
        "streamed",
        "-1",
        ("1",),
        "any number serves that no other line has",
    ),
    (
        "einderive.eops.cpu_kernels.prefetched",
        "_is_busy",
        "read <= before and any((operations(plan.values[place]) >= CALL for place in made))",
        ("read <= before and any((operations(plan.values[place]) >= CALL - 1 for place in made))",),
        "a bound that has room: a sum of 16 terms would count as a function",
    ),
    (
        SQUARES,
        "turned_tile",
        "rows * side",
        ("rows",),
        "short way: what is in a square would be written once more, the same",
    ),
    (
        SQUARES,
        "turned_tile",
        "squares * side",
        ("squares",),
        "short way: what is in a square would be written once more, the same",
    ),
    (
        SQUARES,
        "_square",
        "context.get_dummy_value()",
        ("square",),
        "the value of an instruction without a result",
    ),
    (
        COST,
        "in_tiles",
        "plan.turned is None or plan.inner is None or (not of_32_bits)",
        ("plan.inner is None or not of_32_bits", "plan.turned is None or not of_32_bits"),
        "asked for the type checker: a loop that is turned has an inner loop beside it",
    ),
    (
        COST,
        "in_tiles",
        "load.step(plan.turned) == 1 and step >= LINE and (not others)",
        ("load.step(plan.turned) == 1 and step >= LINE - 1 and (not others)",),
        "a step has an even number of bytes",
    ),
)
