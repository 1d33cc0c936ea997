"""The program stage by stage, where no line of torch on whole tensors is it.

    one library operator as it stands    that operator
    anything else                        through torch on strided views, in blocks

It is what is left for integers, which torch's products would wrap or lack, for operands of several
types, and for stages that would not fit into memory as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from derivations.match import match
from eops.library import OPERATORS
from eops.torch_stage import lower
from frontend.execute import Executable
from ta.node import Scope
from ta.operator import Binding
from ta.program import Program
from ta.subst import stages

VIEWS_OF_MATRICES = ("matmul",)
"""What is a matrix product only on overlapping views nobody writes so."""


def stage_by_stage(program: Program, types: Sequence[torch.dtype]) -> Executable:
    """The given program, its operators by name."""
    scopes = stages(*program.roots())
    found = [_stage(scope) for scope in scopes]
    runs, words = tuple(run for run, _ in found), tuple(word for _, word in found)
    return Executable(program.roots(), scopes, runs, words, types=tuple(types))


def _stage(scope: Scope) -> tuple[Callable[[Mapping[Any, torch.Tensor]], torch.Tensor], str]:
    for operator in OPERATORS:
        if operator.name not in VIEWS_OF_MATRICES:
            found = match(operator, scope)
            if isinstance(found, Binding):
                return operator.launch(found), operator.name
    return lower(scope), "strided views"
