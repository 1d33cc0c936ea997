"""How operations on whole arrays go through memory.

    Y[i,j,k] = A[i,j,k]*B[i,j]      one inner loop, over k, for each i and j
    Y[i,j,k] = A[i,j,k]*E[i,j,k]    none: all three loops are one
    Y[i,j] = A[i,j]*B[j,i]          each step of the inner loop jumps in B
    Y[i] = sum[k](A[k,i])           adds rows of memory to each other
    Y[i] = sum[k](A[i,k])           adds along rows
    Y[i] = sum[k](A[2*k+i])         adds pieces: no loop runs along the memory

An operation goes through memory in loops that are as long as all operands step on together, and
each such loop costs time of its own.  A stage that is one affine read is no memory of its own: its
readers go through the memory that it shows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from math import inf, prod
from typing import Final, NamedTuple, TypeAlias

from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row, bits
from einderive.ta.ir.node import (
    Access,
    Add,
    Apply,
    Const,
    Mul,
    Node,
    Power,
    Scope,
    Select,
    Source,
)
from einderive.ta.ir.operator import Unit
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import children, walk
from einderive.ta.traffic.cache_lines import lost_share

Strides: TypeAlias = Mapping[int, int]
"""Each iterator's step through a memory."""


class Walks(NamedTuple):
    """What computes a body, operation by operation.

    - `calls`: the operations on whole arrays; `numbers` of them have a number as an operand.
    - `moved`: the elements that they read, and that they write to new memory: a result overwrites
      an operand that nothing else reads.  `most` are those of the largest result.
    - `rows`: their inner loops.
    - `jumps`: the elements that such loops read with jumps from each step to the next, and
      `misses` those of them whose cache line is read from memory again.
    - `views`: operands that are shown in another form than that in which they are held."""

    calls: int
    numbers: int
    moved: float
    most: int
    rows: float
    jumps: float
    misses: float
    views: int


@lru_cache(maxsize=1 << 14)
def walks(body: Node, extents: tuple[int, ...]) -> Walks:
    calls = numbers = most = views = 0
    moved = rows = jumps = misses = 0.0
    nodes = varying(body)
    fused = {term for node in nodes if isinstance(node, Add) for term in _scaled_terms(node)}
    lies: dict[Node, Strides] = {}
    for node in nodes:
        parts = [part for part in children(node) if part.free]
        held = [lies.get(part) or _steps(part, extents) for part in parts]
        ordered = nested(bits(node.free), held)
        lies[node] = dict(zip(ordered, _dense([extents[i] for i in ordered]), strict=True))
        if node in fused:
            continue
        own, alone = calls_of(node)
        calls += own
        numbers += alone
        total = affine.volume(extents, node.free)
        most = max(most, total)
        if own:
            results = [part for part in parts if is_result(part) and part not in fused]
            fresh = not [part for part in results if part.free == node.free]
            moved += sum(affine.volume(extents, part.free) for part in parts)
            moved += total * (own - 1 + fresh)
        views += sum(part.free != node.free or not _is_whole(part) for part in parts)
        ordered = [i for i in ordered if extents[i] > 1]
        if not ordered:
            continue
        length = _together(ordered, held, extents)
        if length < total or len({part.free for part in parts}) > 1:
            rows += total / max(1, length) * max(1, len(children(node)) - 1)
        jumping = [steps for steps in held if abs(steps.get(ordered[-1], 0)) > 1]
        jumps += total * len(jumping)
        misses += total * sum(lost_share(ordered, steps, extents) for steps in jumping)
    return Walks(calls, numbers, moved, most, rows, jumps, misses, views)


def is_result(node: Node) -> bool:
    return not isinstance(node, Access | Const)


def varying(body: Node) -> tuple[Node, ...]:
    """The operations of the body that depend on data, each after its operands.  All others are
    computed once for all calls."""
    found: dict[Node, bool] = {}
    pending = [(body, False)]
    while pending:
        node, ready = pending.pop()
        if ready:
            found[node] = any(found[part] for part in children(node))
        elif isinstance(node, Access):
            found[node] = node.source is not INDEX
        elif node not in found:
            pending.append((node, True))
            pending.extend((part, False) for part in reversed(children(node)))
    return tuple([node for node, varies in found.items() if varies and is_result(node)])


def calls_of(node: Node) -> tuple[int, int]:
    """The operations on whole arrays that compute the node from its operands, and how many of these
    have a number as an operand."""
    constants = sum(isinstance(part, Const) for part in children(node))
    if isinstance(node, Mul | Add):
        return len(children(node)) - 1, constants
    if isinstance(node, Select):
        return 1 + len(node.conditions), constants
    if isinstance(node, Power):
        return 2 if node.exponent < -1 else 1, abs(node.exponent) > 2
    if isinstance(node, Apply):
        if _picks(node):  # a comparison is its mask; of other values one is made
            makes = not _is_truth(node.args[0])
            return 1 + makes - (not makes), constants + makes
        return _calls_of(node.function), constants
    return 0, 0


