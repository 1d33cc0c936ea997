"""A group of stages as one matrix product, with what comes before and after it.

    A'[m,k] = exp(A[m,k]);  C[m,n] = S[k] A'[m,k]*B[k,n];  Y[m,n] = relu(C[m,n] + b[n])

Stages without sums are computed where they are read: before the product in its tiles, after it on
the accumulated tile, which memory never sees.
"""

from __future__ import annotations

from functools import lru_cache

from einderive.eops.loops.group import Group
from einderive.eops.triton_kernels.contraction import contraction
from einderive.eops.triton_kernels.plan import Plan, plan
from einderive.eops.triton_kernels.rows import compute_type, types_of
from einderive.eops.triton_kernels.split import split
from einderive.ta.ir import affine
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.subst import accesses, rebuild, sources, substitute


def holds_product(group: Group) -> bool:
    """Whether a stage of the group is a product of large matrices."""
    return any(contraction(stage) is not None for stage in group.stages)


@lru_cache(maxsize=1024)
def product_plan(group: Group, dtypes: tuple[str, ...], *, open_beyond: int = 0) -> Plan | None:
    """The plan for dense operands of these types, in the order of `group.operands`.  None if the
    stages are no product with stages without sums, or if two kernels share its long sum."""
    if len(group.reductions) != 1 or len(group.outputs) != 1:
        return None
    (product,), (last,) = group.reductions, group.outputs
    if last is product or any(stage.empty for stage in group.stages):
        return None
    compute = compute_type(group, dtypes)
    inside = {stage for stage in group.stages if stage is not product}
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
    found = plan(
        stage,
        dtypes,
        types_of(group, dtypes)[last],
        read=group.operands,
        after=(after, product),
        open_beyond=open_beyond,
    )
    return found if found.compute == compute else None


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
