"""The plan of one kernel for a group of stages over the same rows.

    M[i] = max[j](X[i,j]);  D[i] = sum[j](exp(X[i,j]-M[i]));  Y[i,j] = exp(X[i,j]-M[i])/D[i]

A row is one place of the shared loops.  A program takes a block of rows, and one column of lanes
for each place of the own loops.  Where a row fits into the registers of a program, each element is
read once (`whole`); longer rows are walked through in chunks, once for each pass.  Pass k computes
what rests on k reductions done one after the other.

    M[j] = max[i](X[i,j]);  ...  Y[i,j] = exp(X[i,j]-M[j])/D[j]

Here a row is a column of X, and neighbouring rows lie side by side in memory.  A program takes as
many of them as fill a sector of memory or a line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Final

from einderive.eops import dtypes as types
from einderive.eops.dtypes import Kinds
from einderive.eops.loops.arrange import dense, levels
from einderive.eops.loops.drafts.bodies import Output, Reduction
from einderive.eops.loops.drafts.draft import drafted, merged
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import Typing
from einderive.eops.loops.drafts.ordered import ordered
from einderive.eops.loops.drafts.values import (
    HALF_OF,
    Load,
    Operation,
    Position,
    Value,
    Within,
    masks,
    rows_of,
)
from einderive.eops.precision import precision_of
from einderive.eops.triton_kernels.tuning.blocks import (
    LINE_BYTES,
    MOST_WARPS,
    UNITS,
    Config,
    power_of_two,
)
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.helper import Precision
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.node import Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import sources

LONGEST: Final = 16384
"""A row of this many places at most is held by the registers of one program."""
CHUNK: Final = 4096
"""Lanes at which a longer row is walked through."""
LANES: Final = 2048
"""Short rows are taken together, up to about this many lanes in a program."""
LANES_A_WARP: Final = 512
SECTOR_BYTES: Final = 32
LIMIT: Final = 2**31 - 2**20


@dataclass(frozen=True)
class RowPlan:
    """`sources` are what the kernel reads, of the types `dtypes`; it computes in `compute` and
    writes `out_dtypes`.  Iterators of `domain` before `shared` make up the row, the others the
    place in it.  `passes` says for each pass which reductions and which outputs it computes."""

    group: Group
    sources: tuple[Source, ...]
    dtypes: tuple[str, ...]
    compute: str
    out_dtypes: tuple[str, ...]
    domain: tuple[Range, ...]
    shared: int
    values: tuple[Value, ...]
    masks: tuple[int, ...]
    reductions: tuple[Reduction, ...]
    outputs: tuple[Output, ...]
    passes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    open_beyond: int = 0
    """Numbers beyond this may be sizes and are arguments of the kernel; 0: all are in the text."""

    @property
    def precision(self) -> Precision:
        """What functions are computed to."""
        kinds = frozenset((*self.dtypes, *self.out_dtypes))
        return precision_of(self.compute, kinds, self.group.stages)

    @property
    def rows(self) -> int:
        return prod(side.extent for side in self.domain[: self.shared])

    @property
    def length(self) -> int:
        """Places of a row."""
        return prod(side.extent for side in self.domain[self.shared :])

    @property
    def line(self) -> int:
        """Rows that lie side by side in a line of memory; 1 if elements of a row do."""
        return self._side_by_side(LINE_BYTES)

    @property
    def sector(self) -> int:
        """Those in the least part of a line that is read by itself."""
        return self._side_by_side(SECTOR_BYTES)

    def _side_by_side(self, size: int) -> int:
        long = [i for i, side in enumerate(self.domain) if side.extent > 1]
        last = max((i for i in long if i < self.shared), default=None)
        found = 1
        for read in self.values:
            if isinstance(read, Load) and last is not None and abs(read.step(last)) == 1:
                inner = {abs(read.step(i)) for i in long if i >= self.shared} - {0}
                if inner and 1 not in inner:
                    rows = size // types.BYTES[self.dtypes[read.operand]]
                    found = max(found, min(rows, power_of_two(self.domain[last].extent)))
        return found

    @property
    def whole(self) -> bool:
        """Whether the rows of a program are held in registers from their only read to the last
        output."""
        return self.length * self.sector <= LONGEST

    @property
    def outs(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Shapes and types of what is written."""
        shapes = (out.scope.shape for out in self.outputs)
        return tuple(zip(shapes, self.out_dtypes, strict=True))

    @cached_property
    def wide(self) -> bool:
        """Whether an index may leave 32 bits."""
        found = [row for value in self.values for row in rows_of(value)]
        found += [out.offset for out in self.outputs]
        sizes = [prod(side.extent for side in source.ranges) for source in self.sources]
        sizes += [prod(shape) for shape, _ in self.outs]
        reach = [affine.magnitude(row, self.domain) for row in found]
        steps = [
            abs(one.stride) * affine.magnitude(one.row, self.domain)
            for value in self.values
            if isinstance(value, Load)
            for one in value.checked
        ]
        return max((*sizes, *reach, *steps)) > LIMIT

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        """Blocks of rows and lanes, the best guess first."""
        most, least = power_of_two(self.rows), self.sector
        together = [max(least, LANES // self._along(least))]
        together += [2 * together[0], max(least, together[0] // 4)]
        if self.line > 1:  # parts of sectors, where whole ones leave most of a GPU idle
            few = self.rows < UNITS * least
            together += [self.line // 2, self.line, *([max(1, least // 4)] if few else [])]
        room = LONGEST if self.line == 1 else LONGEST // 2  # which lane is which takes registers
        fits = (rows for rows in together if rows == least or rows * self._along(rows) <= room)
        blocks = dict.fromkeys(min(rows, most) for rows in fits)
        busy = [rows for rows in blocks if self.rows >= UNITS * rows] or [min(blocks)]
        found = []
        for rows in dict.fromkeys((*busy, *blocks)):
            along = self._along(rows)
            block = (("BLOCK", rows), ("BLOCK_R", along))
            warps = min(MOST_WARPS, power_of_two(max(1, rows * along // LANES_A_WARP)))
            found.append(Config(block, warps))
            if self.whole and warps > 1 and rows * along <= warps * LANES_A_WARP:
                found.append(Config(block, warps // 2))
        return tuple(found)

    def _along(self, rows: int) -> int:
        """Places of each of so many rows that a program holds at once."""
        if self.whole:
            return power_of_two(self.length)
        return CHUNK // rows if self.line > 1 else CHUNK

    @property
    def worth(self) -> tuple[Config, ...]:
        """The configurations that are fast enough where one was fastest for another size."""
        return self.configs

    def grid(self, config: Config) -> int:
        """The number of programs."""
        return -(-self.rows // config.block("BLOCK"))


@lru_cache(maxsize=1024)
def row_plan(group: Group, dtypes: tuple[str, ...], *, open_beyond: int = 0) -> RowPlan | None:
    """The plan for dense operands of these types, in the order of `group.operands`; None where the
    stages have other loops than one row, or do not compute in one floating type."""
    empty = any(side.extent == 0 for source in group.operands for side in source.ranges)
    if empty or any(stage.empty for stage in group.stages):
        return None
    compute = compute_type(group, dtypes)
    if not compute:
        return None
    known = types_of(group, dtypes)
    kinds = tuple(Kinds(compute, known[stage]) for stage in group.stages)
    typing = Typing(tuple(dtypes), kinds, Kinds(compute, compute))
    found = drafted(group, dense(group), typing)
    if not found:
        return None
    draft = ordered(merged(found)) if open_beyond else merged(found)
    own = tuple(i for i in range(draft.shared, len(draft.domain)) if draft.domain[i].extent > 1)
    for end in draft.ends:
        along = tuple(i for i in end.own if draft.domain[i].extent > 1)
        if along != own and (along or isinstance(end, Reduction)):
            return None
    reducers = {one.reducer for one in draft.reductions}
    if not reducers or "prod" in reducers or not all(map(_has_triton, draft.values)):
        return None  # Triton has no product across lanes
    level = levels(draft.values, draft.reductions)
    last = max(level)
    return RowPlan(
        group,
        group.operands,
        dtypes,
        compute,
        tuple(known[out.scope] for out in draft.outputs),
        draft.domain,
        draft.shared,
        draft.values,
        masks(draft.values, draft.shared),
        draft.reductions,
        draft.outputs,
        tuple(
            (
                tuple(k for k, one in enumerate(draft.reductions) if level[one.value] == at),
                tuple(k for k, one in enumerate(draft.outputs) if level[one.value] == at),
            )
            for at in range(last + 1)
        ),
        open_beyond,
    )


def _has_triton(value: Value) -> bool:
    """Positions are integers, which would be compared as such: those have kernels of their own."""
    if not isinstance(value, Operation) or value.word in ("+", "*", "/"):
        return not isinstance(value, Position | Within)
    return value.word in (value.kind, *HALF_OF) or bool(FUNCTIONS[value.word].triton)


def types_of(group: Group, dtypes: Sequence[str]) -> dict[Source, str]:
    """The types of operands and of the group's stages."""
    found: dict[Source, str] = dict(zip(group.operands, dtypes, strict=True)) | {INDEX: "int64"}
    for stage in group.stages:
        found[stage] = types.result(stage, [found[source] for source in _read(stage)])
    return found


def compute_type(
    group: Group, dtypes: Sequence[str], others: Collection[Source] = ()
) -> str | None:
    """The floating type that all stages compute in; `others` are operands of any type."""
    given = zip(group.operands, dtypes, strict=True)
    if not all(dtype in types.FLOATS or source in others for source, dtype in given):
        return None
    known = types_of(group, dtypes)
    found = {types.accumulator(stage, [known[s] for s in _read(stage)]) for stage in group.stages}
    floating = all(known[stage] in types.FLOATS for stage in group.stages)
    return found.pop() if len(found) == 1 and floating else None


def _read(stage: Scope) -> tuple[Source, ...]:
    return sources(stage.body)
