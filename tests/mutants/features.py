"""Features, each over several modules: the modules, of some only a few functions, and their tests.

Conditions are mutated, and what the functions compute (`tests.mutants.arithmetic`).  The tests
alone judge: they are those of the feature, so that a mutant takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True)
class Feature:
    """`functions`: those that belong to the feature, of modules that hold others as well."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    functions: Mapping[str, frozenset[str]] = field(default_factory=dict)


_KERNELS: Final = "einderive.eops.cpu_kernels"
_TESTS: Final = "tests/eops/cpu_kernels"
_RULES: Final = "tests/derivations/rules/test_rules.py::test_"
FEATURES: Final = (
    Feature(
        "one-pass",
        (
            "einderive.derivations.one_pass",
            "einderive.derivations.rules.provisional_mean",
            "einderive.derivations.steps.provisional_mean",
        ),
        (
            "tests/derivations/test_one_pass.py",
            "tests/derivations/steps/test_provisional_mean.py",
            f"{_RULES}examples_give_their_text[provisional-mean]",
            f"{_RULES}refusals_are_refused_for_their_reason[provisional-mean]",
            f"{_RULES}steps_from_varied_examples_hold[4-provisional-mean]",
        ),
    ),
    Feature(
        "turned",
        (f"{_KERNELS}.turned.squares", f"{_KERNELS}.emit", "einderive.eops.loops.cost"),
        (f"{_TESTS}/test_turned.py",),
        {
            f"{_KERNELS}.emit": frozenset({"turned_loads", "Emitter._turn"}),
            "einderive.eops.loops.cost": frozenset({"in_tiles"}),
        },
    ),
    Feature(
        "streaming",
        (f"{_KERNELS}.compiling.streaming", f"{_KERNELS}.calls.forms"),
        (f"{_TESTS}/test_streaming.py",),
    ),
    Feature(
        "short-totals",
        (f"{_KERNELS}.points",),
        (f"{_TESTS}/test_short_totals.py",),
        {
            f"{_KERNELS}.points": frozenset(
                f"Points.{n}" for n in ("_is_short", "_adds", "_is_read")
            )
        },
    ),
    Feature("prefetched", (f"{_KERNELS}.prefetched",), (f"{_TESTS}/test_prefetched.py",)),
    Feature(
        "plain-standard",
        ("einderive.frontend.accuracy.plain_standard", "einderive.frontend.accuracy.hard_cases"),
        ("tests/frontend/accuracy/test_plain_standard.py",),
        {"einderive.frontend.accuracy.hard_cases": frozenset({"HardCases._draw", "exact_rows"})},
    ),
    Feature(
        "comparisons",
        ("einderive.eops.comparisons", "einderive.eops.loops.drafts.kinds"),
        (
            "tests/eops/test_comparisons.py",
            "tests/eops/torch_views/test_own_types.py",
            "tests/eops/loops/test_kinds.py",
        ),
    ),
    Feature(
        "exponential-shift",
        (
            "einderive.derivations.rules.exponential_shift",
            "einderive.derivations.steps.exponential_shift",
        ),
        (
            "tests/derivations/steps/test_exponential_shift.py",
            f"{_RULES}examples_give_their_text[exponential-shift]",
            f"{_RULES}refusals_are_refused_for_their_reason[exponential-shift]",
            f"{_RULES}steps_from_varied_examples_hold[4-exponential-shift]",
        ),
    ),
    Feature(
        "batches",
        ("einderive.eops.loops.batches", f"{_KERNELS}.emit", f"{_KERNELS}.points"),
        (
            "tests/eops/loops/test_batches.py",
            "tests/eops/loops/test_totals_and_points.py",
            f"{_TESTS}/test_short_rows.py",
            f"{_TESTS}/test_batches.py",
        ),
        {
            f"{_KERNELS}.emit": frozenset({"Emitter._kept", "Emitter._pass"}),
            f"{_KERNELS}.points": frozenset({"Points._place"}),
        },
    ),
    Feature(
        "chains",
        ("einderive.eops.loops.chains",),
        ("tests/eops/loops/test_chains.py", f"{_TESTS}/test_chains.py"),
    ),
    Feature(
        "shifted",
        ("einderive.frontend.trial.shifted",),
        ("tests/frontend/trial/test_shifted.py",),
    ),
    Feature(
        "short-rows",
        (f"{_KERNELS}.lowering.sources", "einderive.eops.loops.cost"),
        (f"{_TESTS}/test_short_rows.py", "tests/eops/loops/test_groups.py"),
        {
            f"{_KERNELS}.lowering.sources": frozenset(
                {"is_written_out", "in_masks", "_steps", "_steps_of"}
            ),
            "einderive.eops.loops.cost": frozenset({"is_written_out"}),
        },
    ),
)
