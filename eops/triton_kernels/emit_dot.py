"""The dot form of a kernel: tiles of a batched matrix product over decoded, guarded indices.

    out[batch, m, n] = c * S[k] left[batch, m, k] * right[batch, k, n]

One program computes one BLOCK_M x BLOCK_N tile and walks k in steps of BLOCK_K.  Each operand is
read through its own index rows, so overlapping, strided and padded operands need no copy.  A side
that is more than one read is computed from its tiles: what is free of k before the loop.  What
follows the product is computed from its accumulated tile.
"""

from __future__ import annotations

from einderive.eops.triton_kernels import emit_access
from einderive.eops.triton_kernels.contraction import Contraction
from einderive.eops.triton_kernels.emit_loops import decode, indent, index_setup
from einderive.eops.triton_kernels.emit_scalar import BodyWriter
from einderive.eops.triton_kernels.plan import Plan, strides
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers
from einderive.ta.ir import affine
from einderive.ta.ir.node import Access, Node
from einderive.ta.ir.subst import accesses


def dot_kernel(
    plan: Plan, *, upcast: bool, numbers: Numbers = CLOSED
) -> tuple[list[str], list[str]]:
    """The kernel's statements and helpers; `upcast` feeds float32 to `tl.dot` where it could take
    half precision, for the interpreter, whose bfloat16 product is wrong."""
    assert plan.contraction is not None
    writer = _Writer(plan, plan.contraction, "" if upcast else plan.half, numbers)
    lines = writer.lines()
    helpers = dict.fromkeys(helper for part in writer.parts for helper in part.helpers)
    return lines, list(helpers)


