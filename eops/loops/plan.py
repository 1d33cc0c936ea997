"""From a stage to the plan of its loops: which run in parallel, which is the inner one.

    map       for all loops:                 Y[x] = f(x)             the inner loop is the last loop
    column    for a block of the last loop:  T = 0; for all sums: T[x] += f(x, y);  Y[x] = T[x]
    row       for all loops:                 t = 0; for all sums: t += f(x, y);     Y[x] = t

In a column the inner loop is the last loop, in a row one of the sums: the one along which most
reads walk through memory.  Loops that all reads and the result walk through as through one are
merged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Literal, NamedTuple, TypeAlias

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Number, Scope, Select
from einderive.ta.ir.subst import accesses, sources, walk

Kind: TypeAlias = Literal["map", "column", "row"]

BLOCK: Final = 4096
"""Elements of a long inner loop that are one piece of work."""
TILE: Final = 512
"""Results of a column, which stay in the nearest cache while they are summed."""
TURNED: Final = 16
"""So many steps of a loop along which a read walks through memory, while the inner loop does not,
are one piece of work: what a cache line holds is then used at once."""
TURNED_BLOCK: Final = 128
SHORT: Final = 8
"""An inner loop with fewer steps is not worth its start."""


class Checked(NamedTuple):
    """A dimension of a read that may miss: its index, from 0, its extent and its stride."""

    row: Row
    extent: int
    stride: int


@dataclass(frozen=True, slots=True)
class Load:
    """A read: element `offset` of the operand, and for each checked dimension index times stride
    elements further, or the fill where an index misses.  `empty`: the operand has no element."""

    operand: int
    offset: Row
    checked: tuple[Checked, ...]
    fill: Number
    empty: bool


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops around the body of `scope`.

    - `domain` are the ranges of the iterators, of merged ones (0, 1) and the whole.
    - `parallel` are the iterators of which every combination is work of its own, the inner loop not
      among them; `middle` are sums outside of the inner loop, outermost first.
    - `turned` is one of `parallel` of which TURNED steps together are one piece of work.
    - `block` is how many steps of the inner loop are one piece of work.
    - `result` is the offset of the stored element."""

    scope: Scope
    kind: Kind
    domain: tuple[Range, ...]
    loads: Mapping[Access, Load]
    result: Row
    parallel: tuple[int, ...]
    middle: tuple[int, ...]
    inner: int
    block: int
    turned: int | None = None

    @property
    def order(self) -> tuple[int, ...]:
        """The iterators that have a loop, the outermost first."""
        return (*self.parallel, *self.middle, self.inner)

    @property
    def blocks(self) -> int:
        extent = self.domain[self.inner].extent
        return -(-extent // self.block) if self.kind != "row" else 1

    @property
    def pieces(self) -> int:
        """Of work, each done by one thread."""
        return prod(map(self.parts, self.parallel)) * self.blocks

    def parts(self, i: int) -> int:
        """Into how many parts a parallel iterator is cut."""
        extent = self.domain[i].extent
        return -(-extent // TURNED) if i == self.turned else extent

    @property
    def points(self) -> int:
        return prod(side.extent for side in self.domain)


def nest(scope: Scope, strides: Sequence[Sequence[int]]) -> Nest:
    """The plan for operands of these strides, in the order of `sources(scope.body)`.  No range of
    the scope is empty."""
    read = sources(scope.body)
    reads = {
        access: _load(access, read.index(access.source), strides, scope.domain)
        for access in accesses(scope.body)
    }
    domain, loads, result = _merged(scope, reads, _dense(scope))
    loops = [i for i in range(len(scope.loops)) if domain[i].extent > 1]
    sums = [i for i in range(len(scope.loops), len(domain)) if domain[i].extent > 1]
    last = loops[-1] if loops else 0
    if not scope.domain:
        domain = (Range(0, 1),)
    kind: Kind = "map"
    inner = last
    if scope.sums:
        by_stride = sorted(sums, key=lambda i: _along(i, loads, domain))
        inner = max(
            [*loops[-1:], *by_stride], key=lambda i: _score(i, loads, domain, last), default=0
        )
        kind = "row" if inner >= len(scope.loops) or not loops else "column"
        if kind == "row" and inner < len(scope.loops):
            inner = len(scope.loops)
        sums = by_stride
    long = domain[inner].extent
    block = long
    turned = None
    if kind == "map":
        turned = next((i for i in loops if i != inner and _turns(i, inner, loads, domain)), None)
    if kind == "column":
        block = min(long, TILE)
    elif turned is not None:
        block = min(long, TURNED_BLOCK)
    elif kind == "map" and long >= 2 * BLOCK:
        block = BLOCK
    return Nest(
        scope,
        kind,
        domain,
        loads,
        result,
        tuple(i for i in loops if i != inner),
        tuple(i for i in sums if i != inner),
        inner,
        block,
        turned,
    )


def _dense(scope: Scope) -> Row:
    """The offset of an element of the result."""
    row, stride = affine.ZERO, 1
    for i in reversed(range(len(scope.loops))):
        row = affine.add(row, affine.shift(affine.iterator(i), -scope.loops[i].lo), stride)
        stride *= scope.loops[i].extent
    return row


def _load(
    access: Access, operand: int, strides: Sequence[Sequence[int]], domain: Sequence[Range]
) -> Load:
    offset, checked = affine.ZERO, []
    for row, bound, stride in zip(access.rows, access.source.ranges, strides[operand], strict=True):
        index = affine.simplify(affine.shift(row, -bound.lo), domain)
        low, high = affine.bounds(index, domain)
        if low < 0 or high >= bound.extent:
            checked.append(Checked(index, bound.extent, stride))
        else:
            offset = affine.add(offset, index, stride)
    empty = any(bound.extent == 0 for bound in access.source.ranges)
    return Load(operand, offset, tuple(checked), access.fill, empty)


def _merged(
    scope: Scope, loads: Mapping[Access, Load], result: Row
) -> tuple[tuple[Range, ...], Mapping[Access, Load], Row]:
    """Neighbouring loops as one, where every offset is linear in both and takes the outer one's
    steps where the inner one ends."""
    domain, found = list(scope.domain), dict(loads)
    held: set[int] = set()
    for node in walk(scope.body):
        if isinstance(node, Select):
            held |= {i for c in node.conditions for i in affine.iterators(c.row)}
    for load in loads.values():
        held |= {i for one in load.checked for i in affine.iterators(one.row)}
        held |= {i for inner, _, _ in load.offset.floors for i in affine.iterators(inner)}
    for outer in reversed(range(len(scope.loops) - 1)):
        into = outer + 1
        steps = domain[into].extent
        rows = [load.offset for load in found.values()] + [result]
        if {outer, into} & held or any(
            row.coefficient(outer) != steps * row.coefficient(into) for row in rows
        ):
            continue
        start = {outer: affine.constant(domain[outer].lo)}
        start[into] = affine.shift(affine.iterator(into), domain[into].lo)
        for access, load in found.items():
            offset = _at(load.offset, start)
            found[access] = Load(load.operand, offset, load.checked, load.fill, load.empty)
        result = _at(result, start)
        domain[into] = Range(0, domain[outer].extent * steps)
        domain[outer] = Range(0, 1)
    return tuple(domain), found, result


def _at(row: Row, changed: Mapping[int, Row]) -> Row:
    at = {i: affine.iterator(i) for i in affine.iterators(row)} | dict(changed)
    return affine.substitute(row, at)


def _step(load: Load, i: int) -> int | None:
    """By how much the element moves where the iterator moves by 1; None where that varies."""
    rows = [load.offset, *(one.row for one in load.checked)]
    if any(i in affine.iterators(inner) for row in rows for inner, _, _ in row.floors):
        return None
    return load.offset.coefficient(i) + sum(
        one.row.coefficient(i) * one.stride for one in load.checked
    )


def _score(i: int, loads: Mapping[Access, Load], domain: Sequence[Range], last: int) -> float:
    """How well the iterator serves as the inner loop."""
    total = 0.5 if i == last else 0.0
    for load in loads.values():
        step = _step(load, i)
        total += -2.0 if step is None else {1: 1.0, 0: 0.6, -1: 0.6}.get(step, -1.0)
    return total - (4.0 if domain[i].extent < SHORT else 0.0)


def _turns(i: int, inner: int, loads: Mapping[Access, Load], domain: Sequence[Range]) -> bool:
    """Whether a read walks through memory along the iterator, and jumps along the inner loop."""
    if min(domain[i].extent, domain[inner].extent) < 2 * SHORT:
        return False
    return any(
        abs(_step(load, i) or 0) == 1 and abs(_step(load, inner) or 0) > 1
        for load in loads.values()
    )


def _along(i: int, loads: Mapping[Access, Load], domain: Sequence[Range]) -> tuple[int, int]:
    """Sorts sums by falling strides, so that the last one walks through memory."""
    return (-max((abs(_step(load, i) or 0) for load in loads.values()), default=0), i)
