"""What is mutated, and which tests have to notice.

The checks, predicates and choices of every function of a module are mutated; of an operator's
module only those of functions that decide whether a scope is an instance: `recognise`,
`..._constraint`, and what these call there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutants import planners
from tests.mutants.deciding import Place, deciding
from tests.mutants.features import FEATURES
from tests.mutants.mutate import Mutant, functions, mutants

ROOT = Path(__file__).parents[2]


CHECKER_TESTS = (
    *(
        "tags",
        "template",
        "positions",
        "laws",
        "parts",
        "reduced",
        "witness",
        "unfolding",
        "bindings",
    ),
    *("identities", "definition", "infinities"),
)
"""The quick ones first."""


KERNELS = (
    *(f"einderive.eops.loops.drafts.{name}" for name in ("bodies", "draft", "picks")),
    "einderive.eops.loops.windows",
    *(
        f"einderive.eops.cpu_kernels.{name}"
        for name in ("emit", "passes", "points", "totals", "windows", "writing")
    ),
)
"""What has to be right; the rest of these rooms decides mostly what is fast."""


SHARED = tuple(f"tests/eops/loops/test_{name}.py" for name in ("passes", "abreast", "together"))
"""Tests of a pass's loops, and of pieces of work that all threads share."""
CPU_TEXT = tuple(
    f"einderive.eops.cpu_kernels.{name}"
    for name in ("emit", "passes", "points", "totals", "windows", "writing", "numbers")
)
TRITON_TEXT = tuple(
    f"einderive.eops.triton_kernels.emit_{name}"
    for name in ("access", "dot", "loops", "rows", "scalar")
)
"""The emitters: what they write is mutated as well."""
TEXTS = (
    "source_reads_well",
    "wide_indices",
    "only_a_maximum_is_asked_for_nan",
    "what_becomes_of_halves_before_a_product_stays_in_halves",
    "a_stage_without_sums_has_no_total",
    "lanes_beyond_a_product_are_replaced_where_a_fill_counts",
)
"""Tests that read what Triton's emitters write."""
IN_COMMENTS = frozenset({"emit_rows"})
"""What these functions write stands in comments of a kernel."""


@dataclass(frozen=True)
class Family:
    """Modules that are judged alike: `judge` names the function of `tests.mutants.judges` that is
    asked first, `tests` the test files that are run where it has nothing to say.  `in_place`: the
    modules call none of their functions while they are imported, and keep results by `lru_cache`
    only.  `writes`: what the modules write is mutated, too; `computes`: what they compute.  Of a
    module that `functions` names, only these functions are mutated."""

    name: str
    modules: tuple[str, ...]
    judge: str
    tests: tuple[str, ...]
    in_place: bool = False
    writes: bool = False
    computes: bool = False
    functions: Mapping[str, frozenset[str]] = field(default_factory=dict)


def _modules(package: str) -> tuple[str, ...]:
    paths = sorted((ROOT / package).glob("*.py"))
    stem = "einderive." + package.replace("/", ".")
    return tuple(f"{stem}.{path.stem}" for path in paths)


def _kernel() -> tuple[str, ...]:
    """The kinds of steps, and the facts about values that they rest on."""
    return (*sorted({*_modules("derivations/steps")} - ASIDE), *FACTS)


def is_room(module: str) -> bool:
    return folder_of(module).is_dir()


def folder_of(module: str) -> Path:
    """Where the module lies in the source tree, without the ending."""
    return ROOT.joinpath(*module.removeprefix("einderive.").split("."))


FACTS = ("einderive.ta.facts.kinds", "einderive.ta.facts.zeros")
ASIDE = frozenset(f"einderive.derivations.steps.{name}" for name in ("__init__", "propose"))
"""What the kernel takes from `propose` is a suggestion only; it verifies it like any witness."""


def source(module: str) -> str:
    return path_of(module).read_text(encoding="utf-8")


def path_of(module: str) -> Path:
    path = folder_of(module).with_suffix(".py")
    return path if path.exists() else folder_of(module) / "__init__.py"


