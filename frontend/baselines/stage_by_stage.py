"""The program stage by stage, for formulas that no line of torch on whole tensors computes.

    one library operator as it stands    that operator
    anything else                        through torch on strided views, in blocks

Operators that multiply out and repair are not used.  With `strict`, as for nan="strict", an
operator keeps NaN and infinities where its definition has them, and views form every product.

This program serves integers, which torch's products would wrap or lack, operands of several types,
and stages that would not fit into memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from einderive.derivations.matching.match import match
from einderive.eops.torch_views.stage import lower
from einderive.frontend.running.execute import Executable
from einderive.frontend.strict import operators_for
from einderive.ta.ir.node import Scope
from einderive.ta.ir.operator import Binding
from einderive.ta.ir.program import Program
from einderive.ta.ir.subst import stages

VIEWS_OF_MATRICES = ("matmul",)
"""Matrix products on overlapping views are left out: nobody writes these."""


def stage_by_stage(
    program: Program, types: Sequence[torch.dtype], *, strict: bool = False, device: str = "cpu"
) -> Executable:
    """The given program, its operators by name."""
    scopes = stages(*program.roots())
    found = [_stage(scope, strict, device) for scope in scopes]
    runs, words = tuple(run for run, _ in found), tuple(word for _, word in found)
    return Executable(program.roots(), scopes, runs, words, types=tuple(types))


def _stage(
    scope: Scope, strict: bool, device: str
) -> tuple[Callable[[Mapping[Any, torch.Tensor]], torch.Tensor], str]:
    for operator in operators_for("strict" if strict else "ignore", device):
        if operator.name not in VIEWS_OF_MATRICES and not operator.repairs:
            found = match(operator, scope)
            if isinstance(found, Binding):
                return operator.launch(found), operator.name
    return lower(scope, as_written=strict), "strided views"
