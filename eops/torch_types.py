"""Which torch types a stage computes in and gives back.

float16 and bfloat16 are computed in float32 and rounded once, at the end.  bool and integers are
computed and given back as `eops.dtypes` says: in int64, and in the type read where the stage only
chooses among elements; what leaves the integers, in torch's default float, for a fill that is none
in float64.  Complex types follow torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch

from eops.dtypes import holds, whole_types
from ta.node import Number, Scope

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
    compute, result = whole_types(scope, [_name(dtype) for dtype in dtypes])
    return StageTypes(_type(compute), _type(result))


def held(buffer: torch.Tensor, fill: Number, dtype: torch.dtype) -> torch.Tensor:
    """The buffer, in `dtype` if its own type cannot hold the fill that it is read with."""
    return buffer if holds(_name(buffer.dtype), fill) else buffer.to(dtype)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _type(name: str) -> torch.dtype:
    found = torch.get_default_dtype() if name == "float32" else getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found
