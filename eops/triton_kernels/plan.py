"""From a stage to the plan of one kernel: accesses as offsets and guards, form, grid, blocks.

A stage is a scope whose sources are buffers: dense and contiguous, with the source's shape, so that
`source[x_0, ..., x_d]` stands at `sum_j stride_j * (x_j - lo_j)`.  The output is such a buffer too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from types import MappingProxyType
from typing import Literal, NamedTuple

from einderive.eops import dtypes as types
from einderive.eops.precision import precision_of
from einderive.eops.triton_kernels.contraction import ZERO, Contraction, by_stride, contraction
from einderive.eops.triton_kernels.gathers.reads import Picked, are_whole, picked_reads
from einderive.eops.triton_kernels.sizes.order import reads_in_order
from einderive.eops.triton_kernels.tuning.blocks import (
    LINE_BYTES,
    Config,
    dot_configs,
    flat_configs,
    loop_configs,
    tile_configs,
)
from einderive.ta.errors import BuildError
from einderive.ta.facts.integer_sets import row_bounds
from einderive.ta.functions.helper import Precision
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Node, Scope, Select, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, sources, walk

Form = Literal["loop", "tile", "flat", "dot"]
"""`loop`: a block of outputs a program, nested reduction loops.  `tile`: the same, but the outputs
are a tile of two loops.  `flat`: the reduction iterators flattened and vectorised too.  `dot`:
tiles of a matrix product."""

TILE_BLOCKS = ("BLOCK_Q", "BLOCK_P")
"""The sides of a tile."""
MAX_PROGRAMS = 2**31 - 1
LONG_REDUCTION = 32
NEAR = 1.5
"""Times the time that is predicted for the fastest tile of a product: little longer."""
LEAST_SIDE = 16
"""Of a loop that is a side of a tile."""
FEW_OUTPUTS = 1 << 17
"""Outputs that, one a lane, leave most of a large GPU idle while each is reduced.  Sums of the
columns of 8192 x 8192 on an H100: 3.2 ms as a loop."""


class Guard(NamedTuple):
    """`0 <= row < extent`, of which only the sides that bounds leave open are to be tested.
    `axis` is the source's."""

    row: Row
    extent: int
    test_low: bool
    test_high: bool
    axis: int


