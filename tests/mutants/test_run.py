"""The runner tells apart what is noticed, what survives and what hangs; a sample of all mutants is
noticed."""

from __future__ import annotations

import ast
import inspect
import subprocess
from pathlib import Path

import pytest

from einderive.eops.cpu_kernels.windows import WindowPass
from einderive.eops.loops.drafts.picks import picked
from einderive.ta.notation.parse import parse
from tests import prepared
from tests.amount import CAMPAIGN, first, sampled
from tests.mutants.mutate import functions
from tests.mutants.run import clear, exchange
from tests.mutants.targets import families, mutants_of, source

ROOT = Path(__file__).parents[2]
KEEPING = {"property", "lru_cache", "cache", "cached_property"}
KEEPING |= {"classmethod", "staticmethod", "contextmanager"}
"""What a function may have around it: `clear` forgets what caches keep; what an object keeps goes
with the object, and what made it is forgotten."""
SAMPLES = [
    (2, ("einderive.derivations.steps.split_range", "einderive.derivations.matching.match")),
    (
        12,
        (
            "kernel",
            "einderive.derivations.matching.match",
            "einderive.derivations.matching.matcher",
        ),
    ),
]
"""Mutants to try of these modules, one at least of each."""

RUNNER = """
import time
from tests.mutants.run import run
from tests.mutants.targets import Family, mutants_of

family = Family("pieces", ("einderive.derivations.steps.split_range",), "kernel", {tests})
found = mutants_of(family, "einderive.derivations.steps.split_range")
made = [m for m in found if m.before == "scope.reducer != 'sum'"]

def judge_of():
    {judge}

for outcome in run(family, made, judge_of, jobs=1, seconds={seconds}):
    print(outcome.verdict, outcome.by)
"""
NOTHING = "return lambda first: None"
TESTS = ("tests/derivations/steps/test_conditions.py::test_refused",)


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return prepared.python(*arguments, cwd=ROOT)


@sampled(6)
@pytest.mark.parametrize(
    ("tests", "judge", "seconds", "told"),
    first(
        3,
        [
            (
                TESTS,
                NOTHING,
                3600,
                "killed tests/derivations/steps/test_conditions.py::test_refused[",
            ),
            ((), "while True: pass", 1, "timeout"),
            ((), NOTHING, 3600, "survived"),
            ((), "time.sleep(3600)", 1, "timeout"),
            ((), "return lambda first: (7, 'seen')", 3600, "killed kernel judge: seen"),
            ((), "raise ValueError('import')", 3600, "killed kernel judge: raises ValueError"),
            (("tests/no_such_file.py",), NOTHING, 3600, "crashed"),
        ],
    ),
)
def test_what_a_mutant_comes_to(
    tests: tuple[str, ...], judge: str, seconds: int, told: str
) -> None:
    done = python("-c", RUNNER.format(tests=tests, judge=judge, seconds=seconds))
    assert done.stdout.startswith(told), done.stdout + done.stderr


@CAMPAIGN
@pytest.mark.parametrize(("count", "modules"), SAMPLES)
def test_a_sample_of_the_mutants_is_noticed(count: int, modules: tuple[str, ...]) -> None:
    arguments = (*modules, "--sample", str(count), "--seeds", "4", "--seconds", "3600")
    done = python("-m", "tests.mutants", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "survived:" not in done.stdout


def test_an_unknown_module_is_an_error() -> None:
    done = python("-m", "tests.mutants", "no.such.module")
    assert done.returncode == 2
    assert "no such modules" in done.stderr


IN_PLACE = """
import torch
torch.set_num_threads(1)
from dataclasses import replace
from tests.mutants.run import run
from tests.mutants.targets import families, mutants_of

family = next(each for each in families() if each.name == "checker")
assert family.in_place
made = mutants_of(family, "einderive.derivations.checker.unfolding")
made = [m for m in made if m.function == "_inside" and m.kind != "bound"]
for tests in ({tests}, ()):
    asked = replace(family, tests=tests)
    for outcome in run(asked, made[:{count}], lambda: lambda first: None, jobs=1, seconds=3600):
        print(outcome.verdict, outcome.by)
"""


@pytest.mark.parametrize("count", [1, pytest.param(9, marks=CAMPAIGN)])
def test_a_function_is_exchanged_in_place(count: int) -> None:
    """Asked by the tests first, then by none."""
    tests = ("tests/derivations/checker/test_checker_unfolding.py",)
    done = python("-c", IN_PLACE.format(tests=tests, count=count))
    lines = done.stdout.splitlines()
    assert len(lines) >= 2 * min(count, 3), done.stderr
    told, untold = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert all(line.startswith("killed tests/derivations/checker/") for line in told), told
    assert {line.strip() for line in untold} == {"survived"}


def test_what_is_exchanged_in_place_is_not_called_before_and_keeps_results_in_caches_only() -> None:
    for family in families():
        if not family.in_place:
            continue
        trees = {module: ast.parse(source(module)) for module in family.modules}
        known = {name for tree in trees.values() for name, _ in functions(tree)}
        for module, tree in trees.items():
            for _, function in functions(tree):
                decorators = {ast.unparse(each) for each in function.decorator_list}
                assert {name.partition("(")[0] for name in decorators} <= KEEPING, module
            for statement in tree.body:
                if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    continue
                called = {
                    ast.unparse(node.func)
                    for node in ast.walk(statement)
                    if isinstance(node, ast.Call)
                }
                assert not called & known, module


def test_a_method_is_exchanged_that_no_longer_calls_its_super() -> None:
    family = next(family for family in families() if family.name == "kernels")
    made = mutants_of(family, WindowPass.__module__)
    (mutant,) = (each for each in made if each.before == "super().write()")
    before = WindowPass.write.__code__
    try:
        exchange(mutant)
        assert "super" in before.co_names
        assert "super" not in WindowPass.write.__code__.co_names
        assert "super" not in inspect.getsource(WindowPass.write)  # kernels are made of such lines
    finally:
        WindowPass.write.__code__ = before


def test_results_that_are_kept_are_forgotten_with_the_exchange() -> None:
    family = next(family for family in families() if family.name == "kernels")
    picked(parse("Y[i] = A[i]", {"A": (2,)}).roots()[0])
    assert picked.cache_info().currsize
    clear(family)
    assert not picked.cache_info().currsize
