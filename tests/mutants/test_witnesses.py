"""Corrupted witnesses of every kind: refused, or what they prove is true."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

from einderive.derivations.steps.kernel import kinds
from einderive.derivations.steps.reindex_sums import ReindexSums
from einderive.derivations.steps.split_sum import SplitSum
from einderive.ta.ir.affine import Range, Row
from tests.mutants.corruptions import corruptions
from tests.mutants.witnesses import Pool, collect, counts

LEAST = 2
"""Corruptions of each field; a rule with few examples gives few, and a number has two."""


@cache
def pool() -> Pool:
    return collect(8, systematic=3, varied=2)


def test_no_corrupted_witness_proves_anything_false() -> None:
    assert not pool().faults, pool().faults[:3]
    assert len(pool().attempts) > 1500


def test_every_field_of_every_kind_is_corrupted() -> None:
    found = counts(pool())
    for name, kind in kinds().items():
        for field in fields(kind):
            if field.name != "producer":  # another producer is a witness of its own
                assert found[name, field.name]["tried"] >= LEAST, (name, field.name)


def test_what_is_wrong_is_mostly_refused() -> None:
    for place, row in counts(pool()).items():
        assert row["tried"] == row["refused"] + row["true"], place
    maps = [row for (kind, _), row in counts(pool()).items() if kind.startswith("Reindex")]
    assert sum(row["refused"] for row in maps) > 0.8 * sum(row["tried"] for row in maps)


def test_corruptions_change_one_place() -> None:
    assert {made.inner for _, made in corruptions(SplitSum((0, 2)))} == {
        *((-1, 2), (1, 2), (0, 1), (0, 3)),
        *((2,), (0,), (0, 0, 2), (0, 2, 2), (2, 0)),
    }
    row = Row(1, ((0, 2),))
    witness = ReindexSums((row,), (row,), (Range(0, 3),))
    changed = [(name, made) for name, made in corruptions(witness)]
    assert len({made for _, made in changed}) == len(changed)
    for name, made in changed:
        others = {"forward", "backward", "ranges"} - {name}
        assert getattr(made, name) != getattr(witness, name)
        assert all(getattr(made, other) == getattr(witness, other) for other in others)
