"""A law of sums for one range, as terms: sum[k:m:n] f(k) = g.

sum[k](F[k+1]-F[k]) = F[n]-F[m]    over 0:9 is   {F[k+1]-F[k]}  and  F[9]-F[0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from re import findall, sub
from typing import NamedTuple

from einderive.ta.errors import FormulaSyntaxError
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Node, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, fold, substitute, with_children
from einderive.ta.laws import REAL_LAWS
from einderive.ta.laws.data import Law
from einderive.ta.notation.parse import parse

LEAST = 2
"""Of a shorter range, the constructors write the sum out."""


class Closed(NamedTuple):
    law: Law
    term: Node
    """f, whose iterator 0 is k."""
    result: Node
    letters: tuple[Tensor, ...]
    """The letters of the term by name; F is a tensor of one dimension."""
    shift: int
    """The index at which k is 0 here, and at which F[0] stands."""


@lru_cache(maxsize=1 << 10)
def closed_of(name: str, equation: int, side: Range) -> Closed | None:
    """The equation over the range; None if it is none of a sum, the range is too short, or it has a
    power that the notation does not take: of x^m - x^n, n may be 4,000,000."""
    law = REAL_LAWS.get(name)
    if law is None or not law.closes or not 0 <= equation < len(law.equations):
        return None
    if side.extent < LEAST:
        return None
    left, result = law.equations[equation].split(" = ")
    shift = side.lo if "F[" in left else 0
    first, end = side.lo - shift, side.hi - shift
    inside = left.removeprefix("sum[k](").removesuffix(")")
    result = sub(r"\bm\b", f"({first})", sub(r"\bn\b", f"({end})", result))
    bodies = []
    for text, target, ranges in ((inside, "Y[k]", {"k": (first, end)}), (result, "Y", {})):
        words = {word for word in findall(r"[A-Za-z]+", text) if len(word) == 1} - {"k"}
        shapes = {word: (end + 1,) if word.isupper() else () for word in words}
        try:
            (root,) = parse(f"{target} = {text}", shapes, "float32", ranges).roots()
        except FormulaSyntaxError:
            return None
        bodies.append(root.body)
    term, closed = bodies
    found = {read.source for read in accesses(term) if read.source is not INDEX}
    letters = sorted((t for t in found if isinstance(t, Tensor)), key=lambda t: t.name)
    return Closed(law, term, closed, tuple(letters), shift)


def placed(
    node: Node, standing: Mapping[str, Node], rest: Sequence[Row], rows: Sequence[Row], shift: int
) -> Node:
    """The term with what stands for the letters, terms over the iterators that are not summed and,
    for F, one more.  `rest` are the rows of those iterators, and `rows` that of k, if it occurs."""

    def step(part: Node, operands: tuple[Node, ...]) -> Node:
        if isinstance(part, Access) and part.source is not INDEX:
            assert isinstance(part.source, Tensor)
            own = [affine.shift(affine.substitute(row, rows), shift) for row in part.rows]
            return substitute(standing[part.source.name], [*rest, *own])
        if isinstance(part, Access):
            return substitute(part, rows)
        return with_children(part, operands)

    return fold(node, step)
