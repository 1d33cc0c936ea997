"""A change of iterators: the code that its two kinds share.

    Φ   `forward`     the old iterators as rows of the new ones
    Ψ   `backward`    the new iterators as rows of the old ones
    D'  `ranges`      the box of the new iterators

Each of the two files states its part of the reindexing theorem, the one trusted piece behind every
rule that changes iterators.
Source: EinNet (OSDI'23), variable substitution, boundary relaxing and tightening, in one statement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise
from typing import ClassVar

from einderive.derivations.effects.nonfinite import drops_nothing, zero_whatever_else
from einderive.derivations.effects.rounding import Exactness, judged
from einderive.derivations.steps.kernel import Witness
from einderive.derivations.steps.told import UNNAMED, Names, iterators_text, leaving_text
from einderive.ta.errors import RuleRefused
from einderive.ta.facts.zeros import Read, vanishes_outside
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.names import pool
from einderive.ta.ir.node import Node, Scope
from einderive.ta.printing.marks import row_text


@dataclass(frozen=True, slots=True)
class Maps(Witness):
    """A change of iterators.

    - `forward`: for each old iterator, its row of the new ones (Φ).
    - `backward`: for each new iterator, its row of the old ones (Ψ).
    - `ranges`: the ranges of the new iterators (D').
    """

    forward: tuple[Row, ...]
    backward: tuple[Row, ...]
    ranges: tuple[Range, ...]

    of_sums: ClassVar[bool]
    """Whether the change concerns the reduction iterators; otherwise it concerns the loops."""

    def fixed(self, scope: Scope) -> int:
        """The number of the scope's iterators that stay as they are, before those that change."""
        return len(scope.loops) if self.of_sums else 0

    @abstractmethod
    def leaving(self, scope: Scope) -> list[Read]:
        """The rows that may leave the new box, and those that may leave the old box."""

    def require_fitting(self, scope: Scope, old: int) -> None:
        """Requires that the maps lead from `old` iterators of the scope to the new ones, and
        back."""
        if len(self.forward) != old or len(self.backward) != len(self.ranges):
            raise RuleRefused("the witness has another number of rows than there are iterators")
        for lo, hi in self.ranges:
            if lo >= hi:
                raise RuleRefused("an iterator has an empty range")
        fixed = self.fixed(scope)
        require_rows(self.forward, fixed + len(self.ranges))
        require_rows(self.backward, fixed + old)

    def rounding(self, before: Scope, after: Scope, stated: Exactness) -> Exactness:
        return judged(stated, before, after, moved=True)

    def keeps_nonfinite(self, before: Scope, after: Scope) -> bool:
        """Whether points that are lost or gained are 0 for all inputs."""
        kept = not self.leaving(before) or zero_whatever_else(before.body)
        return kept and drops_nothing(before, after)

    def bound(self, scope: Scope, names: Names = UNNAMED) -> tuple[tuple[str, str], ...]:
        """The iterators before and after, and the rows that leave the ranges, with their values."""
        fixed, own = self.fixed(scope), names.of(scope)
        end = fixed + len(self.forward)
        fresh = self.new_names(own)
        old, box = scope.domain[:end], (*scope.domain[:fixed], *self.ranges)
        lost = affine.leaving(self.backward, self.ranges, old)
        gained = affine.leaving(self.forward, scope.domain[fixed:end], box)
        return (
            ("old iterators", iterators_text(own[fixed:end], scope.domain[fixed:end])),
            ("new iterators", iterators_text(fresh, self.ranges)),
            ("leaves the new ranges", leaving_text(lost, own, old)),
            ("leaves the old ranges", leaving_text(gained, [*own[:fixed], *fresh], box)),
        )

    def new_names(self, names: Sequence[str]) -> list[str]:
        return list(islice(pool(frozenset(names) | set("ijkl")), len(self.ranges)))

    def told(self, scope: Scope, names: Names) -> str:
        """`i = 3*u+v; u = i//3, v = i%3; u in 0:3, v in 0:9`."""
        fixed, own = self.fixed(scope), names.of(scope)
        moved = own[fixed : fixed + len(self.forward)]
        fresh = self.new_names(own)
        parts = (
            _equations(moved, self.forward, [*own[:fixed], *fresh]),
            _equations(fresh, self.backward, own),
            [iterators_text(fresh, self.ranges)],
        )
        return "; ".join(map(", ".join, parts))


def _equations(left: Sequence[str], rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    return [f"{n} = {row_text(row, names)}" for n, row in zip(left, rows, strict=True)]


def require_zero(
    scope: Scope, body: Node, box: Sequence[Range], leaving: list[Read], exact: bool, what: str
) -> None:
    """Requires that `body` is summed, and is shown to be 0 at the points of the box where one of
    these rows leaves its range, if there are such points."""
    if not leaving:
        return
    if scope.reducer != "sum":
        raise RuleRefused(f"only a sum may gain or lose points, not {scope.reducer}")
    if not vanishes_outside(body, box, leaving, exact):
        raise RuleRefused(f"{what} body is not shown to be 0")


def require_rows(rows: Sequence[Row], count: int) -> None:
    """Requires that the rows are in canonical form and use the first `count` iterators only."""
    for row in rows:
        canonical, least, greatest = _form(row)
        if not canonical:
            raise RuleRefused("a row of the witness is not in canonical form")
        if least < 0 or greatest >= count:
            raise RuleRefused("a row of the witness speaks of an iterator that is not there")


@lru_cache(maxsize=4096)
def _form(row: Row) -> tuple[bool, int, int]:
    """Whether the row is in canonical form, its least and its greatest iterator (0 and -1: none).

    Remembered: the witnesses' rows are the same few."""
    found = affine.iterators(row)
    return _canonical(row), min(found, default=0), max(found, default=-1)


def _canonical(row: Row) -> bool:
    """All reasoning about rows rests on it: a record may hold, say, one iterator in two terms."""
    terms = row.terms
    for (left, a), (right, _) in pairwise(terms):
        if left >= right or not a:
            return False
    if terms and not terms[-1][1]:
        return False
    if not row.floors:
        return True
    if not all(n > 0 and _canonical(inner) for inner, n, _ in row.floors):
        return False
    same = {i: affine.iterator(i) for i in affine.iterators(row)}
    return affine.substitute(row, same) == row
