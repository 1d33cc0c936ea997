"""A group of stages as one matrix product, with what comes before and after it.

    A'[m,k] = exp(A[m,k]);  C[m,n] = S[k] A'[m,k]*B[k,n];  Y[m,n] = relu(C[m,n] + b[n])

Stages without sums are computed where they are read: before the product in its tiles, after it on
the accumulated tile, which memory never sees.  So are gathers:

    G[m,k] = E[I[m],k];  C[m,n] = S[k] G[m,k]*B[k,n]       a program reads I[m] once, and rows of E
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from einderive.eops.dtypes import values
from einderive.eops.loops.drafts.group import Group
from einderive.eops.triton_kernels.contraction import contraction
from einderive.eops.triton_kernels.gathers.reads import is_gather
from einderive.eops.triton_kernels.gathers.traffic import Reading, is_less_within
from einderive.eops.triton_kernels.plan import Plan, default_dtype, plan
from einderive.eops.triton_kernels.rows import compute_type, types_of
from einderive.eops.triton_kernels.split import TILE, split
from einderive.ta.errors import BuildError
from einderive.ta.ir import affine
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Source
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, rebuild, sources, substitute

Reads: TypeAlias = Mapping[Scope, Collection[Scope]]


def holds_product(group: Group) -> bool:
    """Whether a stage of the group is a product of large matrices."""
    return any(contraction(stage) is not None for stage in group.stages)


@lru_cache(maxsize=1024)
def product_plan(group: Group, dtypes: tuple[str, ...], *, open_beyond: int = 0) -> Plan | None:
    """The plan for dense operands of these types, in the order of `group.operands`.  None if the
    stages are no product with gathers and stages without sums, or if two kernels share its long
    sum."""
    if len(group.reductions) != 1 or len(group.outputs) != 1:
        return None
    (product,), (last,) = group.reductions, group.outputs
    gathers = {stage for stage in group.stages if is_gather(stage)}
    if any(stage.empty for stage in group.stages) or (last is product and not gathers):
        return None
    if any({*sources(gather.body)} & {*group.stages} for gather in gathers):
        return None
    types = types_of(group, dtypes)
    compute = compute_type(group, dtypes, _beside_values(group) if gathers else ())
    inside = {stage for stage in group.stages if stage is not product and stage not in gathers}
    first, after = _inlined(product, inside), _inlined(last, inside)
    if compute is None or first is None or after is None or last.loops != product.loops:
        return None
    reads = [one for one in accesses(after) if one.source is product]
    in_place = all(one.rows == affine.iterator_rows(len(last.loops)) for one in reads)
    stage = make_scope(product.loops, product.sums, first, product.reducer)
    if not in_place or INDEX in {*sources(first), *sources(after)}:
        return None
    if contraction(stage) is None or split(stage) is not None:
        return None
    if not _are_gathered((*accesses(stage.body), *accesses(after)), gathers, stage):
        return None
    try:
        found = plan(
            stage,
            dtypes,
            types[last],
            read=group.operands,
            after=None if last is product else (after, product),
            gathers={gather: types[gather] for gather in gathers},
            open_beyond=open_beyond,
        )
    except BuildError:
        return None
    return found if found.compute == compute else None


def with_gathers(groups: Iterable[Group], program: Reads, gathers: Iterable[Scope]) -> list[Group]:
    """The groups, in which products compute those gathers that they alone read, where fewer bytes
    are moved so.  `program` says what each stage reads; the last gathers come first."""
    found = [*groups]
    for gather in reversed([*gathers]):
        readers = {stage for stage, read in program.items() if gather in read}
        takers = [group for group in found if readers & {*group.stages}]
        wider = [Group((gather, *group.stages), group.outputs) for group in takers]
        taken = {stage for group in takers for stage in group.stages}
        readings = [_readings(group, gather) for group in wider]
        every = [one for each in readings for one in each]
        if takers and readers <= taken and all(readings) and is_less_within(gather, every):
            found = [*(group for group in found if group not in takers), *wider]
    return found


def _readings(group: Group, gather: Scope) -> list[Reading]:
    """How the product, and what follows it, read the gather; nothing if there is no one kernel."""
    made = product_plan(group, tuple(map(default_dtype, group.operands)))
    if made is None or made.contraction is None:
        return []
    roles = made.contraction
    batch, m, n, k = map(made.extent, (roles.batch, roles.m, roles.n, roles.k))
    parts = [
        (roles.left, Reading(batch * m * k, -(-n // TILE))),
        (roles.right, Reading(batch * n * k, -(-m // TILE))),
    ]
    if made.after is not None:
        parts.append((made.after[0], Reading(batch * m * n, 1)))
    return [one for part, one in parts for read in accesses(part) if read.source is gather]


def _beside_values(group: Group) -> set[Source]:
    """The operands whose elements become no value: they are places in gathers, or compared."""
    read = (part for stage in group.stages for part in values(stage.body))
    return {*group.operands} - {part.source for part in read if isinstance(part, Access)}


def _are_gathered(reads: Iterable[Access], gathers: Collection[Scope], stage: Scope) -> bool:
    """Whether no read of a gather misses."""
    return all(
        affine.within(one.rows, one.source.ranges, stage.domain)
        for one in reads
        if one.source in gathers
    )


def _inlined(stage: Scope, inside: set[Scope]) -> Node | None:
    """The stage's body, where reads of the stages inside are what these compute.  None if such a
    read may miss."""
    body = stage.body
    while True:
        reads = [one for one in accesses(body) if one.source in inside]
        if not reads:
            return body
        if not all(affine.within(one.rows, one.source.ranges, stage.domain) for one in reads):
            return None
        body = rebuild(body, lambda access: _computed(access, inside))


def _computed(access: Access, inside: set[Scope]) -> Node:
    source = access.source
    if isinstance(source, Scope) and source in inside:
        return substitute(source.body, access.rows)
    return access
