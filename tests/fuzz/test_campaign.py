"""The campaign finds nothing in the rules; what is wrong by intent it finds, shrinks and writes."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from einderive.derivations.rule import JointRule, Rule
from einderive.derivations.rules import ALL_RULES, RULES
from einderive.derivations.rules.shift import SHIFT
from einderive.derivations.steps import maps, merge, pull, reindex_loops, reindex_sums
from einderive.derivations.steps.contract_pairs import ContractPairs
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.facts import zeros as zero
from einderive.ta.functions import REDUCERS
from einderive.ta.functions.data import Reduction
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.sources import replace_sources
from tests.amount import CAMPAIGN, first
from tests.derivations.seeds import corrupt, points
from tests.fuzz import chains, explore
from tests.fuzz.campaign import MOST_CASES, Campaign, until
from tests.fuzz.cases import DIRECTORY, read_case, replay, text_of
from tests.fuzz.counts import Counts

ROOT = Path(__file__).parents[2]
PROGRAMS = 120
"""About 4 500 applications; a part of them in each run of the tests."""


@pytest.mark.parametrize("programs", [PROGRAMS // 4, pytest.param(2 * PROGRAMS, marks=CAMPAIGN)])
def test_no_rule_fails_on_random_programs(programs: int, tmp_path: Path) -> None:
    """The many are enough for every rule: the rarest one, `join`, applies to one of 40."""
    campaign = Campaign(seed=10, cases=tmp_path)
    campaign.run(range(programs), lambda counts: True)
    counts = campaign.counts
    assert counts.failures == 0, "\n".join(path.read_text() for path in campaign.written)
    assert counts.programs == programs
    few = programs < PROGRAMS
    assert counts.total > 25 * programs
    unseen = {rule.name for rule in ALL_RULES} - set(counts.applications)
    assert len(unseen) <= (len(ALL_RULES) // 4 if few else 0), unseen
    assert min(counts.exact_accepted, counts.corrupted, counts.chains) > (20 if few else 150)
    assert 0 < counts.corrupted_accepted < 0.5 * counts.corrupted
    assert 0.9 * counts.total < counts.distinct <= counts.total
    assert 0.1 * counts.total < counts.in_floats
    assert counts.too_large < 0.01 * counts.total


@CAMPAIGN
@pytest.mark.parametrize("part", range(12))
def test_no_rule_fails_on_the_programs_of_the_seed(part: int, seed: int) -> None:
    """What fails is written to tests/regressions."""
    campaign = Campaign(seed, DIRECTORY)
    numbers = range(2 * PROGRAMS * part, 2 * PROGRAMS * (part + 1))
    campaign.run(numbers, lambda counts: True)
    counts = campaign.counts
    assert counts.failures == 0, "\n".join(path.read_text() for path in campaign.written)
    assert counts.total > 3000


def test_the_counts_follow_from_the_seed(tmp_path: Path) -> None:
    campaigns = [Campaign(seed, tmp_path) for seed in (3, 3, 4)]
    for campaign in campaigns:
        campaign.run(range(2), lambda counts: True)
    first, again, other = (campaign.counts for campaign in campaigns)
    assert first == again
    assert first != other


def test_it_ends_at_the_count_or_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = Campaign(5, tmp_path)
    campaign.run(range(10**9), until(count=60, seconds=None))
    assert 60 <= campaign.counts.total < 2000
    clock = SimpleNamespace(monotonic=count(0).__next__)  # a second from question to question
    monkeypatch.setattr("tests.fuzz.campaign.time", clock)
    before = campaign.counts.programs
    campaign.run(range(10**9), until(count=None, seconds=4))
    assert campaign.counts.programs == before + 4


def _yes(*arguments: object, **more: object) -> bool:
    return True


def _nothing(*arguments: object) -> None:
    return None


def _unguarded(inlined: Node, *arguments: object) -> Node:
    return inlined


def _of_any_reducer(scope: Scope, *arguments: Any) -> None:
    maps.require_zero(make_scope(scope.loops, scope.sums, scope.body), *arguments)


def _any_reducer(scope: Scope, access: Access, source: Scope) -> str:
    return source.reducer if source.sums else scope.reducer


_zero_reads: Callable[..., tuple[zero.Read, ...]] = zero.zero_reads.__wrapped__


def _fills_taken_for_zero(body: Node, *arguments: object) -> tuple[zero.Read, ...]:
    if isinstance(body, Access):
        return tuple(zip(body.rows, body.source.ranges, strict=True))
    return _zero_reads(body, *arguments)


REMOVED: Mapping[str, tuple[object, str, Callable[..., object] | dict[str, Reduction]]] = {
    "what leaves a range is zero": (maps, "vanishes_outside", _yes),
    "only a sum gains or loses points": (reindex_sums, "require_zero", _of_any_reducer),
    "the maps of a sum are inverse": (reindex_sums, "_require_inverse", _nothing),
    "the loops, read back, are the old ones": (ReindexLoops, "_returns", _yes),
    "loops shrink where the body is zero": (reindex_loops, "require_zero", _nothing),
    "a stage read outside its loops is guarded": (merge, "_guarded", _unguarded),
    "a guard is left out where all is zero": (merge, "vanishes_outside", _yes),
    "only like reductions merge": (merge, "_merged_reducer", _any_reducer),
    "a negative factor swaps max and min": (
        pull,
        "REDUCERS",
        {name: replace(known, opposite=name) for name, known in REDUCERS.items()},
    ),
    "what stands beside a zero is a number": (zero, "finite_everywhere", _yes),
    "only a fill of zero is zero": (zero, "zero_reads", _fills_taken_for_zero),
}
"""Side conditions of the kernel, and what stands in for each to leave it out."""


SLOW = {
    "the maps of a sum are inverse",
    "a guard is left out where all is zero",
    "a negative factor swaps max and min",
    "only a sum gains or loses points",
    "a stage read outside its loops is guarded",
}
"""Found after some thousand applications; the others after some hundred."""


@pytest.mark.parametrize("condition", first(2, sorted(REMOVED, key=SLOW.__contains__)))
def test_a_condition_left_out_of_the_kernel_is_noticed(
    condition: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forget: Callable[[], None],
) -> None:
    """The campaign finds it within some thousand applications, shrinks it and writes a case, which
    fails as long as the condition is missing and passes with it."""
    module, name, instead = REMOVED[condition]
    monkeypatch.setattr(module, name, instead)
    campaign = Campaign(0, tmp_path, shrink_seconds=math.inf)
    enough = until(count=60_000, seconds=None)
    campaign.run(range(10**9), lambda counts: enough(counts) and not counts.failures)
    assert campaign.counts.failures
    assert sorted(campaign.written) == sorted(tmp_path.iterdir())
    for path in campaign.written:
        case = read_case(path.read_text(encoding="utf-8"))
        assert points(case.start) <= 20, text_of(case)
        assert replay(case, ALL_RULES)
    monkeypatch.undo()
    forget()
    for path in campaign.written:
        assert replay(read_case(path.read_text(encoding="utf-8")), ALL_RULES) == ""


def test_what_a_rule_raises_is_a_failure(tmp_path: Path) -> None:
    def faulty(scope: Scope) -> Iterator[Witness]:
        if len(scope.sums) > 1:
            raise IndexError("two sums")
        yield from SHIFT.propose(scope)

    rules: list[Rule | JointRule] = [replace(SHIFT, name="faulty", propose=faulty), *RULES]
    campaign = Campaign(0, tmp_path, rules, shrink_seconds=math.inf)
    campaign.run(range(10**9), lambda counts: counts.failures <= 2 * MOST_CASES)
    assert 0 < len(campaign.written) <= MOST_CASES
    for path in campaign.written:
        case = read_case(path.read_text(encoding="utf-8"))
        assert case.shows == "raises IndexError: two sums"
        assert len(case.start.sums) == 2
        assert points(case.start) <= 4
        with pytest.raises(IndexError):
            replay(case, rules)
        assert replay(case, [SHIFT]) == ""


def test_a_program_that_changes_over_sound_steps_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps put in their places wrongly: one step in the least program is enough to see it."""

    def wrong(scope: Scope, replacement: Mapping[Scope, Scope]) -> Scope:
        found = replace_sources(scope, replacement)
        if found is scope:
            return scope
        rows = [affine.iterator(i) for i in range(len(found.loops))]
        return make_scope(found.loops, (), expr.add(expr.access(found, rows), expr.const(1)))

    monkeypatch.setattr(explore, "replace_sources", wrong)
    monkeypatch.setattr(chains, "replace_sources", wrong)
    campaign = Campaign(0, tmp_path)
    campaign.run(range(10**9), lambda counts: not counts.failures)
    path = campaign.written[0]
    case = read_case(path.read_text(encoding="utf-8"))
    assert len(case.moves) == 1
    assert points(case.start) <= 4
    assert text_of(case) == path.read_text(encoding="utf-8")
    assert replay(case, ALL_RULES)
    monkeypatch.undo()
    assert replay(case, ALL_RULES) == ""  # the step itself holds


