"""Names in the notation: reserved names, names that are proposed, and near misses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from difflib import get_close_matches
from itertools import count
from typing import Final

from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Reducer

REDUCER_OF: Final[dict[str, Reducer]] = {
    spelling: name for name, known in REDUCERS.items() for spelling in (name, *known.spellings)
}
"""The word of a scope's binder -> the reducer."""

KEYWORDS: Final = frozenset({"where", "and", "or", "not", "in", "inf"})
CONSTANTS: Final = frozenset(name for name, known in FUNCTIONS.items() if not known.arity)
"""Names of numbers.  A tensor with the same name takes precedence."""
_EARLY: Final = (
    "abs cos erf exp expm1 finite gelu log log1p maximum minimum relu rsqrt sigmoid sign silu sin "
    "softplus sqrt tanh max min prod sum"
)
RESERVED: Final = KEYWORDS | frozenset(_EARLY.split())
"""Names that neither a tensor nor an iterator may have.  Words that came into the notation later
are not among them, since older formulas and records may have a tensor `mean`.  Such a word is known
by the bracket that follows it, `mean[k](...)`."""
NO_ITERATORS: Final = frozenset({"None", "True", "False", "newaxis", "Ellipsis"})
"""Words that add, choose or stand for dimensions in NumPy's brackets: as iterators they would be
summed, where NumPy does something else."""

NEAR: Final = 0.6
"""Twice the letters that two near names have in common over the letters of both, at least."""
_LETTERS: Final = "ijklmnxyuvpqrstwzabcdefgho"


def pool(excluded: Set[str] = frozenset()) -> Iterator[str]:
    """Iterator names in their fixed order of preference: i, j, k, ..., then i1, i2, ..."""
    for name in _LETTERS:
        if name not in excluded:
            yield name
    for number in count(1):
        if f"i{number}" not in excluded:
            yield f"i{number}"


class Namer:
    """Hands out iterator names for one text.

    A name never stands for two ranges in the text and never hides a visible one.  With `unique`,
    each name is handed out once.
    """

    def __init__(self, excluded: Set[str], *, unique: bool = False) -> None:
        self.excluded = RESERVED | excluded | {"S", "L", "Σ"}
        self.unique = unique
        self.ranges: dict[str, Range] = {}

    def choose(self, bound: Range, visible: Set[str], wanted: Iterable[str] = ()) -> str:
        """The first of `wanted`, then of the pool, that is free here."""
        for name in wanted:
            if self._take(name, bound, visible):
                return name
        return next(name for name in pool(self.excluded) if self._take(name, bound, visible))

    def _take(self, name: str, bound: Range, visible: Set[str]) -> bool:
        if name in self.excluded or name in visible or (self.unique and name in self.ranges):
            return False
        return self.ranges.setdefault(name, bound) == bound


def close_matches(name: str, known: Iterable[str]) -> str:
    """`did you mean B?`, or an empty text if no known name is near.  A name of a very different
    length is not near, and a long text is not gone over for it."""
    by_lower = {
        candidate.lower(): candidate
        for candidate in known
        if 2 * min(len(candidate), len(name)) >= NEAR * (len(candidate) + len(name))
    }
    found = get_close_matches(name.lower(), by_lower, n=3, cutoff=NEAR) if by_lower else ()
    return f"did you mean {' or '.join(by_lower[match] for match in found)}?" if found else ""
