"""A plan as the readable source of one Triton kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence

from einderive.eops.told import operand_line, plain
from einderive.eops.triton_kernels.emit_access import TRITON_DTYPE
from einderive.eops.triton_kernels.emit_dot import dot_kernel
from einderive.eops.triton_kernels.emit_loops import (
    flat_kernel,
    indent,
    loop_kernel,
    tile_kernel,
)
from einderive.eops.triton_kernels.emit_scalar import helper_source
from einderive.eops.triton_kernels.plan import Plan
from einderive.eops.triton_kernels.sizes.numbers import CLOSED, Numbers
from einderive.ta.functions.helper import Precision
from einderive.ta.ir.node import Source, Tensor

PROGRAM = {
    "loop": "program p computes outputs p*BLOCK ... (p+1)*BLOCK - 1 of the flattened output",
    "tile": "program p computes the tile p of loops {0} and {1} of outputs, BLOCK_Q by BLOCK_P",
    "flat": "program p computes outputs p*BLOCK ... (p+1)*BLOCK - 1, BLOCK_R terms at a time",
    "dot": "program p computes the tile (batch, m, n) = p unravelled, n fastest",
}

DEFINED = re.compile(r"^def (\w+\()", re.MULTILINE)
"""What a helper defines, and the bracket behind it in a call."""


def emit(plan: Plan, formula: str = "", *, upcast: bool = False, numbers: Numbers = CLOSED) -> str:
    """The source of a module with one kernel `eop(a0, a1, ..., out, c0, c1, ..., BLOCK...)`.

    `a0, a1, ...` are the plan's sources in order; shapes are literals, or `numbers` in the place of
    these; block sizes are constants of the launch.  `formula` only enters comments.  `upcast`: see
    `dot_kernel`.
    """
    helpers: list[str] = []
    if plan.form == "dot":
        lines, helpers = dot_kernel(plan, upcast=upcast, numbers=numbers)
    else:
        write = {"flat": flat_kernel, "tile": tile_kernel, "loop": loop_kernel}[plan.form]
        lines, helpers = write(plan, numbers)
    blocks = [f"{block}: tl.constexpr" for block, _ in plan.configs[0].blocks]
    arguments = [*(f"a{i}" for i in range(len(plan.sources))), "out", *numbers.names, *blocks]
    comments = _comments(plan, formula)
    if numbers.open:
        comments = [
            *open_comments(plan.sources, plan.dtypes),
            PROGRAM[plan.form].format(*plan.tile),
        ]
    return module(comments, helpers, plan.precision, arguments, lines, numbers)


def module(
    comments: Sequence[str],
    helpers: Sequence[str],
    precision: Precision,
    arguments: Sequence[str],
    lines: Sequence[str],
    numbers: Numbers = CLOSED,
) -> str:
    """The source of a module with one kernel; `helpers` are functions of the notation that may call
    one of their own, each after those that it may call."""
    parts = [*map(_comment, comments), "", "import triton", "import triton.language as tl", "", ""]
    known, callers = [helper_source(helper, precision) for helper in helpers], list(lines)
    for source in reversed(known):
        names = DEFINED.findall(source)
        if any(name in caller for caller in callers for name in names):
            callers.append(source)
    for source in reversed(callers[len(lines) :]):
        parts += [source, ""]
    loose = ", ".join(f'"{name}"' for name in numbers.loose)
    parts.append(f"@triton.jit(do_not_specialize=[{loose}])" if loose else "@triton.jit")
    lines = [*numbers.lines, *lines]
    parts += [f"def eop({', '.join(arguments)}):", *map(_wrap, indent(lines, 1))]
    return "\n".join(parts) + "\n"


def _wrap(line: str) -> str:
    """A long load over several lines; all breaks lie inside parentheses."""
    if len(line) <= 100:
        return line
    pad = "\n" + " " * (len(line) - len(line.lstrip()) + 4)
    for break_before in ("tl.load(", "mask=", "other=", "tl.full("):
        line = line.replace(f", {break_before}", f",{pad}{break_before}")
    crowded = max(map(len, line.splitlines())) > 100
    return line.replace(" & ", f"{pad}& ") if crowded else line


def open_comments(sources: Sequence[Source], dtypes: Sequence[str]) -> list[str]:
    """What the operands of an open kernel are; a name of integers has their range in it."""
    labels = [source.name if isinstance(source, Tensor) else "stage" for source in sources]
    labels = ["integers" if label.startswith("#") else label for label in labels]
    found = [
        f"a{i} = {label}, {d}" for i, (label, d) in enumerate(zip(labels, dtypes, strict=True))
    ]
    return [*found, "c0, c1, ... = extents, strides and numbers of the size that it runs for"]


def _comments(plan: Plan, formula: str) -> list[str]:
    """What the kernel computes, a line each."""
    lines = [line for line in formula.splitlines() if line.strip()]
    for i, (source, dtype) in enumerate(zip(plan.sources, plan.dtypes, strict=True)):
        lines.append(operand_line(f"a{i}", source, dtype))
    loops = ", ".join(f"{r.lo}:{r.hi}" for r in plan.scope.loops)
    lines.append(f"out[{loops}], {plan.out_dtype}; computed in {TRITON_DTYPE[plan.compute][3:]}")
    lines.append(PROGRAM[plan.form].format(*plan.tile))
    roles = plan.contraction
    if roles is not None:
        lines.append(
            f"batch = loops {roles.batch} of {plan.extent(roles.batch)},"
            f" m = {roles.m} of {plan.extent(roles.m)}, n = {roles.n} of {plan.extent(roles.n)},"
            f" k = {roles.k} of {plan.extent(roles.k)}"
        )
    return lines


def _comment(line: str) -> str:
    # Python takes `coding:` or `coding=` in a comment at the top for the file's encoding.
    return "# " + re.sub(r"coding(?=[:=])", "coding ", plain(line))
