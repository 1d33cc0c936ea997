"""The witness of a change of iterators: its own is accepted, a changed one only where it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from random import Random
from threading import Thread

import pytest

from einderive.derivations.checker import not_equal, sets
from einderive.derivations.checker.witness import fault
from einderive.derivations.rules import RULES
from einderive.derivations.steps.kernel import Step
from einderive.derivations.steps.read_part import ReadPart
from einderive.derivations.steps.reindex_loops import ReindexLoops
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from tests.derivations.checker.changes import agree
from tests.derivations.seeds import corrupt, read, seeded


@cache
def steps() -> tuple[Step, ...]:
    found = (
        step for rule in RULES for seed in range(40) for step in rule.steps(seeded(rule, seed))
    )
    return tuple(s for s in found if isinstance(s.witness, ReindexLoops | ReindexSums))


def test_witnesses_are_those_of_their_steps() -> None:
    assert len(steps()) > 150
    assert [step for step in steps() if fault(step.before, step.after, step.witness)] == []


def test_changed_witnesses_are_refused_unless_they_lead_to_an_equal_scope() -> None:
    random = Random("witness")
    found: Counter[str | None] = Counter()
    for step in steps():
        for _ in range(2):
            witness = corrupt(step.witness, random)
            if witness is not None:
                found[fault(step.before, step.after, witness)] += 1
    assert found[None] <= 0.3 * found.total()
    assert len(found) >= 5


def test_maps_that_are_not_inverse_are_refused() -> None:
    before, after = read("{S[i:0:4] A[i]}", A=(4,)), read("{S[i:0:2] A[2*i]}", A=(4,))
    double = affine.scale(affine.iterator(0), 2)
    half = affine.floordiv(affine.iterator(0), 2)
    witness = ReindexSums((double,), (half,), (Range(0, 2),))
    assert fault(before, after, witness) == (
        "the two maps of the witness are not inverse to each other"
    )
    assert not agree(before, after)


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (affine.iterator(5),),
        (Row(0, ((0, 1), (0, 1))),),
        (Row(0, ((0, 0),)),),
        (Row(0, ((-1, 1),)),),
    ],
)
def test_rows_that_fit_nothing_are_refused(rows: tuple[Row, ...]) -> None:
    before = read("{L[i:0:6] A[i]}", A=(6,))
    after = read("{L[i:0:6] {L[j:0:6] A[j]}[i]}", A=(6,))
    own = (affine.iterator(0),)
    good = ReindexLoops(own, own, (Range(0, 6),))
    assert fault(before, after, good) is None
    assert fault(before, after, replace(good, forward=rows)) is not None
    assert fault(before, after, replace(good, backward=rows)) is not None
    assert fault(before, after, replace(good, ranges=(Range(3, 3),))) is not None


OWN = Row(0, ((0, 1),))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(Row(0, ((0, 1), (0, 1))), id="an iterator twice"),
        pytest.param(Row(0, ((0, 0),)), id="a coefficient of 0"),
        pytest.param(Row(0, (), ((OWN, 1, 1),)), id="//1"),
        pytest.param(Row(0, (), ((OWN, 0, 1),)), id="//0"),
        pytest.param(Row(0, (), ((OWN, -2, 1),)), id="//-2"),
        pytest.param(Row(0, (), ((Row(0, ((0, 2),)), 2, 1),)), id="(2*i)//2"),
        pytest.param(Row(0, (), ((Row(0, (), ((OWN, 0, 1),)), 2, 1),)), id="(i//0)//2"),
        pytest.param(Row(0, (), ((Row(0, (), ((OWN, 3, 1),)), 2, 1),)), id="(i//3)//2"),
        pytest.param(Row(0, (), ((Row(0, ((0, 1), (0, 1))), 3, 1),)), id="i twice in //3"),
    ],
)
def test_rows_in_another_form_than_the_canonical_one_are_refused(row: Row) -> None:
    before = read("{L[i:0:6] A[i]}", A=(6,))
    after = read("{L[i:0:6] {L[j:0:6] A[j]}[i]}", A=(6,))
    own = (affine.iterator(0),)
    good = ReindexLoops(own, own, (Range(0, 6),))
    for changed in (replace(good, forward=(row,)), replace(good, backward=(row,))):
        assert fault(before, after, changed) == "the witness has rows that do not fit the scopes"


def test_a_part_is_read_from_what_holds_it() -> None:
    before = read("{L[i:0:4] S[k:0:3] A[i,k]*B[k]}", A=(8, 3), B=(3,))
    whole = read("{L[i:0:8] S[k:0:3] A[i,k]*B[k]}", A=(8, 3), B=(3,))
    after = read("{L[i:0:4] {L[i:0:8] S[k:0:3] A[i,k]*B[k]}[i]}", A=(8, 3), B=(3,))
    own = affine.iterator(0)
    assert fault(before, after, ReadPart(whole, (own,))) is None
    assert fault(before, after, ReadPart(whole, (affine.shift(own, 1),))) is not None
    assert fault(before, after, ReadPart(whole, ())) is not None


def test_other_witnesses_are_not_read() -> None:
    step = Step("hoist", steps()[0].before, steps()[0].after, steps()[0].witness)
    assert fault(step.before, step.after, object()) is None


def test_empty_ranges_are_refused() -> None:
    before = read("{S[i:0:0] A[i]}", A=(4,))
    own = (affine.iterator(0),)
    assert fault(before, before, ReindexSums(own, own, (Range(0, 0),))) == (
        "an iterator has an empty range"
    )


def test_another_scope_than_the_maps_lead_to_is_refused() -> None:
    before, turned = read("{S[i:0:6] A[i]}", A=(6,)), read("{S[i:0:6] A[5-i]}", A=(6,))
    own = (affine.iterator(0),)
    witness = ReindexSums(own, own, (Range(0, 6),))
    assert fault(before, before, witness) is None
    assert fault(before, turned, witness) == "the witness does not lead to the right side"


def test_a_part_is_read_by_the_loops_alone() -> None:
    before, whole = read("{L[i:0:4] A[i]}", A=(8,)), read("{L[i:0:8] A[i]}", A=(8,))
    after = read("{L[i:0:4] {L[i:0:8] A[i]}[i]}", A=(8,))
    assert fault(before, after, ReadPart(whole, (affine.iterator(0),))) is None
    assert fault(before, after, ReadPart(whole, (affine.iterator(1),))) == (
        "the witness has rows that do not fit the scopes"
    )


def test_every_question_has_its_own_budget() -> None:
    """With hardly more operations than one check takes, any number of checks pass."""

    def reason(step: Step, limit: int) -> str | None:
        sets.context().set_max_operations(limit)
        forward = step.witness.forward if isinstance(step.witness, ReindexSums) else None
        return not_equal(step.before, step.after, forward)

    found: list[list[str | None]] = []

    def ask() -> None:
        for step in steps()[::5]:
            if reason(step, 1) == "not shown: too large for integer sets":
                enough = next(n for k in range(100) if not reason(step, n := int(1.2**k)))
                found.append([reason(step, enough) for _ in range(4)])

    thread = Thread(target=ask)  # which has a context of its own, in which nothing was asked
    thread.start()
    thread.join()
    assert len(found) > 3
    assert found == [[None] * 4] * len(found)
