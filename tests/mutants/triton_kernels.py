"""Kernels for Triton: the cases of the tests and random groups, each in Triton's interpreter."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from einderive.eops.triton_kernels import launch
from tests.eops import fused_products, long_reductions, random_kernels
from tests.eops import triton_rows_runner as rows
from tests.eops import triton_runner as stages
from tests.eops.triton_kernels.gathers import products as gathered
from tests.eops.triton_memory import checked_addresses

Question: TypeAlias = Callable[[Path], str]
"""Given a folder for kernels: what is wrong, or nothing."""
FUNCTION_CASES = 12
"""Of the cases of a function by itself, which all have one kernel but for the function."""


def collect(seeds: int) -> list[Question]:
    alone = [case for case in stages.cases() if not _of_a_function(case)]
    functions = [case for case in stages.cases() if _of_a_function(case)]
    few = functions[:: max(1, len(functions) // FUNCTION_CASES)]
    made: list[Question] = [partial(_stage, case) for case in (*alone, *few)]
    made += [partial(_rows, case) for case in rows.CASES]
    made += [partial(_stage, replace(case, open_sizes=True)) for case in alone]
    made += [partial(_rows, case._replace(open_sizes=True)) for case in rows.CASES]
    made += [partial(_far, long_reductions.too_far, name) for name in long_reductions.LONG]
    made += [partial(_far, fused_products.too_far, name) for name in fused_products.PRODUCTS]
    made += [partial(_gathered, name) for name in gathered.PRODUCTS]
    made.append(lambda cache: "" if stages.nan_survives(cache) else "a NaN is lost")
    random = islice(random_kernels.cases("mutants"), 4 * seeds)
    return [*made, *(partial(_random, case) for case in random)]


def first_fault(questions: Sequence[Question], order: Sequence[int]) -> tuple[int, str] | None:
    """The first question, in this order, to which the kernels give no right answer."""
    for kept in (launch._stage_kernel, launch._group_kernel):
        kept.cache_clear()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), checked_addresses():
        warnings.simplefilter("ignore")
        for number in order:
            try:
                shows = questions[number](Path(folder))
            except Exception as error:
                cause = error.__cause__ or error
                shows = f"{type(cause).__name__}: {str(cause)[:80]}"
            if shows:
                return number, shows
    return None


def _of_a_function(case: stages.Case) -> bool:
    return case.name.rpartition("-")[2] in ("float32", "float64")


def _stage(case: stages.Case, cache: Path) -> str:
    form, wrong = stages.error(case, cache)
    if form != case.form:
        return f"{case.name}: {form}"
    return f"{case.name}: {wrong}" if wrong > case.tolerance else ""


def _rows(case: rows.Case, cache: Path) -> str:
    wrong = rows.run(case, cache)
    return f"{case.name}: {wrong}" if wrong > case.tolerance else ""


def _far(too_far: Callable[[str], float], name: str, cache: Path) -> str:
    wrong = too_far(name)
    return f"{name}: {wrong}" if wrong > 0 else ""


def _gathered(name: str, cache: Path) -> str:
    off, _ = gathered.off(gathered.PRODUCTS[name])
    return f"{name}: {off}" if off > 1 else ""


def _random(case: random_kernels.Case, cache: Path) -> str:
    random_kernels.in_triton(case)
    return ""
