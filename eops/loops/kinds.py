"""The type in which each value of a group is computed, as in torch's operations.

    number       the type that its stage is computed in: float32, float64, or int64
    truth value  bool, from operands in a type of their own: integers are compared as integers

    where(A[i] < K[i], A[i], 0)     A float32, K int64:  compared in float64, chosen in float32

A stage that is computed where it is read is not rounded to a half type in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from einderive.eops.dtypes import holds, operand_type, values
from einderive.eops.loops.group import Group
from einderive.ta.functions import REDUCERS
from einderive.ta.ir.node import Access, Node, Scope, Source
from einderive.ta.ir.positions import INDEX

TRUTH: Final = "bool"


class Kinds(NamedTuple):
    """The type that a stage is computed in, and the type of its elements."""

    compute: str
    result: str


@dataclass(frozen=True, slots=True)
class Typing:
    """The types of a group's operands, in the order of `group.operands`, and of its stages;
    `default` is torch's default type."""

    operands: tuple[str, ...]
    stages: tuple[Kinds, ...]
    default: str = "float32"


def alike(group: Group, dtype: str) -> Typing:
    """All operands and stages have this type, float32 or float64."""
    return Typing((dtype,) * len(group.operands), (Kinds(dtype, dtype),) * len(group.stages))


def of_total(kind: str, reducer: str) -> str:
    """The type in which values of a type are reduced."""
    return kind if kind == "int64" or REDUCERS[reducer].order else "float64"


class Compared:
    """The types in which values of a stage are compared."""

    def __init__(self, group: Group, typing: Typing) -> None:
        self.default = typing.default
        self.dtypes: Mapping[Source, str] = {
            **dict(zip(group.operands, typing.operands, strict=True)),
            **{s: kinds.result for s, kinds in zip(group.stages, typing.stages, strict=True)},
            INDEX: "int64",
        }

    def kind(self, operands: Sequence[Node], stage: Scope, compute: str) -> str:
        """The type in which operands are compared, or tested for 0."""
        reads = dict.fromkeys(
            part for node in operands for part in values(node) if isinstance(part, Access)
        )
        dtypes = [
            dtype if holds(dtype := self.dtypes[read.source], read.fill) else compute
            for read in reads
        ]
        found = operand_type(operands, stage.domain, dtypes)
        return self.default if found == "float32" else found