@dataclass(frozen=True, slots=True)
class Load:
    """One access: kernel argument `operand`, at `offset` elements, where all guards hold."""

    access: Access
    operand: int
    offset: Row
    guards: tuple[Guard, ...]

    @property
    def is_zero_outside(self) -> bool:
        """Whether every lane that reads no element has the value 0."""
        return self.access.fill == 0 or not self.guards


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything the emitter needs, and nothing about its text.

    `dtypes` are the sources' element types in argument order; the stage computes in `compute` and
    writes `out_dtype`.  `wide` asks for 64-bit indices.  `flat_order` is the order of reduction
    iterators in the flattened reduction, the contiguous one last.  `tile` are the loops of a tile,
    the one last along which the output runs.  `after` is what is written instead of a product: a
    scalar expression, and the source in it that stands for the product.  `picked` are the reads of
    gathers, which are computed where they are read.  `open_beyond`: numbers beyond this may be
    sizes and are arguments of the kernel, whose text has an order in which no size has a part; 0:
    all numbers are in the text.
    """

    scope: Scope
    after: tuple[Node, Scope] | None
    sources: tuple[Source, ...]
    dtypes: tuple[str, ...]
    compute: str
    out_dtype: str
    loads: Mapping[Access, Load]
    form: Form
    contraction: Contraction | None
    flat_order: tuple[int, ...]
    tile: tuple[int, ...]
    wide: bool
    configs: tuple[Config, ...]
    picked: Mapping[Access, Picked]
    open_beyond: int = 0

    @property
    def domain(self) -> tuple[Range, ...]:
        """The ranges of the scope's iterators, and of those that gathers fix."""
        return (*self.scope.domain, *(side for one in self.picked.values() for side in one.sides))

    @property
    def precision(self) -> Precision:
        """What functions are computed to."""
        kinds = frozenset((*self.dtypes, self.out_dtype))
        return precision_of(self.compute, kinds, (self.scope,), self.after)

    @property
    def half(self) -> str:
        """The type of 16 bits that both sides of a product have as they are read, else ""."""
        roles = self.contraction
        if roles is None:
            return ""
        kinds = {self._kind(side) for side in (roles.left, roles.right)}
        return kinds.pop() if len(kinds) == 1 else ""

    def _kind(self, side: Node) -> str:
        """The type of 16 bits that holds the values of a side of a product, if there is one."""
        if isinstance(side, Select) and side.otherwise == ZERO:
            return self._kind(side.then)
        load = self.load_of(side)
        dtype = self.dtypes[load.operand] if load is not None and load.is_zero_outside else ""
        return dtype if dtype in types.HALVES else ""

    def load_of(self, node: Node) -> Load | None:
        """The one load that gives the node's value, where it does not miss: of a read, also of a
        gather whose term is one read."""
        if not isinstance(node, Access) or node not in self.picked:
            return self.loads[node] if isinstance(node, Access) else None
        term, places, _ = self.picked[node]
        alone = isinstance(term, Access) and all(term.free >> place & 1 for place in places)
        return self.loads[term] if isinstance(term, Access) and alone else None

    @property
    def worth(self) -> tuple[Config, ...]:
        """The configurations that are fast enough where one of them was fastest for another size:
        `configs`, and those of a product that are predicted to take little longer."""
        return _configs(self, near=NEAR) if self.contraction is not None else self.configs

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Shapes and types of what is written."""
        return ((self.scope.shape, self.out_dtype),)

    @property
    def outputs(self) -> int:
        return prod(self.scope.shape)

    @property
    def reduction(self) -> int:
        return prod(r.extent for r in self.scope.sums)

    def extent(self, positions: Sequence[int]) -> int:
        """The number of values that the iterators at `positions` take together."""
        return prod(self.scope.domain[i].extent for i in positions)

    def grid(self, config: Config) -> int:
        """The number of programs; they all lie on grid axis 0, which takes up to 2^31-1."""
        if self.tile:
            found = self.outputs // self.extent(self.tile)
            for i, block in zip(self.tile, TILE_BLOCKS, strict=True):
                found *= -(-self.scope.domain[i].extent // config.block(block))
            return found
        if self.contraction is None:
            return -(-self.outputs // config.block("BLOCK"))
        roles = self.contraction
        tiles_m = -(-self.extent(roles.m) // config.block("BLOCK_M"))
        tiles_n = -(-self.extent(roles.n) // config.block("BLOCK_N"))
        return self.extent(roles.batch) * tiles_m * tiles_n


def plan(
    scope: Scope,
    dtypes: Sequence[str] | None = None,
    out_dtype: str | None = None,
    *,
    read: tuple[Source, ...] | None = None,
    after: tuple[Node, Scope] | None = None,
    gathers: Mapping[Scope, str] = MappingProxyType({}),
    open_beyond: int = 0,
) -> Plan:
    """The plan of the stage `scope`.

    `dtypes` name the element types of the distinct sources in the order of `operands`, or of
    `read`; without them a tensor has its own and a nested scope what it writes by default.
    `after`, `open_beyond`: see `Plan`.  `gathers`, of these types, are computed where a product, or
    what follows it, reads them; `read` then holds what they read.  Raises BuildError.
    """
    every = reads_in_order if open_beyond else accesses
    reads = every(scope.body)
    if after is not None:
        reads = (*reads, *(one for one in every(after[0]) if one.source is not after[1]))
    picked = picked_reads(reads, gathers, scope.domain)
    bodies = [scope.body, *(after or ())[:1]]
    bodies += [part for one in picked.values() for part in (one.term, *one.places.values())]
    reads = tuple(one for one in reads if one not in picked)
    reads += tuple(one for each in picked.values() for one in each.reads)
    read = operands(scope, open_beyond=open_beyond) if read is None else read
    given = tuple(map(default_dtype, read)) if dtypes is None else tuple(dtypes)
    if len(given) != len(read):
        raise BuildError(f"{len(given)} element types for {len(read)} sources")
    for dtype in given:
        types.check(dtype)
    known = dict[Source, str](zip((*gathers, *read), (*gathers.values(), *given), strict=True))
    own = [known[source] for source in sources(scope.body)]
    compute = types.accumulator(scope, own)
    domain = (*scope.domain, *(side for one in picked.values() for side in one.sides))
    if not are_whole(picked.values(), domain, known):
        raise BuildError("an index is no integer")
    empty = any(r.extent == 0 for r in domain)
    loads = {a: _load(a, read.index(a.source), domain, empty) for a in reads}
    roles = None if compute == "int64" or empty else contraction(scope)
    order = _flat_order(scope, loads)
    form: Form = "loop"
    tile: tuple[int, ...] = ()
    if roles is not None:
        form = "dot"
        roles = roles.ordered(load.offset for load in loads.values())
    elif _prefers_flat(scope, loads, order):
        form = "flat"
    else:
        tile = _tile(scope, tuple(loads.values()))
        form = "tile" if tile else "loop"
    made = Plan(
        scope=scope,
        after=after,
        sources=read,
        dtypes=given,
        compute=compute,
        out_dtype=types.check(out_dtype or types.result(scope, own)),
        loads=loads,
        form=form,
        contraction=roles,
        flat_order=order,
        tile=tile,
        wide=not empty and _needs_64_bits(scope, read, loads.values(), bodies, domain),
        configs=(),
        picked=picked,
        open_beyond=open_beyond,
    )
    made = replace(made, configs=_configs(made))
    if any(made.grid(config) > MAX_PROGRAMS for config in made.configs):
        raise BuildError(f"an output of {made.outputs} elements needs too many programs")
    return made


def operands(scope: Scope, *, open_beyond: int = 0) -> tuple[Source, ...]:
    """The distinct sources in order of appearance, or in one in which no size has a part."""
    if not open_beyond:
        return sources(scope.body)
    return tuple(dict.fromkeys([access.source for access in reads_in_order(scope.body)]))


def default_dtype(source: Source) -> str:
    """The type of a tensor's elements, and what a stage writes by default."""
    if isinstance(source, Tensor):
        return source.dtype
    return types.result(source, tuple(map(default_dtype, sources(source.body))))


