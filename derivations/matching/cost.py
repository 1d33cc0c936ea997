"""The work of a stage that no library operator computes, and of views; the profiles that come with
the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod

from einderive.derivations.matching.profile import shipped
from einderive.ta.exact.direct import direct
from einderive.ta.facts.memory_walks import adds_rows, broadcast_rows
from einderive.ta.facts.pairs import contraction_order
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row, bits
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Mul, Node, Power, Scope, Select
from einderive.ta.ir.operator import Unit, Work, utilisation
from einderive.ta.ir.subst import accesses, applied, children, walk

MACHINES = shipped()
CPU, H100 = MACHINES["cpu"], MACHINES["cuda:90"]
"""The profiles of a CPU and of a GPU that come with the package."""

UNTILED = 0.1
"""The share of the vector rate that a generated kernel reaches on a product under a sum: it reuses
operands through the caches only.  An estimate; on an H100 0.18 to 0.25 were measured
(docs/measurements/gpu.md)."""


def eoperator_work(scope: Scope, item: int, fused: bool) -> Work:
    """The work of a stage that no library operator does."""
    fewer = _direct(scope, item)
    if fewer is not None:
        return fewer
    body, extents, output = scope.body, scope.extents, scope.size
    points = prod(extents)
    touched = gathered = 0
    for read in accesses(body):
        count = affine.volume(extents, read.free)
        touched += min(count, read.source.size)
        if [row for row in read.rows if row.floors and _gathers(row)]:
            gathered += count
    if fused:
        operations = max(1, sum(map(_operations, walk(body))) + bool(scope.sums))
        moved = (touched + output) * item
        if scope.sums and isinstance(body, Mul):
            return Work(points * operations, moved, utilisation=UNTILED)
        return Work(points * operations, moved)
    product = _pairwise(scope, item)
    if product is not None:
        return product
    own, values = _evaluated(body, extents)
    passes = 2.0 * values + points
    if scope.sums and isinstance(body, Access):
        passes = 1.5 * points  # one read of every point, accumulated in cache
    traffic = (passes + output + touched + 6 * gathered) * item
    calls = max(1, own + bool(scope.sums))
    used, rows = applied(body, extents), broadcast_rows(body, extents)
    if scope.sums:
        shape = (output, points // max(1, output))
        unit: Unit = "reduction"
        if isinstance(body, Access) and adds_rows(scope, body):
            unit = "reduction of rows"
        return Work(float(points), traffic, calls + 2, unit, shape=shape, functions=used, rows=rows)
    return Work(max(values, points) * 0.5, traffic, calls + 2, functions=used, rows=rows)


def _evaluated(body: Node, extents: Sequence[int]) -> tuple[int, int]:
    """The operations of torch that compute the body, and the elements of all their results: each
    is computed over the iterators that occur in it, and then repeated."""
    calls = values = 0
    for node in walk(body):
        own = _calls(node)
        calls += own
        values += own * affine.volume(extents, node.free)
    return calls, values


def _pairwise(scope: Scope, item: int) -> Work | None:
    """The work of a sum of products whose factors are contracted pair by pair, by products of
    matrices where these are; None where the terms are formed and added.  The shape is that of the
    largest product."""
    _, core = split_coefficient(scope.body)
    if not scope.sums or scope.reducer != "sum" or not isinstance(core, Mul):
        return None
    extents, factors = scope.extents, core.factors
    if any(len(row.terms) > 1 or row.floors for read in accesses(core) for row in read.rows):
        return None
    dims = [frozenset(bits(factor.free)) for factor in factors]
    largest = max(affine.volume(extents, factor.free) for factor in factors)
    if largest == prod(extents) or (len(factors) == 2 and dims[0] == dims[1]):
        return None

    def size(iterators: Iterable[int]) -> int:
        return prod(extents[i] for i in iterators)

    loops = frozenset(range(len(scope.loops)))
    calls, values = map(sum, zip(*(_evaluated(f, extents) for f in factors), strict=True))
    moved, operations = 2.0 * values + scope.size, 0.0
    shape: tuple[int, ...] = (1, 1, 1, 1)
    for left, right, kept in contraction_order(dims, loops, extents):
        a, b = dims[left], dims[right]
        calls += 2
        moved += size(a) + size(b) + size(kept)
        if (a & b) - kept and a != b:
            roles = (a & b & kept, a - b, b - a, (a & b) - kept)
            operations += 2.0 * size(a | b)
            shape = max(shape, tuple(map(size, roles)), key=prod)
        else:
            moved += 2.0 * size(a | b)
        dims[left] = kept
    used = tuple(pair for factor in factors for pair in applied(factor, extents))
    unit: Unit = "matmul" if operations else "vector"
    share = utilisation(*shape[1:]) if operations else 1.0
    return Work(operations, moved * item, calls + 1, unit, share, shape=shape, functions=used)


def _gathers(row: Row) -> bool:
    """Whether a read at the row is no view on the digits of its iterators."""
    return any(inner.lone is None for inner, _, _ in row.floors)


def _direct(scope: Scope, item: int) -> Work | None:
    """The work of a gather or a scatter, of which torch's operations visit no other terms; None for
    any other stage."""
    found = direct(scope)
    if found is None:
        return None
    fixed, body = found
    extents = [1 if i in fixed else extent for i, extent in enumerate(scope.extents)]
    points = prod(extents)
    calls = len(fixed) + sum(map(_calls, walk(body))) + bool(scope.sums)
    passes = 2.0 * calls + 1.0
    reads = {read for part in (body, *fixed.values()) for read in accesses(part)}
    touched = sum(min(affine.volume(extents, read.free), read.source.size) for read in reads)
    traffic = (points * passes + scope.size + touched) * item
    return Work(points * calls * 0.5, traffic, calls=calls + 3, access="gathered")


def is_free_view(scope: Scope) -> bool:
    """Whether the scope is one read at affine rows that never leaves its source."""
    if not stays_inside(scope):
        return False
    assert isinstance(scope.body, Access)
    return not [row for row in scope.body.rows if row.floors]


def is_free_regrouping(scope: Scope, order: Sequence[int]) -> bool:
    """Whether the scope, one read that never leaves its source, walks with a fixed stride for each
    loop through the source's memory, where the dimensions lie in the given order, slowest first.

    Rows with `//` and `%` do so where they are the digits of one position: [h//4, h%4] of a source
    of the shape [8, 4] reads element 4*(h//4) + h%4 = h."""
    assert isinstance(scope.body, Access)
    rows, shape = scope.body.rows, scope.body.source.shape
    position, stride = affine.ZERO, 1
    for dimension in reversed(order):
        position = affine.add(position, rows[dimension], stride)
        stride *= shape[dimension]
    whole = stride == scope.body.source.size
    return whole and not affine.simplify(position, scope.loops).floors


@lru_cache(maxsize=16384)
def stays_inside(scope: Scope) -> bool:
    """Whether the scope is one read that never leaves its source."""
    body = scope.body
    if scope.sums or not isinstance(body, Access):
        return False
    return affine.within(body.rows, body.source.ranges, scope.loops)


def _calls(node: object) -> int:
    """The operations of torch that compute the node from its operands."""
    if isinstance(node, Mul | Add):
        return len(children(node)) - 1
    if isinstance(node, Select):
        return 1 + len(node.conditions)
    return int(isinstance(node, Apply | Power))


def _operations(node: object) -> int:
    if isinstance(node, Power):
        return max(1, abs(node.exponent) - 1)
    return FUNCTIONS[node.function].work if isinstance(node, Apply) else _calls(node)


def overlap_bytes(view: Scope, item: int) -> float:
    """The bytes of the copy that readers of a view need if it shows elements several times (as
    im2col does): they count on a source that is stored densely."""
    assert isinstance(view.body, Access)
    return 2.0 * view.size * item if view.size > view.body.source.size else 0.0