def families() -> tuple[Family, ...]:
    library = tuple(m for m in _modules("eops/library") if _deciding(m))
    return (
        Family(
            "kernel",
            _kernel(),
            "kernel",
            (
                "tests/derivations/steps/test_conditions.py",
                "tests/derivations/steps/test_law_conditions.py",
                "tests/derivations/steps/test_law.py",
                "tests/derivations/steps/test_law_values.py",
                "tests/derivations/steps/test_sum_by_law.py",
                "tests/derivations/steps/test_fusion.py::test_what_goes_in",
                "tests/derivations/steps/test_fusion.py::test_what_becomes_too_long_or_too_deep_stays",
                "tests/ta/facts/test_kinds.py",
                "tests/ta/facts/test_kinds_of_random_terms.py",
                "tests/derivations/steps/test_empty_ranges.py",
                "tests/ta/facts/test_zero.py",
                "tests/derivations/steps/test_reindex.py",
                "tests/derivations/steps/test_merge.py",
                "tests/derivations/steps/test_restructure.py",
                "tests/derivations/rules/test_rules.py::test_examples_give_their_text",
                "tests/derivations/rules/test_rules.py::test_refusals_are_refused_for_their_reason",
                "tests/derivations/rules/test_rules.py::test_empty_ranges_are_left_alone",
            ),
        ),
        Family(
            "matcher",
            (
                "einderive.derivations.matching.match",
                "einderive.derivations.matching.matcher",
                *library,
            ),
            "matcher",
            (
                "tests/eops/library/test_refusals.py",
                "tests/eops/library/test_refusals_softmax.py",
                "tests/derivations/matching/test_match.py",
                "tests/derivations/matching/test_matcher.py",
                "tests/eops/library/test_library.py",
            ),
        ),
        Family(
            "checker",
            tuple(m for m in _modules("derivations/checker") if "__init__" not in m),
            "checker",
            (
                "tests/derivations/steps/test_sum_by_law.py",
                *(f"tests/derivations/checker/test_checker_{name}.py" for name in CHECKER_TESTS),
            ),
            in_place=True,
        ),
        Family(
            "kernels",
            KERNELS,
            "kernels",
            (
                "tests/eops/loops/test_windows.py::test_a_plan_with_a_window_is_read_as_text",
                "tests/eops/loops/test_windows.py::test_a_chain_of_stencils_is_further_ahead_with_each",
                "tests/eops/loops/test_windows.py::test_bytes_and_operations_are_those_of_the_windows",
                "tests/eops/loops/test_windows.py::test_no_window_is_kept_of_what_reads_a_total",
                "tests/eops/loops/test_plans.py",
                "tests/eops/loops/test_gathers.py",
                "tests/eops/loops/test_digits.py",
                "tests/eops/loops/test_conditions.py",
                "tests/eops/loops/test_totals_and_points.py",
                "tests/eops/loops/test_value_types.py",
                "tests/eops/loops/test_kept_values.py",
                "tests/eops/loops/test_drafts.py",
                "tests/eops/cpu_kernels/test_prefetched.py",
                "tests/eops/cpu_kernels/test_short_totals.py",
                *SHARED,
                "tests/eops/cpu_kernels/test_turned.py",
            ),
            in_place=True,
        ),
        Family(
            "cpu-text",
            CPU_TEXT,
            "kernels",
            (
                "tests/eops/loops/test_plans.py",
                "tests/eops/loops/test_gathers.py",
                "tests/eops/cpu_kernels/test_prefetched.py",
                "tests/eops/cpu_kernels/test_short_totals.py",
                *SHARED,
                "tests/eops/cpu_kernels/test_turned.py",
            ),
            True,
            True,
        ),
        Family(
            "triton-text",
            TRITON_TEXT,
            "triton",
            (
                *(f"tests/eops/triton_kernels/test_emit_triton.py::test_{name}" for name in TEXTS),
                "tests/eops/triton_kernels/test_row_texts.py",
                "tests/eops/triton_kernels/test_plans.py",
                "tests/eops/triton_kernels/test_rows.py::test_an_operand_is_read_once_where_a_row_fits",
                "tests/eops/triton_kernels/test_open_texts.py",
            ),
            True,
            True,
        ),
        Family("plans", planners.LOOPS, "kernels", planners.LOOPS_TESTS, True, computes=True),
        Family("triton-plans", planners.TRITON, "triton", planners.TRITON_TESTS, True, False, True),
        Family("cpu-code", planners.CODE, "nothing", planners.CODE_TESTS, True, False, True),
        *(
            Family(one.name, one.modules, "nothing", one.tests, True, False, True, one.functions)
            for one in FEATURES
        ),
    )


def deciding_steps(kinds: Iterable[str] | None = None) -> frozenset[Place]:
    """The functions of the kernel that decide witnesses of these kinds, or of any."""
    trees = {module: ast.parse(source(module)) for module in _kernel()}
    classes = (node for tree in trees.values() for node in tree.body)
    every = [node.name for node in classes if isinstance(node, ast.ClassDef)]
    return deciding(trees, every if kinds is None else kinds)


def _deciding(module: str) -> frozenset[str]:
    """The functions of an operator's module that decide whether a scope is an instance."""
    tree = ast.parse(source(module))
    bodies = dict(functions(tree))
    plain = module.endswith(".plain")
    found = {n for n in bodies if n == "recognise" or n.endswith("_constraint") or plain}
    while True:
        called = {
            node.id
            for name in found
            for node in ast.walk(bodies[name])
            if isinstance(node, ast.Name) and node.id in bodies
        }
        if called <= found:
            return frozenset(found)
        found |= called


def checks_of(family: Family) -> frozenset[str]:
    """The functions that are called for their refusals: they return nothing."""
    return frozenset(
        name.split(".")[-1]
        for module in family.modules
        for name, function in functions(ast.parse(source(module)))
        if function.returns is not None and ast.unparse(function.returns) == "None"
    ) - {"__init__", "add", "bind"}


def mutants_of(family: Family, module: str) -> list[Mutant]:
    if module.startswith("einderive.eops.library"):
        return mutants(module, source(module), checks_of(family), _deciding(module).__contains__)
    if family.name == "kernel":
        decide = {name for place, name in deciding_steps() if place == module}
        return mutants(module, source(module), checks_of(family), decide.__contains__)
    few = family.functions.get(module)
    return mutants(
        module,
        source(module),
        checks_of(family),
        lambda name: name not in IN_COMMENTS and (few is None or name in few),
        written=family.writes,
        computed=family.computes,
    )
