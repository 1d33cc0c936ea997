"""Which torch types a stage computes in and gives back.

float16 and bfloat16 are computed in float32 and rounded once, at the end.  bool and integers are
computed in int64 and given back as such after a reduction or from mixed types, else in the type
read; an expression that leaves the integers (exp, 1/2, negative powers) is computed and given back
in torch's default float.  Complex types follow torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch

from eops.dtypes import is_integral
from ta.node import Scope

HALVES = (torch.float16, torch.bfloat16)


class StageTypes(NamedTuple):
    compute: torch.dtype
    result: torch.dtype


def stage_types(scope: Scope, dtypes: Sequence[torch.dtype]) -> StageTypes:
    """The types of a stage whose buffers have these types; without buffers, the default float."""
    if not dtypes:
        default = torch.get_default_dtype()
        return StageTypes(default, default)
    common = reduce(torch.promote_types, dtypes)
    if common in HALVES:
        return StageTypes(torch.float32, common)
    if common.is_floating_point or common.is_complex:
        return StageTypes(common, common)
    if not is_integral(scope):
        default = torch.get_default_dtype()
        return StageTypes(default, default)
    keeps = len(set(dtypes)) == 1 and not scope.sums and common != torch.bool
    return StageTypes(torch.int64, common if keeps else torch.int64)