def _scaled_terms(node: Add) -> list[Node]:
    """The terms that an addition multiplies by their factors, all but one at most."""
    found = [term for term in node.terms if _is_scaled(term) and term.free == node.free]
    return found[: len(node.terms) - 1]


def _is_scaled(term: Node) -> bool:
    if not isinstance(term, Mul) or len(term.factors) != 2:
        return False
    return any(isinstance(factor, Const) for factor in term.factors)


def _picks(node: Apply) -> bool:
    return FUNCTIONS[node.function].picks


def _is_truth(node: Node) -> bool:
    return isinstance(node, Apply) and FUNCTIONS[node.function].truth


@cache
def _calls_of(function: str) -> int:
    """Those of the spelling, and one that makes numbers of bools."""
    known = FUNCTIONS[function]
    text = known.torch_stage or known.torch
    return max(1, text.count("torch.") + text.count("F.")) + known.truth


def _is_whole(part: Node) -> bool:
    """Whether the operand is used as it is held."""
    if not isinstance(part, Access):
        return True
    alone = [row.lone for row in part.rows]
    return alone == [*bits(part.free)]


def _steps(part: Node, extents: Sequence[int]) -> Strides:
    """The steps through an operand; what no data decides lies in the order of its iterators."""
    if isinstance(part, Access) and part.source is not INDEX:
        return dense_strides(part.source, part.rows)
    loops = bits(part.free)
    return dict(zip(loops, _dense([extents[i] for i in loops]), strict=True))


def nested(loops: Sequence[int], operands: Collection[Strides]) -> list[int]:
    """The loops as an operation nests them: by falling steps of the operand that most of them step
    through."""
    most = max(operands, key=lambda steps: sum(1 for i in loops if steps.get(i)), default={})
    steps = [abs(most.get(i, 0)) or inf for i in loops]
    return [i for _, i in sorted(zip(steps, loops, strict=True), key=lambda pair: -pair[0])]


def _together(loops: Sequence[int], operands: Collection[Strides], extents: Sequence[int]) -> int:
    """The elements over which all operands step on together: the product of the last extents."""
    inner = loops[-1]
    length = extents[inner]
    for i in reversed(loops[:-1]):
        if any(steps.get(i, 0) != length * steps.get(inner, 0) for steps in operands):
            break
        length *= extents[i]
    return length


_UNITS: Mapping[tuple[bool, str], Unit] = {
    (True, ""): "reduction",
    (True, " of rows"): "reduction of rows",
    (True, " of pieces"): "reduction of pieces",
    (False, ""): "extreme",
    (False, " of rows"): "extreme of rows",
    (False, " of pieces"): "extreme of pieces",
}


@lru_cache(maxsize=1 << 14)
def held_strides(source: Source) -> tuple[int, ...]:
    """The step of each dimension through memory: of a dense array, or of that which the source, one
    affine read, is a view of.  Such a read outside of its source is a view of a padded copy."""
    views: list[Scope] = []
    while isinstance(source, Scope) and (read := _viewed(source)) is not None:
        views.append(source)
        source = read.source
    held = _dense(source.shape)
    for view in reversed(views):
        held = _of_view(view, held)
    return held


def _viewed(scope: Scope) -> Access | None:
    """The one affine read that the scope is."""
    if scope.sums or scope.empty or not isinstance(scope.body, Access):
        return None
    return None if any(row.floors for row in scope.body.rows) else scope.body


def _of_view(view: Scope, held: tuple[int, ...]) -> tuple[int, ...]:
    """The steps of a view of what is held so."""
    read = _viewed(view)
    assert read is not None
    if not affine.within(read.rows, read.source.ranges, view.domain):
        reached = [affine.bounds(row, view.domain) for row in read.rows]
        order = sorted(range(len(held)), key=lambda d: (-held[d], d))
        lengths = [reached[d][1] + 1 - reached[d][0] for d in order]
        behind = dict(zip(order, _dense(lengths), strict=True))
        held = tuple(behind[d] for d in range(len(held)))
    steps = _through(read.rows, held)
    found = tuple(steps.get(i, 0) for i in range(len(view.shape)))
    return found if min(found, default=0) >= 0 else _dense(view.shape)  # reversed: in a copy


def _dense(extents: Sequence[int]) -> tuple[int, ...]:
    """The steps of a dense array of these extents."""
    found, step = [], 1
    for extent in reversed(extents):
        found.append(step)
        step *= extent
    return tuple(reversed(found))