class _Writer:
    """Statements of one kernel; `half` is the type that `tl.dot` takes, if it is not the type
    computed in."""

    def __init__(self, plan: Plan, roles: Contraction, half: str, numbers: Numbers) -> None:
        self.plan, self.roles, self.half, self.numbers = plan, roles, half, numbers
        self.names: dict[int, str] = {}
        self.parts: list[BodyWriter] = []
        """What writes the sides that are more than one read, and what follows the product."""

    def lines(self) -> list[str]:
        plan, roles = self.plan, self.roles
        outside = [
            *self._decoded("batch", roles.batch),
            *self._decoded("index_m", roles.m),
            *self._decoded("index_n", roles.n),
        ]
        inside = self._decoded("index_k", roles.k, "s")
        m_k = self._frame(("m", roles.m), ("k", roles.k))
        k_n = self._frame(("k", roles.k), ("n", roles.n))
        left = self._operand(roles.left, m_k, "live_k[None, :]", "[BLOCK_M, BLOCK_K]")
        right = self._operand(roles.right, k_n, "live_k[:, None]", "[BLOCK_K, BLOCK_N]")
        m, n, k = (
            self.numbers.whole(plan.extent(role), name, aligned=True)
            for role, name in ((roles.m, "m"), (roles.n, "n"), (roles.k, "k"))
        )
        compute = emit_access.TRITON_DTYPE[plan.compute]
        head = [
            *index_setup(plan.wide),
            f"tiles_m = ({m} + BLOCK_M - 1) // BLOCK_M",
            f"tiles_n = ({n} + BLOCK_N - 1) // BLOCK_N",
            "batch = pid // (tiles_m * tiles_n)",
            "index_m = (pid // tiles_n % tiles_m) * BLOCK_M + tl.arange(0, BLOCK_M)",
            "index_n = (pid % tiles_n) * BLOCK_N + tl.arange(0, BLOCK_N)",
            f"live_m = index_m < {m}",
            f"live_n = index_n < {n}",
            *outside,
            *(line for part in self.parts for line in part.lines[0]),
            f"acc = tl.zeros([BLOCK_M, BLOCK_N], {compute})",
            f"for start in range(0, {k}, BLOCK_K):",
        ]
        loop_body = [
            "index_k = zero + start + tl.arange(0, BLOCK_K)",
            f"live_k = index_k < {k}",
            *inside,
            *(line for part in self.parts for line in part.lines[1]),
            f"left = {left}",
            f"right = {right}",
            f'acc = tl.dot(left, right, acc, input_precision="ieee", out_dtype={compute})',
        ]
        return head + indent(loop_body, 1) + self._result()

    def _decoded(self, index: str, role: tuple[int, ...], prefix: str = "i") -> list[str]:
        """Statements that name the iterators of a role."""
        lines, names = decode(index, role, self.plan.scope.domain, prefix, self.numbers)
        self.names |= names
        return lines

    def _frame(
        self, row: tuple[str, tuple[int, ...]], column: tuple[str, tuple[int, ...]]
    ) -> emit_access.Frame:
        """A tile whose rows and columns are over the iterators of two roles."""
        domain = self.plan.domain
        names = [self.names.get(i, "") for i in range(len(domain))]
        views = ((*row, "[:, None]"), (*column, "[None, :]"))
        lanes = tuple(
            emit_access.axis(self.names, role, f"live_{name}{view}", f"0 * index_{name}{view}")
            for name, role, view in views
        )
        for _, role, view in views:
            for i in role:
                names[i] += view if names[i].isidentifier() else ""
        return emit_access.Frame(names, lanes, domain, True, self.numbers)

    def _operand(self, side: Node, where: emit_access.Frame, live_k: str, shape: str) -> str:
        """The tile of a side.  A lane beyond k adds nothing, whatever the values are there."""
        compute = self.half or self.plan.compute
        zero = f"tl.full([], 0.0, {emit_access.TRITON_DTYPE[compute]})"
        load = self.plan.load_of(side)
        if isinstance(side, Access) and side in self.plan.picked:
            if load is not None and load.is_zero_outside:
                part = self._part(where)
                part.find(side)
                where = part.frame._replace(full_blocks=True)
                return emit_access.load_text(load, self.plan, where, keep=bool(self.half))
        elif load is not None:
            text = emit_access.load_text(load, self.plan, where, keep=bool(self.half))
            return text if load.is_zero_outside else f"tl.where({live_k}, {text}, {zero})"
        part = self._part(where)
        part.compute = compute
        value = f"tl.broadcast_to({part.value(side)}, {shape})"
        return f"tl.where({live_k}, {value}, {zero})"

    def _part(self, where: emit_access.Frame) -> BodyWriter:
        """What writes a side: what rests on k in the loop, the rest before it."""
        k = sum(1 << i for i in self.roles.k)
        loose = where._replace(full_blocks=False)
        prefix = "vw"[len(self.parts)]
        part = BodyWriter(self.plan, loose, 2, lambda free: bool(free & k), prefix=prefix)
        self.parts.append(part)
        return part

    def _result(self) -> list[str]:
        """Statements after the loop: what follows the product, and its place in the output."""
        plan, m_n = self.plan, self._frame(("m", self.roles.m), ("n", self.roles.n))
        out, loops = affine.ZERO, plan.scope.loops
        for i, (loop, stride) in enumerate(zip(loops, strides(loops), strict=True)):
            out = affine.add(out, affine.shift(affine.iterator(i), -loop.lo), stride)
        result, last = "acc", list[str]()
        if self.roles.coefficient != 1:
            text = emit_access.literal(self.roles.coefficient, plan.compute)
            name = self.numbers.real(self.roles.coefficient, plan.compute, text)
            result = f"(acc * {name or text})"
        if plan.after is not None:
            body, product = plan.after
            part = BodyWriter(plan, m_n._replace(full_blocks=False), 1, lambda _: 0, prefix="u")
            reads = (access for access in accesses(body) if access.source is product)
            last = [f"product = {result}"]
            result = part.with_values(dict.fromkeys(reads, "product")).value(body)
            last += part.lines[0]
            self.parts.append(part)
        return [
            f"position = {emit_access.row_text(out, m_n, 'out', aligned=True)}",
            *last,
            f"result = {result}.to({emit_access.TRITON_DTYPE[plan.out_dtype]})",
            "tl.store(out + position, result, mask=live_m[:, None] & live_n[None, :])",
        ]
