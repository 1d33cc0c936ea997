"""The loop forms of a kernel: a block of outputs per program, reductions nested or flattened.

loop   acc[lane] = reduce over s0: reduce over s1: ...           shape [BLOCK]
tile   acc[q, p] = reduce over s0: reduce over s1: ...           shape [BLOCK_Q, BLOCK_P]
flat   acc[lane, r] = reduce over chunks of the flattened sum    shape [BLOCK, BLOCK_R], then r
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from einderive.eops.triton_kernels.emit_access import (
    TRITON_DTYPE,
    Frame,
    Lanes,
    across_lanes,
    axis,
    identity,
    row_text,
)
from einderive.eops.triton_kernels.emit_scalar import BodyWriter
from einderive.eops.triton_kernels.plan import Plan, strides
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers
from einderive.ta.functions import REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range

INDENT = "    "
TILE_SHAPE = "[BLOCK_Q, BLOCK_P]"


def decode(
    index: str,
    positions: Sequence[int],
    domain: Sequence[Range],
    prefix: str = "i",
    numbers: Numbers = CLOSED,
) -> tuple[list[str], dict[int, str]]:
    """Assignments that split the flattened `index` into the iterators at `positions`, last one
    fastest, and the name or literal of each."""
    lines: list[str] = []
    names: dict[int, str] = {}
    stride, steps = 1, ""
    for place, position in enumerate(reversed(positions)):
        lo, _ = domain[position]
        extent = domain[position].extent
        if extent == 1:
            names[position] = str(lo) if lo >= 0 else f"({lo})"
            continue
        name = f"{prefix}{position}"
        text = index
        if stride != 1:
            text += f" // {numbers.whole(stride, steps, aligned=True)}"
        if any(domain[i].extent > 1 for i in positions[: len(positions) - 1 - place]):
            text += f" % {numbers.whole(extent, name, aligned=True)}"
        if lo:
            text += f" {'-' if lo < 0 else '+'} {numbers.whole(abs(lo), f'{name}, start')}"
        names[position] = name
        lines.append(f"{name} = {text}")
        stride *= extent
        steps = name  # of one iterator, its extent; of several, a product beyond all extents
    return lines[::-1], names


def output_setup(plan: Plan, lines: Sequence[str], numbers: Numbers) -> list[str]:
    """`index` and `live`, of a block of outputs, and the `lines` that decode it."""
    return [
        *index_setup(plan.wide),
        "index = pid * BLOCK + tl.arange(0, BLOCK)",
        f"live = index < {numbers.count(plan.outputs)}",
        *lines,
    ]


def index_setup(wide: bool) -> list[str]:
    """`zero` and `pid` in the width the indices need."""
    width = "tl.int64" if wide else "tl.int32"
    return [f"zero = tl.full([], 0, {width})", "pid = zero + tl.program_id(0)"]


def indent(lines: Sequence[str], depth: int) -> list[str]:
    return [INDENT * depth + line for line in lines]


def combine(plan: Plan, left: str, right: str) -> str:
    """`left` and `right` under the reducer; a NaN stays one."""
    return REDUCERS[plan.scope.reducer].triton.format(left, right)


def loop_kernel(plan: Plan, numbers: Numbers) -> tuple[list[str], list[str]]:
    """The kernel's statements and helpers, reductions as nested loops."""
    first = len(plan.scope.loops)
    lines, names = decode("index", range(first), plan.scope.domain, numbers=numbers)
    lanes = (axis(names, range(first), "live", "0 * index"),)
    body, helpers = _nested(plan, names, lanes, "[BLOCK]", numbers)
    return output_setup(plan, lines, numbers) + body + store(plan), helpers


