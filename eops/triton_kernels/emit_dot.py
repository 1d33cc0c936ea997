"""The dot form of a kernel: tiles of a batched matrix product over decoded, guarded indices.

    out[batch, m, n] = c * S[k] left[batch, m, k] * right[batch, k, n]

One program computes one BLOCK_M x BLOCK_N tile and walks k in steps of BLOCK_K.  Each operand is
read through its own index rows, so overlapping, strided and padded operands need no copy.  A side
that is more than one read is computed from its tiles: what is free of k before the loop.  What
follows the product is computed from its accumulated tile.
"""

from __future__ import annotations

from einderive.eops.triton_kernels.emit_access import (
    TRITON_DTYPE,
    Frame,
    axis,
    literal,
    load_text,
    row_text,
)
from einderive.eops.triton_kernels.emit_loops import decode, indent, index_setup
from einderive.eops.triton_kernels.emit_scalar import BodyWriter
from einderive.eops.triton_kernels.plan import Plan, strides
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Node
from einderive.ta.ir.subst import accesses


def dot_kernel(plan: Plan, *, upcast: bool) -> tuple[list[str], list[str]]:
    """The kernel's statements and helpers; `upcast` feeds float32 to `tl.dot` where it could take
    half precision, for the interpreter, whose bfloat16 product is wrong."""
    roles, domain = plan.contraction, plan.scope.domain
    assert roles is not None
    lines: list[str] = []
    plain: dict[int, str] = {}
    extents = {name: plan.extent(getattr(roles, name)) for name in ("m", "n", "k")}
    for index, role in (("batch", roles.batch), ("index_m", roles.m), ("index_n", roles.n)):
        found, names = decode(index, role, domain)
        lines += found
        plain |= names
    k_lines, k_names = decode("index_k", roles.k, domain, "s")
    plain |= k_names

    def frame(
        row: str, row_role: tuple[int, ...], column: str, column_role: tuple[int, ...]
    ) -> Frame:
        names = [plain.get(i, "") for i in range(len(domain))]
        views = ((row, row_role, "[:, None]"), (column, column_role, "[None, :]"))
        lanes = tuple(
            axis(plain, role, f"live_{name}{view}", f"0 * index_{name}{view}")
            for name, role, view in views
        )
        for _, role, view in views:
            for i in role:
                names[i] = plain[i] + view if plain[i].isidentifier() else plain[i]
        return Frame(names, lanes, domain, full_blocks=True)

    half = "" if upcast else plan.half
    writers = list[BodyWriter]()

    def operand(side: Node, where: Frame, live_k: str, shape: str) -> str:
        """The tile of a side.  A lane beyond k adds nothing, whatever the values are there."""
        compute = half or plan.compute
        zero = f"tl.full([], 0.0, {TRITON_DTYPE[compute]})"
        if isinstance(side, Access):
            load = plan.loads[side]
            text = load_text(load, plan, where, keep=bool(half))
            filled = side.fill != 0 and load.guards
            return f"tl.where({live_k}, {text}, {zero})" if filled else text
        loose = where._replace(full_blocks=False)
        writer = BodyWriter(plan, loose, 2, level, prefix="vw"[len(writers)])
        writers.append(writer)
        writer.compute = compute
        value = f"tl.broadcast_to({writer.value(side)}, {shape})"
        return f"tl.where({live_k}, {value}, {zero})"

    def level(free: int) -> int:
        return int(any(free >> i & 1 for i in roles.k))

    out = affine.ZERO
    for i, (loop, stride) in enumerate(
        zip(plan.scope.loops, strides(plan.scope.loops), strict=True)
    ):
        out = affine.add(out, affine.shift(affine.iterator(i), -loop.lo), stride)
    compute = TRITON_DTYPE[plan.compute]
    m_k = frame("m", roles.m, "k", roles.k)
    k_n = frame("k", roles.k, "n", roles.n)
    m_n = frame("m", roles.m, "n", roles.n)
    left = operand(roles.left, m_k, "live_k[None, :]", "[BLOCK_M, BLOCK_K]")
    right = operand(roles.right, k_n, "live_k[:, None]", "[BLOCK_K, BLOCK_N]")
    sides = tuple(writers)
    scaled = "acc"
    if roles.coefficient != 1:
        scaled = f"(acc * {literal(roles.coefficient, plan.compute)})"
    head = [
        *index_setup(plan.wide),
        f"tiles_m = ({extents['m']} + BLOCK_M - 1) // BLOCK_M",
        f"tiles_n = ({extents['n']} + BLOCK_N - 1) // BLOCK_N",
        "batch = pid // (tiles_m * tiles_n)",
        "index_m = (pid // tiles_n % tiles_m) * BLOCK_M + tl.arange(0, BLOCK_M)",
        "index_n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)",
        f"live_m = index_m < {extents['m']}",
        f"live_n = index_n < {extents['n']}",
        *lines,
        *(line for writer in sides for line in writer.lines[0]),
        f"acc = tl.zeros([BLOCK_M, BLOCK_N], {compute})",
        f"for start in range(0, {extents['k']}, BLOCK_K):",
    ]
    loop_body = [
        "index_k = zero + start + tl.arange(0, BLOCK_K)",
        f"live_k = index_k < {extents['k']}",
        *k_lines,
        *(line for writer in sides for line in writer.lines[1]),
        f"left = {left}",
        f"right = {right}",
        f'acc = tl.dot(left, right, acc, input_precision="ieee", out_dtype={compute})',
    ]
    result, last = scaled, list[str]()
    if plan.after is not None:
        body, product = plan.after
        writer = BodyWriter(plan, m_n._replace(full_blocks=False), 1, lambda _: 0, prefix="u")
        reads = (access for access in accesses(body) if access.source is product)
        result = writer.with_values(dict.fromkeys(reads, "product")).value(body)
        last = [f"product = {scaled}", *writer.lines[0]]
        writers.append(writer)
    tail = [
        f"position = {row_text(out, m_n)}",
        *last,
        f"result = {result}.to({TRITON_DTYPE[plan.out_dtype]})",
        "tl.store(out + position, result, mask=live_m[:, None] & live_n[None, :])",
    ]
    helpers = dict.fromkeys(helper for writer in writers for helper in writer.helpers)
    return head + indent(loop_body, 1) + tail, list(helpers)
