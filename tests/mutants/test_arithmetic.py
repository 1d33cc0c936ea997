"""What becomes of a planner's own arithmetic."""

from __future__ import annotations

import pytest

from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.features import FEATURES
from tests.mutants.mutate import mutants
from tests.mutants.planners import CODE, LOOPS, TRITON
from tests.mutants.sample import each
from tests.mutants.targets import ROOT, families, mutants_of


def made(*body: str) -> set[tuple[str, str, str]]:
    source = "@cache(1)\ndef f(x, y):\n" + "".join(f"    {line}\n" for line in body)
    found = mutants("m", source, frozenset(), lambda name: True, computed=True)
    for mutant in found:
        compile(mutant.tree(), "m", "exec")
    return {(mutant.kind, mutant.before, mutant.after) for mutant in found}


@pytest.mark.parametrize(
    ("body", "kind", "before", "afters"),
    [
        ("return max(x, y)", "extent", "max(x, y)", {"min(x, y)"}),
        ("return any(x)", "extent", "any(x)", {"all(x)"}),
        ("return f(2)", "extent", "2", {"3", "1"}),
        ("return f(0)", "extent", "0", {"1"}),
        ("return -(-x // y)", "extent", "-(-x // y)", {"x // y"}),
        ("return -x", "stride", "-x", {"x"}),
        ("return x * y", "stride", "x * y", {"x", "y"}),
        ("return x // y", "stride", "x // y", {"x", "x % y"}),
        ("return affine.shift(x, y)", "stride", "affine.shift(x, y)", {"x"}),
        ("return x | y", "carry", "x | y", {"x", "y"}),
        ("return x - y", "carry", "x - y", {"x"}),
        ("x += y", "carry", "x += y", {"pass"}),
        ("x.append(y)", "carry", "x.append(y)", {"pass"}),
        ("return sorted(x, key=y)", "order", "sorted(x, key=y)", {"list(x)"}),
        ("return x[y:]", "order", "x[y:]", {"x"}),
    ],
)
def test_each_change(body: str, kind: str, before: str, afters: set[str]) -> None:
    assert {a for k, b, a in made(body) if (k, b) == (kind, before)} == afters


def test_a_step_is_taken_that_would_be_passed_over() -> None:
    found = made("for z in x:", "    if z:", "        continue")
    assert ("carry", "continue", "pass") in found


def test_a_return_gives_what_another_one_gives() -> None:
    found = made("if x:", "    return x", "return y")
    assert {("sibling", "x", "y"), ("sibling", "y", "x")} <= found
    assert not {kind for kind, _, _ in made("return x")} & {"sibling"}


def test_texts_errors_and_what_stands_around_a_function_stay() -> None:
    found = made("'''2'''", "assert x + 2", "raise ValueError(x + 2)")
    assert not {after for _, _, after in found if after != "x"}


def test_every_module_has_such_mutants() -> None:
    planning = [family for family in families() if family.computes]
    assert {m for family in planning for m in family.modules} == {
        *(*LOOPS, *TRITON, *CODE),
        *(module for one in FEATURES for module in one.modules),
    }
    for family in planning:
        for module in family.modules:
            kinds = {mutant.kind for mutant in mutants_of(family, module)}
            assert kinds & {"extent", "stride", "carry", "order", "sibling"}, module


def test_so_many_of_every_module() -> None:
    plan = [
        (family, [m for one in family.modules for m in mutants_of(family, one)])
        for family in families()
        if family.name == "plans"
    ]
    ((family, chosen),) = each(plan, 3)
    assert {
        m.module: len([x for x in chosen if x.module == m.module]) for m in chosen
    } == dict.fromkeys(family.modules, 3)
    assert not {m.key for m in chosen} & EQUIVALENT.keys()


def test_the_tests_of_a_family_are_there() -> None:
    for family in families():
        for test in family.tests:
            assert (ROOT / test.partition("::")[0]).exists(), test