def strides(ranges: Sequence[Range]) -> tuple[int, ...]:
    """Strides, in elements, of the dense row-major buffer over `ranges`."""
    return tuple(prod(r.extent for r in ranges[j + 1 :]) for j in range(len(ranges)))


def _load(access: Access, operand: int, domain: tuple[Range, ...], empty: bool) -> Load:
    offset = affine.ZERO
    guards: list[Guard] = []
    ranges = access.source.ranges
    sides = zip(access.rows, ranges, strides(ranges), strict=True)
    for axis, (row, bound, stride) in enumerate(sides):
        local = affine.shift(row, -bound.lo)
        offset = affine.add(offset, local, stride)
        low, high = (0, -1) if empty else affine.bounds(local, domain)
        if local.floors and (low < 0 or high >= bound.extent):
            low, high = row_bounds(local, domain)
        if low < 0 or high >= bound.extent:
            guards.append(Guard(local, bound.extent, low < 0, high >= bound.extent, axis))
    return Load(access, operand, offset, tuple(guards))


def _flat_order(scope: Scope, loads: Mapping[Access, Load]) -> tuple[int, ...]:
    """Reduction iterators by falling stride, so that the last one walks through memory."""
    first = len(scope.loops)
    sums = range(first, first + len(scope.sums))
    return by_stride(sums, (load.offset for load in loads.values()))


def _prefers_flat(scope: Scope, loads: Mapping[Access, Load], order: Sequence[int]) -> bool:
    """A long reduction is vectorised where outputs are few, or reads run along it and not along
    the last loop."""
    if scope.reducer == "prod" or prod(r.extent for r in scope.sums) < LONG_REDUCTION:
        return False
    if prod(scope.shape) < FEW_OUTPUTS:
        return True
    last = max((i for i, r in enumerate(scope.loops) if r.extent > 1), default=None)
    offsets = [load.offset for load in loads.values()]
    along_sum = any(offset.coefficient(order[-1]) == 1 for offset in offsets)
    strided = last is None or any(abs(offset.coefficient(last)) > 1 for offset in offsets)
    return along_sum and strided


