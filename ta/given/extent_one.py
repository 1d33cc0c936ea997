"""The element type of a result does not depend on the extents: a sum over one element is a sum.

sum[i](A[i] > 0) = A[0] > 0  for i in 0:1,  and yet an integer (`Statement.typed`)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from einderive.ta.given.whole_values import INTEGER, NARROW, whole_kind
from einderive.ta.ir.node import Scope
from einderive.ta.ir.program import Program, Statement


def has_another_type(typed: Scope, scope: Scope, dtypes: Iterable[str]) -> bool:
    """Whether the element type of `typed`, which has the values of `scope`, may be another one, if
    the inputs have these types."""
    if typed is scope:
        return False
    kind = whole_kind(typed)
    known = kind == whole_kind(scope) and not typed.empty  # an empty box tells nothing of values
    return not known or (kind == INTEGER and any(dtype in NARROW for dtype in dtypes))


def typed_outputs(program: Program) -> tuple[Statement, ...]:
    """The outputs, with a scope over the inputs for the element type where the program's statements
    give another type than its roots: `T = sum[i](A[i] > 0); s = T*T` at extent 1."""
    dtypes = [tensor.dtype for tensor in program.inputs]
    sides = zip(program.outputs, program.roots(), program.roots(typed=True), strict=True)
    return tuple(
        replace(output, typed=typed if has_another_type(typed, root, dtypes) else None)
        for output, root, typed in sides
    )