def tile_kernel(plan: Plan, numbers: Numbers) -> tuple[list[str], list[str]]:
    """The kernel's statements and helpers for a tile of two loops; a program has one place of the
    others."""
    domain, first = plan.scope.domain, len(plan.scope.loops)
    q, p = plan.tile
    rest, names = decode(
        "place", [i for i in range(first) if i not in plan.tile], domain, numbers=numbers
    )
    q_lines, q_name = decode("index_q[:, None]", [q], domain, numbers=numbers)
    p_lines, p_name = decode("index_p[None, :]", [p], domain, numbers=numbers)
    names |= q_name | p_name
    lanes = (
        axis(names, [q], "live_q[:, None]", "0 * index_q[:, None]"),
        axis(names, [p], "live_p[None, :]", "0 * index_p[None, :]"),
    )
    body, helpers = _nested(plan, names, lanes, TILE_SHAPE, numbers)
    offset = affine.ZERO
    for i, stride in enumerate(strides(plan.scope.loops)):
        offset = affine.add(offset, affine.shift(affine.iterator(i), -domain[i].lo), stride)
    frame = Frame([names[i] for i in range(first)], lanes, domain, numbers=numbers)
    height, width = (numbers.whole(domain[i].extent, f"i{i}", aligned=True) for i in plan.tile)
    setup = [
        *index_setup(plan.wide),
        f"rows = tl.cdiv({height}, BLOCK_Q)",
        f"columns = tl.cdiv({width}, BLOCK_P)",
        "place = pid // (rows * columns)",
        "index_q = pid // columns % rows * BLOCK_Q + tl.arange(0, BLOCK_Q)",
        "index_p = pid % columns * BLOCK_P + tl.arange(0, BLOCK_P)",
        f"live_q = index_q < {height}",
        f"live_p = index_p < {width}",
        *rest,
        *q_lines,
        *p_lines,
    ]
    place = row_text(offset, frame, "out", aligned=True)
    stored = [
        f"tl.store(out + ({place}), result.to({TRITON_DTYPE[plan.out_dtype]}),"
        " mask=live_q[:, None] & live_p[None, :])",
    ]
    return [*setup, *body, *stored], helpers


def _nested(
    plan: Plan, names: Mapping[int, str], lanes: tuple[Lanes, ...], shape: str, numbers: Numbers
) -> tuple[list[str], list[str]]:
    """`result`, of that shape or a part of it, over nested loops of the sums, and helpers."""
    first, sums = len(plan.scope.loops), plan.scope.sums
    every = [names.get(i, f"s{i - first}") for i in range(len(plan.scope.domain))]
    frame = Frame(every, lanes, plan.scope.domain, numbers=numbers)
    writer = BodyWriter(plan, frame, len(sums) + 1, lambda free: (free >> first).bit_length())
    compute = TRITON_DTYPE[plan.compute]
    empty = any(r.extent == 0 for r in sums)
    value = scalar_identity(plan) if empty else writer.value(plan.scope.body)
    if not sums or empty:
        body = [*writer.lines[0], f"result = {value}"]
    else:
        body = [f"result = tl.full({shape}, {identity(plan)}, {compute})", *writer.lines[0]]
        for depth, bound in enumerate(sums):
            ends = ", ".join(map(numbers.whole, bound))
            body += indent([f"for r{depth} in range({ends}):"], depth)
            body += indent([f"s{depth} = zero + r{depth}", *writer.lines[depth + 1]], depth + 1)
        body += indent([f"result = {combine(plan, 'result', value)}"], len(sums))
    return body, list(writer.helpers)


def scalar_identity(plan: Plan) -> str:
    return f"tl.full([], {identity(plan)}, {TRITON_DTYPE[plan.compute]})"


def store(plan: Plan) -> list[str]:
    cast = TRITON_DTYPE[plan.out_dtype]
    return [
        "result = tl.broadcast_to(result, [BLOCK])",
        f"tl.store(out + index, result.to({cast}), mask=live)",
    ]


def flat_kernel(plan: Plan, numbers: Numbers) -> tuple[list[str], list[str]]:
    """The kernel's statements and helpers, the reduction flattened on BLOCK_R lanes."""
    scope, first = plan.scope, len(plan.scope.loops)
    lines, loops = decode("index[:, None]", range(first), scope.domain, "i", numbers)
    sum_lines, sums = decode("index_r[None, :]", plan.flat_order, scope.domain, "s", numbers)
    names = loops | sums
    lanes = (
        axis(names, loops, "live[:, None]", "0 * index[:, None]"),
        axis(names, sums, "live_r[None, :]", "0 * index_r[None, :]"),
    )
    every = [names[i] for i in range(len(scope.domain))]
    frame = Frame(every, lanes, scope.domain, numbers=numbers)
    terms = numbers.count(plan.reduction)
    writer = BodyWriter(plan, frame, 2, lambda free: 1 if free >> first else 0)
    value = writer.value(scope.body)
    compute = TRITON_DTYPE[plan.compute]
    body = [
        *output_setup(plan, lines, numbers),
        f"partial = tl.full([BLOCK, BLOCK_R], {identity(plan)}, {compute})",
        *writer.lines[0],
        f"for start in range(0, {terms}, BLOCK_R):",
    ]
    loop = [
        "index_r = zero + start + tl.arange(0, BLOCK_R)",
        f"live_r = index_r < {terms}",
        *sum_lines,
        *writer.lines[1],
        f"inside = tl.where(live_r[None, :], {value}, {scalar_identity(plan)})",
        f"partial = {combine(plan, 'partial', 'inside')}",
    ]
    result = f"result = {across_lanes(scope.reducer, 'partial', plan.compute)}"
    return [*body, *indent(loop, 1), result, *store(plan)], list(writer.helpers)