def _tile(scope: Scope, loads: Sequence[Load]) -> tuple[int, ...]:
    """The loops q and p of a tile, or nothing: the output runs along p through its memory.

    Where some operand runs along q, a tile reads and writes both in whole lines of memory, and its
    lanes exchange what they read.  Where several reads meet the same elements at different q, as
    those of a stencil do, all but the first find them in the cache of the multiprocessor."""
    last = max((i for i, side in enumerate(scope.loops) if side.extent > 1), default=0)
    large = [i for i, side in enumerate(scope.loops) if side.extent >= LEAST_SIDE]
    if last not in large:
        return ()
    turned = [(i, last) for load in loads for i in large if _is_turned(load, i, last)]
    met = [(i, last) for i in large if i != last and _meet(loads, i)]
    return next(iter((*turned, *met)), ())


def _is_turned(load: Load, q: int, p: int) -> bool:
    """Whether the load runs along q through its memory, and not along p."""
    return abs(load.offset.coefficient(q)) == 1 and abs(load.offset.coefficient(p)) > 1


def _meet(loads: Sequence[Load], q: int) -> bool:
    """Whether two reads of a source differ by whole steps of q alone, and by one at least."""
    for one, other in combinations(loads, 2):
        step = one.offset.coefficient(q)
        if one.operand == other.operand and step:
            apart = affine.add(one.offset, other.offset, -1)
            if not affine.iterators(apart) and abs(apart.const) >= abs(step):
                return True
    return False


def _needs_64_bits(
    scope: Scope,
    read: Sequence[Source],
    loads: Iterable[Load],
    bodies: Sequence[Node],
    domain: Sequence[Range],
) -> bool:
    """Could an index, with a block's overhang, leave 32 bits?  Rows outside a source count too."""
    limit = 2**31 - 2**20
    sizes = [prod(r.extent for r in source.ranges) for source in read]
    if max((*sizes, prod(scope.shape), prod(r.extent for r in scope.sums))) > limit:
        return True
    rows = [row for load in loads for row in (load.offset, *(guard.row for guard in load.guards))]
    for node in (part for body in bodies for part in walk(body)):
        if isinstance(node, Select):
            rows += [condition.row for condition in node.conditions]
        elif isinstance(node, Access) and node.source is INDEX:
            rows += node.rows
    return any(affine.magnitude(row, domain) > limit for row in rows)


def _configs(plan: Plan, near: float = 0.0) -> tuple[Config, ...]:
    roles = plan.contraction
    if roles is not None:
        batch, m, n, k = map(plan.extent, (roles.batch, roles.m, roles.n, roles.k))
        return dot_configs(batch, m, n, k, types.BYTES[plan.half or plan.compute], near=near)
    if plan.form == "flat":
        return flat_configs(plan.outputs, plan.reduction, _line(plan))
    if plan.tile:
        q, p = plan.tile
        turned = any(_is_turned(load, q, p) for load in plan.loads.values())
        return tile_configs(plan.scope.domain[q].extent, plan.scope.domain[p].extent, turned)
    return loop_configs(plan.outputs, min((types.BYTES[d] for d in plan.dtypes), default=4))


def _line(plan: Plan) -> int:
    """The outputs for which a line of memory holds the terms, where some operand runs along the
    outputs and none along the flattened sum; else 1."""
    last = max((i for i, side in enumerate(plan.scope.loops) if side.extent > 1), default=None)
    loads = plan.loads.values()
    if last is None or any(load.offset.coefficient(plan.flat_order[-1]) == 1 for load in loads):
        return 1
    beside = [load for load in loads if abs(load.offset.coefficient(last)) == 1]
    widths = (types.BYTES[plan.dtypes[load.operand]] for load in beside)
    return max((LINE_BYTES // width for width in widths), default=1)
