"""Which families of hard inputs a program is tried on, and in which order.

Some are tried of all programs, while there is time.  Others are always tried, of programs that they
concern:

    half types                 those whose range or digits end early          OF_HALVES
    roots of squares           numbers whose squares vanish, or overflow      OF_ROOTS

`torch.std` computes in float64 and `torch.hypot` without squares, so they are right on the latter
where sqrt(sum[i](x[i]^2)) is 0, or infinite.
"""

from __future__ import annotations

from einderive.eops.dtypes import HALVES
from einderive.frontend.accuracy.inputs.families import FAMILIES, OF_HALVES, OF_ROOTS, Family
from einderive.frontend.accuracy.inputs.unequal import unequal
from einderive.ta.ir.node import Apply, Node, Power
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import every_term

ROOTS = ("sqrt", "rsqrt")
NARROW = HALVES | {"float32"}


def hard_families(program: Program) -> tuple[Family, ...]:
    """The hard families of the program, the most telling first."""
    normal, offset, *others = FAMILIES
    always = always_tried(program)
    left = (family for family in others if family not in always)
    return (normal, offset, *always, *unequal(program), *left)


def always_tried(program: Program) -> tuple[Family, ...]:
    """The families that are tried however little time there is, besides the first ones."""
    types = {tensor.dtype for tensor in program.inputs}
    narrow = (family for dtype, family in OF_HALVES.items() if dtype in types)
    return (*narrow, *(OF_ROOTS if types & NARROW and _has_roots_of_squares(program) else ()))


def _has_roots_of_squares(program: Program) -> bool:
    terms = [*every_term(*program.roots())]
    return any(map(_is_root, terms)) and any(map(_is_square, terms))


def _is_root(node: Node) -> bool:
    return isinstance(node, Apply) and node.function in ROOTS


def _is_square(node: Node) -> bool:
    return isinstance(node, Power) and node.exponent == 2