def _fuzz(*arguments: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,  # a group of its own, which gets the signal as from a terminal
        preexec_fn=_heed_interrupts,
    )


def _heed_interrupts() -> None:
    """What a shell starts in the background ignores SIGINT, and so would what the test starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.campaign
def test_the_command_runs_jobs_side_by_side(tmp_path: Path) -> None:
    process = _fuzz("--count", "200", "--jobs", "2", "--seed", "9", "--cases", str(tmp_path))
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "UNSOUND STEPS OR ERRORS                            0" in out
    line = next(line for line in out.splitlines() if line.startswith("rule applications"))
    assert 200 <= int(line.split()[-1].replace(",", "")) < 2000


@pytest.mark.campaign
def test_an_interrupted_campaign_tells_what_it_did(tmp_path: Path) -> None:
    terminal, theirs = os.openpty()  # to which it tells its progress every second
    arguments = ("--minutes", "600", "--jobs", "2", "--cases", str(tmp_path))
    process = _fuzz(*arguments, stderr=theirs)
    os.close(theirs)
    assert process.stdout is not None
    assert "seed 0" in process.stdout.readline()
    told = ""
    while not re.search(r"[1-9][0-9,]* applications", told):
        told += os.read(terminal, 4096).decode()
    os.killpg(process.pid, signal.SIGINT)
    with suppress(OSError):  # that the other side is closed
        while more := os.read(terminal, 4096):
            told += more.decode()
    os.close(terminal)
    out, _ = process.communicate()
    assert process.returncode == 0, told
    assert "interrupted" in out
    line = next(line for line in out.splitlines() if line.startswith("rule applications"))
    assert int(line.split()[-1].replace(",", "")) > 0


@pytest.mark.parametrize("path", sorted(DIRECTORY.glob("*.txt")), ids=lambda path: path.stem)
def test_what_was_found_once_holds(path: Path) -> None:
    """Every case in tests/regressions: refused, or an equality."""
    assert replay(read_case(path.read_text(encoding="utf-8")), ALL_RULES) == ""


def test_a_case_with_laws_reads_back() -> None:
    path = min(DIRECTORY.glob("*.txt"))
    case = replace(read_case(path.read_text(encoding="utf-8")), laws=("exp-sum",))
    assert read_case(text_of(case)) == case


def test_a_case_that_cannot_be_read_says_where() -> None:
    with pytest.raises(ValueError, match="formula"):
        read_case("rule: shift\nformula: Y[i] = A[i]\n")


@pytest.mark.parametrize("witness", [SplitSum(()), SplitSum((1,)), ContractPairs(())])
def test_a_witness_is_changed_also_where_it_names_nothing(witness: Witness) -> None:
    """A corrupted witness may be corrupted once more."""
    changed = {corrupt(witness, Random(seed)) for seed in range(20)}
    assert None not in changed
    assert len(changed - {witness}) > 1


def test_counts_add_up() -> None:
    one, two = Counts(programs=1, refused=2), Counts(programs=3, failures=1)
    one.applications["shift"] += 2
    two.applications["shift"] += 3
    both = one + two
    assert (both.programs, both.refused, both.failures, both.total) == (4, 2, 1, 5)
    assert "shift" in both.table(1.0, 2.0)
