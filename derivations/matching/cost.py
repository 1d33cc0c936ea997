"""The work of a stage that no library operator computes, and of views; the profiles that come with
the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from weakref import WeakKeyDictionary

from einderive.derivations.matching.machine import PAD
from einderive.derivations.matching.profile import shipped
from einderive.ta.exact.direct import direct
from einderive.ta.exact.one_term import one_term
from einderive.ta.facts.pairs import contraction_order
from einderive.ta.functions import FUNCTIONS
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row, bits
from einderive.ta.ir.expr import split_coefficient
from einderive.ta.ir.node import Access, Add, Apply, Mul, Power, Scope, Select
from einderive.ta.ir.operator import Unit, Work, utilisation
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, applied, children, sources, stages, walk
from einderive.ta.traffic.walks import (
    REDUCED_BLOCK,
    dense_strides,
    is_reordered,
    merges,
    padded_copies,
    reduction_unit,
    walks,
)
from einderive.ta.traffic.window_taps import BLOCK, tapped

MACHINES = shipped()
CPU, H100 = MACHINES["cpu"], MACHINES["cuda:90"]
"""The profiles of a CPU and of a GPU that come with the package."""

ELEMENTWISE, REDUCTION, MATMUL = "elementwise", "reduction", "matmul"
GATHER, SCATTER = "gather", "scatter"
"""The operators whose launches are those of the calls of torch that compute a stage."""

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
    reads = tapped(scope)
    if reads is not None:
        return _tapped(scope, reads, item)
    pads = copied = 0.0
    for read in accesses(body):
        padded = padded_copies(read.rows, read.source.ranges, scope.domain)
        pads += padded
        copied += 2.0 * read.source.size * (padded > 0)
    alone = isinstance(body, Access)
    if isinstance(body, Access) and not scope.sums and not gathered:
        return _copied(scope, body, pads, item)
    found = walks(body, extents)
    traffic = (found.moved + copied + 6 * gathered + output) * item
    count = max(1, found.calls + bool(scope.sums))
    if scope.sums:
        shape = (output, points // max(1, output))
        traffic += alone * touched * item
        work = Work(float(points), traffic, count, reduction_unit(scope), shape=shape)
        near = 3.0 * min(found.most, REDUCED_BLOCK) * item
        work = work._replace(like=REDUCTION, near=near, after=not alone)
        work = work._replace(bytes_copied=2.0 * output * item * is_reordered(scope))
    else:
        work = Work(max(found.moved, points) * 0.3, traffic, count, like=ELEMENTWISE)
        work = work._replace(near=3.0 * max(found.most, output) * item)
    return work._replace(
        functions=applied(body, extents),
        rows=found.rows,
        jumps=found.jumps,
        misses=found.misses,
        views=found.views + alone,
        numbers=found.numbers,
        pads=pads,
    )


def _copied(scope: Scope, read: Access, pads: float, item: int) -> Work:
    """One read that is no free view: a padded copy, or one in the order of the loops."""
    traffic = 2.0 * scope.size * item
    if any(row.floors for row in read.rows):
        return Work(0.0, 0.0, 1, bytes_copied=traffic, pads=pads, views=1, like=ELEMENTWISE)
    traffic = min(traffic, 2.0 * read.source.size * item)
    return Work(0.0, traffic, 1, pads=pads - 1, views=1, like=PAD)  # a launch has one


def _tapped(scope: Scope, reads: Sequence[Access], item: int) -> Work:
    """One pass over the outputs for each tap, in parts that stay in a cache."""
    taps = prod(bound.extent for bound in scope.sums)
    inner = max((i for i, extent in enumerate(scope.shape) if extent > 1), default=0)
    jumps = sum(abs(dense_strides(r.source, r.rows).get(inner, 0)) > 1 for r in reads)
    touched = sum(read.source.size for read in reads)
    points = float(taps * scope.size)
    return Work(
        points,
        (scope.size + touched + 2 * points) * item,
        taps + 2,
        rows=points / max(1, scope.extents[inner]),
        jumps=jumps * points,
        views=2 * taps,
        like=ELEMENTWISE,
        near=3.0 * min(scope.size, BLOCK) * item,
    )


def _pairwise(scope: Scope, item: int) -> Work | None:
    """The work of a sum of products whose factors are contracted pair by pair, by products of
    matrices where these are; None where the terms are formed and added.  The shape is that of the
    slowest product."""
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
    found = [walks(factor, extents) for factor in factors]
    count, views = (sum(each) for each in ([w.calls for w in found], [w.views for w in found]))
    count += len(factors) > 2
    moved, operations = sum(w.moved for w in found) + scope.size, 0.0
    shape: tuple[int, ...] = (1, 1, 1, 1)
    pads = copied = rows = jumps = misses = 0.0
    reads = {k: factor for k, factor in enumerate(factors) if isinstance(factor, Access)}
    for read in reads.values():
        padded = padded_copies(read.rows, read.source.ranges, scope.domain)
        pads += padded
        moved += 2.0 * read.source.size * (padded > 0)
    for left, right, kept in contraction_order(dims, loops, extents):
        a, b = dims[left], dims[right]
        count += 2  # the product, and the order of its result
        views += 1
        moved += size(a) + size(b) + size(kept)
        if (a & b) - kept and a != b:
            count += sum(bool(one - other - kept) for one, other in ((a, b), (b, a)))
            roles = (a & b & kept, a - b, b - a, (a & b) - kept)
            operations += 2.0 * size(a | b)
            shape = max(shape, tuple(map(size, roles)), key=_slowness)
            for own in (left, right):
                held = reads.get(own)
                if held is not None and not _lies(held, dims[own], roles, scope):
                    copied += 2.0 * size(dims[own])
        else:
            moved += 2.0 * size(a | b)
            if left in reads and right in reads:
                formed = walks(expr.mul(reads[left], reads[right]), extents)
                rows, jumps = rows + formed.rows, jumps + formed.jumps
                misses += formed.misses
        dims[left] = kept
        reads.pop(left, None)
    used = tuple(pair for factor in factors for pair in applied(factor, extents))
    unit: Unit = "matmul" if operations else "vector"
    share = utilisation(*shape[1:]) if operations else 1.0
    work = Work(operations, moved * item, count, unit, share, copied * item, shape)
    numbers = sum(w.numbers for w in found)
    work = work._replace(functions=used, views=views, numbers=numbers, pads=pads, like=MATMUL)
    return work._replace(rows=rows, jumps=jumps, misses=misses)


def _slowness(shape: tuple[int, ...]) -> float:
    """The products of matrices of this batch, rows, columns and sum, divided by their rate."""
    return prod(shape) / utilisation(*shape[1:])


def _lies(
    read: Access, dims: frozenset[int], roles: Sequence[frozenset[int]], scope: Scope
) -> bool:
    """Whether the read is a matrix as it lies: each role one dimension of its memory, and its rows
    or its columns without gaps."""
    steps = dense_strides(read.source, read.rows)
    long = [i for i in dims - roles[0] if scope.extents[i] > 1]
    if long and 1 not in {abs(steps.get(i, 0)) for i in long}:
        return False
    return all(merges([*role & dims], steps, scope.domain) for role in roles)


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
    count = 1 + walks(body, tuple(extents)).calls
    like = GATHER if one_term(scope) is not None else SCATTER
    passes = 2.0 * count + 1.0
    reads = {read for part in (body, *fixed.values()) for read in accesses(part)}
    touched = sum(min(affine.volume(extents, read.free), read.source.size) for read in reads)
    traffic = (points * passes + scope.size + touched) * item
    return Work(points * count * 0.5, traffic, count, access="gathered", like=like)


def is_free_view(scope: Scope) -> bool:
    """Whether the scope is one read at affine rows that never leaves its source."""
    if not stays_inside(scope):
        return False
    assert isinstance(scope.body, Access)
    return not [row for row in scope.body.rows if row.floors]


def is_turned(view: Scope) -> bool:
    """Whether the view runs backwards through its source: it is a copy then."""
    assert isinstance(view.body, Access)
    return min(dense_strides(view.body.source, view.body.rows).values(), default=0) < 0


def reads_no_data(scope: Scope) -> bool:
    """Whether the scope is the same for all inputs."""
    found = _WITHOUT_DATA.get(scope)
    if found is None:
        for stage in stages(scope):  # producers first
            if stage not in _WITHOUT_DATA:
                _WITHOUT_DATA[stage] = all(
                    _WITHOUT_DATA[source] if isinstance(source, Scope) else source is INDEX
                    for source in sources(stage.body)
                )
        found = _WITHOUT_DATA[scope]
    return found


_WITHOUT_DATA: WeakKeyDictionary[Scope, bool] = WeakKeyDictionary()


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


def _operations(node: object) -> int:
    if isinstance(node, Power):
        return max(1, abs(node.exponent) - 1)
    if isinstance(node, Apply):
        return FUNCTIONS[node.function].work
    if isinstance(node, Select):
        return 1 + len(node.conditions)
    return len(children(node)) - 1 if isinstance(node, Mul | Add) else 0
