"""The types of a group's stages for operands of given types, if kernels support them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import torch

from einderive.eops.cpu_kernels.compiling.stored import has_half
from einderive.eops.dtypes import Kinds
from einderive.eops.loops.drafts.group import Group
from einderive.eops.loops.drafts.kinds import Typing
from einderive.eops.torch_views.types import is_whole, leaving_integers, types_beside
from einderive.ta.ir.dtypes import type_name
from einderive.ta.ir.node import Source, Tensor
from einderive.ta.ir.positions import INDEX, is_input
from einderive.ta.ir.subst import sources

COMPUTED: Final = (torch.float32, torch.float64, torch.int64)
WHOLE: Final = (torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


@cache
def readable() -> frozenset[torch.dtype]:
    """The types of elements that kernels read and write.  A processor that has no instruction for
    float16 leaves it to torch."""
    return frozenset((*COMPUTED, *WHOLE, torch.bfloat16, *[torch.float16] * has_half()))


def typing_of(
    group: Group,
    operands: Sequence[torch.dtype],
    inputs: Sequence[torch.dtype] = (),
    *,
    wide: bool = False,
) -> Typing | None:
    """The types that torch's operations give; with `wide`, float64 where these compute in float32,
    and the same results.  None if kernels lack one of them.

    `inputs` are the types of the program's inputs.  They count if the group reads no input of a
    floating type: `sum[i](I[i] == J[i])/3` is in float64 beside an input in float64."""
    types: dict[Source, torch.dtype] = dict(zip(group.operands, operands, strict=True))
    given = [types[source] for source in group.operands if _is_given(source)]
    given = given if any(not is_whole(dtype) for dtype in given) else [*given, *inputs]
    types[INDEX] = torch.int64
    stages: list[Kinds] = []
    for stage in group.stages:
        read = [types[source] for source in sources(stage.body)]
        made = types_beside(stage, read, given)
        if made.compute not in COMPUTED:
            return None
        types[stage] = made.result
        own = Kinds(type_name(made.compute), type_name(made.result))
        if wide and own.compute == "float32":
            own = Kinds("float64", own.result if stage in group.outputs else "float64")
        stages.append(own)
    if not readable().issuperset(types.values()):
        return None
    leaving = Kinds(*map(type_name, leaving_integers(given)))
    return Typing(tuple(map(type_name, operands)), tuple(stages), leaving)


def _is_given(source: Source) -> bool:
    return isinstance(source, Tensor) and is_input(source)
