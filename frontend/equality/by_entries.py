"""Verdicts for the entries that element types hold: each is tried, or a proof rests on their type.

abs(A) = A           for uint8: all 256 entries were tried
sqrt(A^2) = A        for uint8, since A >= 0
floor(A) = A         for integers
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod

import numpy as np

from einderive.frontend.equality.by_laws import proved
from einderive.frontend.equality.element_ranges import ENTRIES, types_stated
from einderive.frontend.equality.equation import Pair
from einderive.frontend.equality.verdict import Verdict
from einderive.ta.equality.compare import exactly
from einderive.ta.equality.counterexample import StrictField
from einderive.ta.equality.sign_bounds import opaque_functions
from einderive.ta.equality.small_extents import reduce_extents
from einderive.ta.exact.fields import Array
from einderive.ta.exact.interp import evaluate, input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.given.assumptions import both
from einderive.ta.given.whole_values import NO_INTEGER, whole_kind
from einderive.ta.ir import expr
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Apply, Bounds, Node, Scope, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.sources import redirected, with_tensors
from einderive.ta.ir.subst import fold, points_of, stages, with_children

MOST_TRIED = 1 << 10
"""All entries are tried where there are at most so many choices of them ..."""
MOST_POINTS = 2000
"""... and an evaluation visits at most so many points."""


def of_all_entries(pair: Pair) -> Verdict | None:
    """The verdict that both are equal for each choice of entries; None where that is not shown, or
    where there are too many."""
    count = _equal_for_all(pair)
    if not count:
        return None
    return Verdict(
        "proved",
        f"equal at every position: all {count} choices of entries were tried "
        f"({types_stated(pair)}), with extents in no index arithmetic reduced by proof",
    )


def proved_of_types(pair: Pair, seconds: float) -> Verdict:
    """`by_laws.proved`, with what the types say of the entries."""
    typed = replace(pair, left=_typed(pair.left), right=_typed(pair.right))
    shown = proved(typed, seconds)
    if not shown or (typed.left, typed.right) == (pair.left, pair.right):
        return shown
    return replace(shown, detail=f"{shown.detail} ({types_stated(pair)})")


def _equal_for_all(pair: Pair) -> int:
    """The number of choices of entries, if both sides have values and are equal for each; else 0.

    The theorem of small extents holds for the entries of a type too: its proof repeats slices of
    the given data, and so takes no entries but theirs."""
    small = reduce_extents(pair.left, pair.right)
    roots = (*small.left, *small.right)
    tensors = input_tensors(*roots)
    if not tensors or any(t.dtype not in ENTRIES for t in tensors):
        return 0
    if points_of(*roots) > MOST_POINTS:
        return 0
    if prod(ENTRIES[t.dtype].extent ** t.size for t in tensors) > MOST_TRIED:
        return 0
    if opaque_functions(*roots) or not exactly(*roots):
        return 0
    field, count = StrictField(), 0
    for data in _every(tensors):
        for sides in zip(small.left, small.right, strict=True):
            left, right = (evaluate(side, data, field) for side in sides)
            if not np.all(left == right):  # a number that is no value differs from itself
                return 0
        count += 1
    return count


def _every(tensors: Sequence[Tensor]) -> Iterator[dict[str, Array]]:
    """All entries that the types and the assumptions allow."""
    allowed = [[n for n in range(*ENTRIES[t.dtype]) if t.bounds.holds(n)] for t in tensors]
    spans = [product(known, repeat=t.size) for known, t in zip(allowed, tensors, strict=True)]
    field = StrictField()
    for chosen in product(*spans):
        yield {
            t.name: field.convert(np.array(entries, dtype=object).reshape(t.shape))
            for t, entries in zip(tensors, chosen, strict=True)
        }


def _typed(roots: tuple[Scope, ...]) -> tuple[Scope, ...]:
    """The programs in which entries are assumed not to be negative if their type holds no negative
    number, and functions that leave integers as they are do not stand on integers."""
    roots = tuple(with_tensors(root, _bounded) for root in roots)
    moved: dict[Scope, Scope] = {}
    for stage in stages(*roots):
        own = redirected(stage, moved)
        body = fold(own.body, partial(_without_rounding, own))
        moved[stage] = make_scope(own.loops, own.sums, body, own.reducer)
    return tuple(moved[root] for root in roots)


def _bounded(tensor: Tensor) -> Tensor:
    held = ENTRIES.get(tensor.dtype)
    if held is None or held.lo < 0 or not is_input(tensor):
        return tensor
    bounds = both(tensor.bounds, Bounds(Fraction(held.lo), Fraction(held.hi - 1)))
    return expr.tensor(tensor.name, tensor.shape, tensor.dtype, bounds)


def _without_rounding(scope: Scope, node: Node, operands: Sequence[Node]) -> Node:
    made = with_children(node, tuple(operands))
    if not isinstance(made, Apply) or FUNCTIONS[made.function].triton_whole != "{0}":
        return made
    (operand,) = made.args
    return made if whole_kind(operand, scope.domain) == NO_INTEGER else operand
