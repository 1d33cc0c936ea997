"""The planners of kernels and the code generator of those for a CPU: modules, and tests of these.

What they compute is mutated as well (`tests.mutants.arithmetic`).
"""

from __future__ import annotations

from typing import Final

LOOPS: Final = tuple(
    f"einderive.eops.loops.{name}"
    for name in (
        *("arrange", "plan", "keep", "drafts.kinds", "drafts.narrow"),
        *(f"drafts.{n}" for n in ("short_sums", "ordered", "group", "values")),
    )
)
LOOPS_TESTS: Final = tuple(
    f"tests/eops/loops/test_{name}.py"
    for name in (
        *(
            "plans",
            "planned",
            "arranged",
            "narrow",
            "totals_and_points",
            "kept_values",
            "value_types",
        ),
        *("drafts", "digits", "gathers", "windows", "short_sums", "conditions", "passes"),
        *("segments", "shifted", "worth", "divided", "together", "abreast", "groups"),
    )
)
"""The quick ones first."""

TRITON: Final = tuple(
    f"einderive.eops.triton_kernels.{name}"
    for name in ("plan", "rows", "contraction", "split", "products")
)
_TEXTS: Final = "tests/eops/triton_kernels/test_emit_triton.py::test_"
_ROWS: Final = "tests/eops/triton_kernels/test_rows.py::test_"
TRITON_TESTS: Final = (
    "tests/eops/triton_kernels/test_plans.py",
    "tests/eops/triton_kernels/test_product_plans.py",
    "tests/eops/triton_kernels/test_row_texts.py",
    *(
        f"{_TEXTS}{name}"
        for name in (
            *("other_reductions_are_one_kernel", "plans_cover_the_output", "element_types"),
            *("guards_are_only_what_bounds_leave_open", "roles_of_the_band", "wide_indices"),
            *("few_outputs_are_reduced_along_both_axes", "a_line_of_memory_is_read_whole"),
        )
    ),
    *(
        f"{_ROWS}{name}"
        for name in (
            *("an_operand_is_read_once_where_a_row_fits", "other_groups_have_no_rows"),
            "integers_are_left_to_other_kernels",
        )
    ),
    *(
        f"tests/eops/triton_kernels/test_products.py::test_{name}"
        for name in ("one_kernel", "stages_that_are_faster_apart")
    ),
    "tests/eops/triton_kernels/test_band.py",
)
"""Those that run in one process: another one has no mutant."""

CODE: Final = tuple(
    f"einderive.eops.cpu_kernels.{name}"
    for name in (
        *("scatter", "calls.entry", "calls.launch", "calls.linked", "calls.threads"),
        *(f"lowering.{n}" for n in ("expressions", "function", "operations", "sources", "values")),
        *(f"products.{n}" for n in ("across", "along", "kernel", "sliding", "strided")),
        *("products.writer", "products.written"),
    )
)
CODE_TESTS: Final = (
    *(
        f"tests/eops/cpu_kernels/{name}.py"
        for name in (
            *("test_scatter", "test_prefetched", "lowering/test_lowering"),
            *("lowering/test_short_loops", "lowering/test_kernels", "test_narrow_products"),
            *("calls/test_launch", "calls/test_threads", "compiling/test_stored"),
            "test_cpu_kernels",
        )
    ),
    "tests/eops/library/test_weight_gradient.py",
)
