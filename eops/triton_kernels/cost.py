"""The cost of a kernel: bytes, operations and predicted seconds, of its plan in a configuration.

    Y[i,j] = 2*A[i,j]                   reads A once, writes Y once, one operation an element
    Y[i,j] = sum[k](A[i,k]*B[k,j])      2*m*n*k operations of products; A and B are asked for once
                                        for each tile of their rows and columns

Operations are counted as the source has them: a value is computed once for each place of the
iterators that it depends on, within the loops in which it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from einderive.eops import dtypes as types
from einderive.eops.loops.drafts.values import Choice, Load, Operation, Value, needed_for
from einderive.eops.triton_kernels.plan import Plan
from einderive.eops.triton_kernels.rows import RowPlan
from einderive.eops.triton_kernels.tuning.blocks import Config
from einderive.eops.triton_kernels.tuning.device import (
    BYTES_OF_A_REGISTER,
    H100,
    Demand,
    Device,
    Occupancy,
    parts,
)
from einderive.eops.triton_kernels.tuning.operations import DIVISION, operations_of
from einderive.eops.triton_kernels.tuning.traffic import (
    Axis,
    Fetch,
    Tiling,
    by_operand,
    bytes_asked,
    bytes_moved,
    reached,
)
from einderive.ta.functions.helper import Precision
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Add, Apply, Mul, Node, Power, Select
from einderive.ta.ir.subst import walk
from einderive.ta.traffic.reached import Index

Planned: TypeAlias = Plan | RowPlan

UNROLLED = 16
"""A reduction of so many terms is no loop: its loads are waited for together."""
OWN_REGISTERS = 24
"""Of a thread, for indices."""
CLEARLY = 0.75
"""The share of another time that is clearly less: predictions are that good
(docs/measurements/gpu.md)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a kernel takes in one configuration.

    - `read`, `written`: bytes of the operands' elements that are read, each counted once, and of
      the results.
    - `moved`: bytes that come from memory or go there, `asked`: those that programs ask for.
    - `operations` outside products of tiles, and those of `products`.
    - `parts`: the seconds of memory, cache, arithmetic and waits, of which the most count."""

    read: int
    written: int
    moved: float
    asked: float
    operations: float
    products: float
    programs: int
    parts: tuple[tuple[str, float], ...]
    launch: float

    @property
    def seconds(self) -> float:
        return self.launch + max((seconds for _, seconds in self.parts), default=0.0)

    @property
    def bound(self) -> str:
        """What takes the time."""
        longest, seconds = max(self.parts, key=lambda part: part[1], default=("launch", 0.0))
        return longest if seconds > self.launch else "launch"


def cost(plan: Planned, config: Config, device: Device = H100) -> Cost:
    """The cost of one call."""
    tiling = _tiling(plan, config)
    fetches = tuple(_fetches(plan))
    where = Occupancy(plan.grid(config), config.num_warps, _registers(plan, config, len(fetches)))
    at_once = where.slots(device) * device.units
    read, moved, asked = 0, 0.0, 0.0
    for same in by_operand(fetches).values():
        read += reached(same, tiling.domain) * same[0].item
        moved += bytes_moved(same, tiling, at_once, device.cache)
        asked += bytes_asked(same, tiling)
    written = sum(prod(shape) * types.BYTES[dtype] for shape, dtype in plan.outs)
    counted = operations(plan, config)
    demand = Demand(
        moved + written,
        asked + written,
        counted,
        plan.compute,
        _padded(plan, config),
        "" if isinstance(plan, RowPlan) else plan.half or plan.compute,
        _steps(plan, config),
    )
    return Cost(
        read,
        written,
        demand.moved,
        demand.asked,
        counted,
        products(plan),
        where.programs,
        tuple(parts(demand, where, device).items()) if where.programs else (),
        device.launch,
    )


def by_prediction(plan: Plan, device: Device = H100) -> Plan:
    """The plan with the configuration first that is predicted to be the fastest, if it clearly is
    faster than the first one.  Tiles of products stay in the order of `dot_configs`: how much of
    the rate small tiles reach is not predicted here."""
    if plan.contraction is not None or len(plan.configs) < 2:
        return plan
    seconds = {config: cost(plan, config, device).seconds for config in plan.configs}
    best = min(plan.configs, key=seconds.__getitem__)
    if seconds[best] > CLEARLY * seconds[plan.configs[0]]:
        return plan
    return replace(plan, configs=tuple(dict.fromkeys((best, *plan.configs))))


def products(plan: Planned) -> float:
    """The operations of products of tiles: a multiplication and an addition for each term."""
    if isinstance(plan, RowPlan) or plan.contraction is None:
        return 0.0
    return 2.0 * plan.outputs * plan.reduction


def operations(plan: Planned, config: Config) -> float:
    """The operations outside products of tiles, on lanes within the ranges."""
    if isinstance(plan, RowPlan):
        return _operations_of_rows(plan, config)
    scope, first = plan.scope, len(plan.scope.loops)
    if not plan.outputs or not plan.reduction:
        return 0.0
    tiling, precision = _tiling(plan, config), plan.precision
    sums = [side.extent for side in scope.sums]

    def points(free: int) -> int:
        inside = (free >> first).bit_length()
        walked = prod(sums[:inside] if plan.form in ("loop", "tile") else sums) if inside else 1
        return tiling.points(free, walked)

    bodies = [scope.body]
    roles = plan.contraction
    if roles is not None:
        bodies = [roles.left, roles.right]
    every = dict.fromkeys(node for body in bodies for node in walk(body))
    found = sum(_operations(node, precision) * points(node.free) for node in every)
    if roles is not None:
        found += plan.outputs * (roles.coefficient != 1)
    elif sums:
        found += plan.outputs * plan.reduction
    if plan.after is not None:
        written = dict.fromkeys(walk(plan.after[0]))
        found += sum(_operations(node, precision) * tiling.points(node.free, 1) for node in written)
    return found


def _operations(node: Node, precision: Precision) -> float:
    """The operations of a node whose operands are known."""
    match node:
        case Add():
            return len(node.terms) - 1.0
        case Mul():
            divisors = [one for one in node.factors if isinstance(one, Power) and one.exponent < 0]
            above = max(1, len(node.factors) - len(divisors))
            return above - 1.0 + max(0, len(divisors) - 1) + DIVISION * bool(divisors)
        case Power():
            size = abs(node.exponent)
            raised = size - 1 if size <= 3 else size.bit_length() + size.bit_count() - 2
            return float(raised)
        case Select():
            return len(node.conditions) + 1.0
        case Apply():
            return operations_of(node.function, precision)
    return 0.0


def _operations_of_rows(plan: RowPlan, config: Config) -> float:
    tiling, precision = _tiling(plan, config), plan.precision
    found = 0.0
    for place, times in _times(plan).items():
        mask = plan.masks[place]
        walked = plan.length if mask >> plan.shared else 1
        found += times * _operations_of(plan.values[place], precision) * tiling.points(mask, walked)
    return found + plan.rows * plan.length * len(plan.reductions)


def _operations_of(value: Value, precision: Precision) -> float:
    match value:
        case Operation("+" | "*", args):
            return len(args) - 1.0
        case Operation("/"):
            return DIVISION
        case Operation(word, _, kind):
            return 0.0 if word == kind else operations_of(word, precision)
        case Choice(conditions):
            return len(conditions) + 1.0
    return 0.0


def _times(plan: RowPlan) -> dict[int, int]:
    """How often each value is computed at its places: in each pass that needs it, unless it is
    known by then."""
    found, known = dict[int, int](), set[int]()
    for reductions, outputs in plan.passes:
        ends = [plan.reductions[k].value for k in reductions]
        ends += [plan.outputs[k].value for k in outputs]
        needed = {*needed_for(plan.values, ends, known)} - known
        found |= {place: found.get(place, 0) + 1 for place in needed}
        known |= {p for p in needed if plan.whole or not plan.masks[p] >> plan.shared}
    return found


def _padded(plan: Planned, config: Config) -> float:
    """The operations of products, the parts of tiles beyond the ends included."""
    if isinstance(plan, RowPlan) or plan.contraction is None:
        return 0.0
    blocks = [config.block(name) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")]
    whole = -(-plan.extent(plan.contraction.k) // blocks[2]) * blocks[2]
    return 2.0 * plan.grid(config) * blocks[0] * blocks[1] * whole


def _tiling(plan: Planned, config: Config) -> Tiling:
    if isinstance(plan, RowPlan):
        shared, own = range(plan.shared), range(plan.shared, len(plan.domain))
        lanes = Axis(tuple(own), config.block("BLOCK_R"))
        return Tiling(plan.domain, (Axis(tuple(shared), config.block("BLOCK")),), lanes)
    domain, loops = plan.scope.domain, range(len(plan.scope.loops))
    if not all(side.extent for side in domain):
        domain = tuple(Range(side.lo, side.lo + max(1, side.extent)) for side in domain)
    roles = plan.contraction
    if roles is not None:
        named = ((roles.batch, 1), (roles.m, "BLOCK_M"), (roles.n, "BLOCK_N"))
        axes = [Axis(who, config.block(b) if isinstance(b, str) else b) for who, b in named]
        return Tiling(domain, tuple(axes), Axis(roles.k, config.block("BLOCK_K")))
    if plan.tile:
        q, p = plan.tile
        rest = tuple(i for i in loops if i not in plan.tile)
        sides = (Axis((q,), config.block("BLOCK_Q")), Axis((p,), config.block("BLOCK_P")))
        return Tiling(domain, (Axis(rest, 1), *sides))
    flat = Axis(plan.flat_order, config.block("BLOCK_R")) if plan.form == "flat" else None
    return Tiling(domain, (Axis(tuple(loops), config.block("BLOCK")),), flat)


def _fetches(plan: Planned) -> Iterator[Fetch]:
    """The loads of the kernel, the same one once."""
    if isinstance(plan, RowPlan):
        for place, times in _times(plan).items():
            load = plan.values[place]
            if isinstance(load, Load):
                row, read = load.offset, [Index(load.offset)]
                for one in load.checked:
                    row = affine.add(row, one.row, one.stride)
                    read.append(Index(one.row, Range(0, one.extent)))
                source = plan.sources[load.operand]
                item = types.BYTES[plan.dtypes[load.operand]]
                yield Fetch(load.operand, source.size, item, tuple(read), row, times)
        return
    if not plan.outputs or not plan.reduction:
        return
    picked, count = _picked_rows(plan), len(plan.scope.domain)
    rows = {**dict(enumerate(affine.iterator_rows(count))), **picked}
    for access, found in plan.loads.items():
        source = access.source
        indices = zip(access.rows, source.ranges, strict=True)
        reads = tuple(
            Index(
                affine.substitute(row, rows), None if affine.iterators(row) & {*picked} else bound
            )
            for row, bound in indices
        )
        item = types.BYTES[plan.dtypes[found.operand]]
        offset = affine.substitute(found.offset, rows)
        yield Fetch(found.operand, source.size, item, reads, offset)


def _picked_rows(plan: Plan) -> dict[int, Row]:
    """For each index that is read from memory, a row that stands for it: it has as many values as
    places at which it is read, so that each counts as another one."""
    found: dict[int, Row] = {}
    for one in plan.picked.values():
        for position, place in one.places.items():
            row, steps = affine.ZERO, 1
            for i in affine.bits(place.free):
                row = affine.add(row, affine.iterator(i), steps)
                steps *= plan.scope.extents[i]
            found[position] = row
    return found


def _registers(plan: Planned, config: Config, loads: int) -> int:
    """The registers of a thread, about: one for each number that it holds."""
    threads, words = 32 * config.num_warps, types.BYTES[plan.compute] / BYTES_OF_A_REGISTER
    lanes = prod(size for _, size in config.blocks)
    held = lanes * (loads + 1) * words
    if isinstance(plan, Plan) and plan.contraction is not None:
        m, n, k = (config.block(name) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        sides = types.BYTES[plan.half or plan.compute] / BYTES_OF_A_REGISTER
        held = m * n * words + (m + n) * k * sides
    return round(OWN_REGISTERS + held / threads)


def _steps(plan: Planned, config: Config) -> float:
    """The loads that a program waits for, one after the other."""
    if isinstance(plan, RowPlan):
        return 1.0 if plan.whole else len(plan.passes) * -(-plan.length // config.block("BLOCK_R"))
    roles = plan.contraction
    if roles is not None:  # the next tiles are on their way meanwhile
        return -(-plan.extent(roles.k) // config.block("BLOCK_K")) / max(1, config.num_stages - 1)
    if plan.form == "flat":
        return -(-plan.reduction // config.block("BLOCK_R"))
    return 1.0 if plan.reduction <= UNROLLED else float(plan.reduction)
