"""The values of a group before their loops are chosen; loops that are one in memory are merged.

Y[40*i + j] = f(X[40*i + j]),  i in 0:30, j in 0:40      is      Y[k] = f(X[k]),  k in 0:1200
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import frexp
from operator import or_

from einderive.eops.loops.drafts.bodies import Bodies, Element, Elsewhere, Output, Reduction
from einderive.eops.loops.drafts.group import Group, aligned
from einderive.eops.loops.drafts.kinds import Typing
from einderive.eops.loops.drafts.values import (
    DIVIDED,
    Constant,
    Load,
    Operation,
    Value,
    Values,
    masks,
    rows_of,
    with_operands,
    with_rows,
)
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row


@dataclass(frozen=True, slots=True)
class Draft:
    """The values of a group before their loops are chosen."""

    group: Group
    domain: tuple[Range, ...]
    shared: int
    values: tuple[Value, ...]
    reductions: tuple[Reduction, ...]
    outputs: tuple[Output, ...]
    windows: tuple[Element, ...] = ()

    @property
    def ends(self) -> tuple[Reduction | Output, ...]:
        """The values that the group needs: its reductions and outputs."""
        return self.reductions + self.outputs

    @property
    def uses(self) -> int:
        """The iterators of indices, as a bit set; loops that were merged into others are not among
        them."""
        rows = [row for value in self.values for row in rows_of(value)]
        rows += [output.offset for output in self.outputs]
        return reduce(or_, map(affine.mask, rows), 0)


def drafted(group: Group, strides: Sequence[Sequence[int]], typing: Typing) -> Draft | None:
    """The values of a group for operands of these strides and types; None where no one kernel
    computes it."""
    alignment = aligned(group)
    if alignment is None:
        return None
    try:
        made = Bodies(group, alignment, strides, typing)
    except Elsewhere:
        return None
    return Draft(
        group,
        made.domain,
        alignment.shared,
        tuple(made.values.listed),
        tuple(made.reductions),
        tuple(made.outputs),
        tuple(made.windows[stage] for stage in group.windows),
    )


def merged(draft: Draft) -> Draft:
    """Two loops merged into one, if every offset takes the outer loop's steps where the inner one
    ends."""
    own = [row.lone for window in draft.windows for row in window.rows]
    count = min(
        [place for place in own if place is not None and place >= draft.shared],
        default=len(draft.domain),
    )
    for into in reversed(range(count)):
        for outer in reversed(range(into)):
            if (outer < draft.shared) == (into < draft.shared) and _are_one(draft, outer, into):
                draft = _as_one(draft, outer, into)
    return draft


def _are_one(draft: Draft, outer: int, into: int) -> bool:
    domain = draft.domain
    pair, steps = 1 << outer | 1 << into, domain[into].extent
    if domain[outer].extent == 1:
        return False
    for iterators in (one.own for one in draft.ends):
        own = sum(1 << i for i in iterators)
        if outer >= draft.shared and own & pair and own & pair != pair:
            return False
    rows = [output.offset for output in draft.outputs]
    for value in draft.values:
        offset = value.offset if isinstance(value, Load) else None
        if offset is not None:
            rows.append(offset)
        held = [row for row in rows_of(value) if row is not offset]
        held += [floor for row in rows_of(value) for floor, _, _ in row.floors]
        if any(affine.mask(row) & pair for row in held):
            return False
    return all(row.coefficient(outer) == steps * row.coefficient(into) for row in rows)


def _as_one(draft: Draft, outer: int, into: int) -> Draft:
    domain = list(draft.domain)
    start: Mapping[int, Row] = {
        outer: affine.constant(domain[outer].lo),
        into: affine.shift(affine.iterator(into), domain[into].lo),
    }
    domain[into] = Range(0, domain[outer].extent * domain[into].extent)
    domain[outer] = Range(0, 1)

    def at(row: Row) -> Row:
        return affine.substitute(
            row, {i: start.get(i, affine.iterator(i)) for i in affine.iterators(row)}
        )

    return replace(
        draft,
        domain=tuple(domain),
        values=tuple(with_rows(v, [at(row) for row in rows_of(v)]) for v in draft.values),
        outputs=tuple(replace(out, offset=at(out.offset)) for out in draft.outputs),
    )


def divided(draft: Draft, long: int) -> Draft:
    """The draft in which a division by what is the same in a loop of at least so many steps is one
    by the parts of the divisor; the draft itself where there is none."""
    masked, made, places = masks(draft.values, draft.shared), Values(), list[int]()
    loops = sum(1 << i for i, side in enumerate(draft.domain) if side.extent >= long)
    for place, old in enumerate(draft.values):
        value = with_operands(old, places.__getitem__)
        if isinstance(value, Operation) and value.word == "/":
            by = old.args[1] if isinstance(old, Operation) else place
            if masked[place] & ~masked[by] & loops and not _is_power_of_two(draft.values[by]):
                value = _by_parts(value, made)
        places.append(made.place(value))
    if made.listed == [*draft.values]:
        return draft
    return replace(
        draft,
        values=tuple(made.listed),
        reductions=tuple(replace(one, value=places[one.value]) for one in draft.reductions),
        outputs=tuple(replace(one, value=places[one.value]) for one in draft.outputs),
        windows=tuple(replace(one, value=places[one.value]) for one in draft.windows),
    )


def _is_power_of_two(value: Value) -> bool:
    return isinstance(value, Constant) and frexp(float(value.value))[0] in (0.5, -0.5)


def _by_parts(value: Operation, made: Values) -> Operation:
    (of, by), kind = value.args, value.kind
    scale = made.place(Operation("scale", (by,), kind))
    parts = (made.place(Operation(word, (by, scale), kind)) for word in ("scaled", "inverse"))
    return replace(value, word=DIVIDED, args=(of, *parts, scale))
