"""The mutants of small functions, as text; and that the runner tells what survives."""

from __future__ import annotations

from functools import cache

import pytest

from einderive.derivations.steps.kernel import kinds
from tests.amount import CAMPAIGN
from tests.mutants.mutate import Mutant, mutants
from tests.mutants.run import Outcome
from tests.mutants.table import Table, stale
from tests.mutants.targets import families, mutants_of


def changes(source: str, checks: tuple[str, ...] = ()) -> set[tuple[str, str, str]]:
    made = mutants("m", source, frozenset(checks), lambda name: True)
    for mutant in made:
        compile(mutant.tree(), "m", "exec")
    return {(mutant.kind, mutant.before, mutant.after) for mutant in made}


def test_a_refusal_is_left_out_and_weakened() -> None:
    found = changes("def f(a, b):\n    if a or b <= 3:\n        raise ValueError")
    assert found == {
        ("refusal", "a or b <= 3", after) for after in ("False", "a", "b <= 3", "a or b < 3")
    }


def test_what_is_negated_is_weakened_the_other_way() -> None:
    found = changes("def f(a, n):\n    if not 0 <= a < n:\n        raise ValueError")
    afters = (
        "False",
        "not 0 <= a + 1 < n",
        "not 0 <= a <= n",
        "not a < n",
        "not 0 <= a",
    )
    assert found == {("refusal", "not 0 <= a < n", after) for after in afters}


def test_a_predicate_says_yes_more_often() -> None:
    source = "def f(xs) -> bool:\n    return all(x > 2 and g(x) for x in xs if x)"
    before = "all((x > 2 and g(x) for x in xs if x))"
    afters = (
        "True",
        "all((g(x) for x in xs if x))",
        "all((x > 2 for x in xs if x))",
        "all((x >= 2 and g(x) for x in xs if x))",
        "all((x > 2 and g(x) for x in xs if False))",
    )
    assert changes(source) == {("predicate", before, after) for after in afters}


def test_a_choice_is_taken_both_ways() -> None:
    found = changes("def f(a):\n    if a < 2:\n        a = 3\n    return a")
    afters = ("True", "False", "a <= 2", "a < 2 - 1")
    assert found == {("choice", "a < 2", after) for after in afters}


def test_calls_of_checks_and_numbers_of_bounds() -> None:
    source = "def f(a):\n    check(a)\n    return Range(0, a + 1)"
    assert changes(source, ("check",)) == {
        ("call", "check(a)", "pass"),
        ("bound", "0", "0 + 1"),
        ("bound", "0", "0 - 1"),
        ("bound", "a + 1", "a"),
    }


@pytest.mark.parametrize(
    ("result", "value", "refuses"),
    [
        ("str | None", "'no'", True),
        ("str | None", "None", False),
        ("Row | None", "None", True),
        ("Binding | Mismatch", "NO_MATCH", True),
        ("bool", "False", True),
    ],
)
def test_what_refuses_is_read_off_the_result(result: str, value: str, refuses: bool) -> None:
    found = changes(f"def f(a) -> {result}:\n    if a:\n        return {value}\n    return g(a)")
    kinds = {kind for kind, before, _ in found if before == "a"}
    assert kinds == {"refusal" if refuses else "predicate"}


def test_a_mutant_changes_one_place_only() -> None:
    source = (
        "def f(a):\n    if a < 1:\n        raise ValueError\n    if a < 1:\n        raise TypeError"
    )
    first, *_, last = mutants("m", source, frozenset(), lambda name: True)
    assert first.line == 2
    assert last.line == 4
    assert first.key != last.key


@cache
def made_of(family: str) -> tuple[Mutant, ...]:
    """The mutants of all modules of a family."""
    (found,) = (each for each in families() if each.name == family)
    return tuple(mutant for module in found.modules for mutant in mutants_of(found, module))


def outcome(verdict: str) -> Outcome:
    mutant = Mutant("m", "f", 1, "choice", "a", verdict, lambda: None)  # type: ignore[arg-type,return-value]  # not compiled
    return Outcome(mutant, verdict, "", 0.0)  # type: ignore[arg-type]  # one of the four


def test_the_table_counts_what_is_not_shown_as_survived() -> None:
    table = Table([outcome(name) for name in ("killed", "timeout", "survived", "crashed")])
    counts = table.counts(table.outcomes)
    assert (counts["killed"], counts["timeout"], counts["survived"]) == (1, 1, 2)
    assert "survived: m:1 f: a  ->  crashed" in table.text()


@CAMPAIGN
def test_no_entry_of_the_equivalent_ones_is_stale() -> None:
    made = [mutant for family in families() for mutant in made_of(family.name)]
    assert len(made) > 800
    assert not stale(made, {mutant.module for mutant in made})


@CAMPAIGN
def test_every_side_condition_of_the_kernel_has_mutants() -> None:
    (kernel,) = (family for family in families() if family.name == "kernel")
    for kind in kinds().values():
        assert kind.__module__ in kernel.modules
    assert "einderive.ta.facts.zeros" in kernel.modules
    made = made_of("kernel")
    assert {f"{name}.apply" for name in kinds()} - {m.function for m in made} == set()
    assert {m.kind for m in made} == {"refusal", "predicate", "choice", "call", "bound"}