def _through(rows: Sequence[Row], held: Sequence[int]) -> dict[int, int]:
    steps: dict[int, int] = {}
    for row, stride in zip(rows, held, strict=True):
        for i, a in row.terms:
            steps[i] = steps.get(i, 0) + a * stride
    return steps


def merges(role: Sequence[int], steps: Strides, bounds: affine.Ranges) -> bool:
    """Whether the role's iterators are one dimension of a memory."""
    found: list[tuple[int, int]] = []
    for i in role:
        lo, hi = bounds[i]
        if hi - lo > 1:
            found.append((abs(steps.get(i, 0)), hi - lo))
    found.sort()
    return not [1 for inner, outer in pairwise(found) if outer[0] != inner[0] * inner[1]]


def dense_strides(source: Source, rows: Sequence[Row]) -> dict[int, int]:
    """Each iterator's step through the memory that holds the source."""
    return _through(rows, held_strides(source))


REDUCED_BLOCK: Final = 1 << 19
"""Elements of a temporary that is reduced at once on a CPU.  It stays in the cache, and the calls
are few.  Squared distances of 1024 x 1024 x 128 take 36 ms; with 2^18 elements 45 ms, with 2^20 or
more 170 ms."""
PADDED: Final = 0.4
PADDED_SIDE: Final = 0.3
"""The parts of a copy that is padded on two sides: the copy, and the fill of each side."""
SHORT_ROW: Final = 16
IN_ORDER: Final = 1 << 12
"""Elements from which on a reduction is computed in the order of its operand's memory, and its
result copied: below, it takes as long as another call."""
SHORT_BLOCK: Final = 64
"""Rows of fewer elements are pieces if fewer than these lie in one block with what is summed."""


def padded_copies(
    rows: Sequence[Row], allowed: Sequence[affine.Range], bounds: affine.Ranges
) -> float:
    """The cost of the copy that a padded or reversed read needs, in the units of `Work.pads`."""
    sides, turned = 0, False
    for row, (start, stop) in zip(rows, allowed, strict=True):
        low, high = affine.bounds(row, bounds)
        sides += (low < start) + (high >= stop)
        turned = turned or any(a < 0 for _, a in row.terms)
    return PADDED * (bool(sides) + turned) + PADDED_SIDE * sides


def reduction_unit(scope: Scope) -> Unit:
    """How a reduction goes through memory: along what each result is made of, over rows that are
    combined as a whole, or over pieces."""
    return _UNITS[scope.reducer == "sum", _way(scope, _layout(scope))]


def is_reordered(scope: Scope) -> bool:
    """Whether the reduction is computed in the order of memory, and its result is copied."""
    steps, first = _layout(scope), len(scope.loops)
    loops = [i for i, extent in enumerate(scope.extents) if extent > 1 and steps.get(i)]
    if prod(scope.extents) < IN_ORDER or not loops:
        return False
    kept = nested([i for i in loops if i < first], [steps])
    innermost = min(loops, key=lambda i: (abs(steps[i]), -i))
    return innermost < first and kept != sorted(kept)


def _layout(scope: Scope) -> Strides:
    """The steps through what is reduced: terms lie in the order of the operand that most loops step
    through."""
    if isinstance(scope.body, Access):
        return dense_strides(scope.body.source, scope.body.rows)
    loops = bits(scope.body.free)
    reads = [node for node in walk(scope.body) if isinstance(node, Access)]
    ordered = nested(loops, [dense_strides(read.source, read.rows) for read in reads])
    return dict(zip(ordered, _dense([scope.extents[i] for i in ordered]), strict=True))


def _way(scope: Scope, steps: Strides) -> str:
    """torch takes what is reduced as the innermost loops: as one loop where it is one dimension."""
    extents, first = scope.extents, len(scope.loops)
    loops = [i for i, extent in enumerate(extents) if extent > 1]
    kept = nested([i for i in loops if i < first], [steps])
    summed = nested([i for i in loops if i >= first], [steps])
    if not summed:
        return ""
    whole = prod(extents[i] for i in summed)
    if _together(summed, [steps], extents) < whole:
        return " of pieces"
    if abs(steps.get(summed[-1], 0)) <= 1:
        return ""
    order = kept if prod(extents) >= IN_ORDER else sorted(kept)
    out = dict(zip(order, _dense([extents[i] for i in order]), strict=True))
    if kept and abs(steps.get(kept[-1], 0)) == out[kept[-1]] == 1:
        row = _together(kept, [steps, out], extents)
        return " of rows" if row >= SHORT_ROW or row * whole >= SHORT_BLOCK else " of pieces"
    return " of pieces"
