"""The benchmark of the search: its tables, its ablations, and what it counts as found."""

from __future__ import annotations

import pytest

from einderive.derivations.matching.cost import H100
from einderive.derivations.search.strategy import Budget
from einderive.frontend.bench.run import CASES, WAYS, budgets, run
from einderive.frontend.cli.main import main
from tests.amount import CAMPAIGN

Capture = pytest.CaptureFixture[str]


def test_one_case_prints_every_way_and_the_reference(capsys: Capture) -> None:
    assert main(["bench", "search", "--case", "7", "--states", "40"]) == 0
    out, err = capsys.readouterr()
    assert err == ""  # no terminal, no progress
    lines = out.splitlines()
    assert lines[0].startswith("case 7: band matmul")
    for way in WAYS:
        assert sum(line.startswith(way) for line in lines) == len(list(budgets(40)))
    assert "18k states" in lines[-2]
    assert lines[-1].startswith("peak memory")


@CAMPAIGN
def test_all_cases_and_the_throughput(capfd: Capture) -> None:
    assert main(["bench", "search", "--states", "8"]) == 0
    out = capfd.readouterr().out
    for number in CASES:
        assert f"case {number}: " in out
    assert "states/s" in out


def test_an_unknown_case_is_refused(capsys: Capture) -> None:
    assert main(["bench", "search", "--case", "5"]) == 2
    assert "choose one of 1, 4, 6, 7" in capsys.readouterr().err


def test_budgets_grow() -> None:
    states = [budget.states for budget in budgets(1000)]
    assert states[:3] == [250, 500, 1000]
    assert set(states[3:]) == {1000}
    efforts = [budget.effort for budget in budgets(1000)][3:]
    assert efforts == sorted(set(efforts) - {Budget().effort})


@pytest.mark.parametrize("number", CASES)
def test_the_reference_program_is_reached_or_bettered(number: int) -> None:
    """Within less than half a second; in case 6 a cheaper layout comes late."""
    states = {6: 2000}.get(number, 700)
    outcome = run(CASES[number], H100, Budget(states=states))
    assert outcome.found in ("yes", "as cheap")
    assert outcome.ratio <= 1.001
    assert outcome.states >= states


def test_nothing_is_found_without_a_search() -> None:
    outcome = run(CASES[6], H100, Budget(states=1))
    assert outcome.expanded == 0
    assert outcome.ratio > 0


def test_kept_duplicates_expand_again() -> None:
    once = run(CASES[7], H100, Budget(states=300))
    again = run(CASES[7], H100, Budget(states=300, keep_duplicates=True))
    assert once.states != again.states or once.expanded != again.expanded
