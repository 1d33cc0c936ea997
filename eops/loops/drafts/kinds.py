"""The type in which each value of a group is computed, as in torch's operations.

    number       the type that its stage is computed in: float32, float64, or int64
    truth value  bool, from operands in a type of their own: integers are compared as integers

    where(A[i] < K[i], A[i], 0)     A float32, K int64:  compared in float64, chosen in float32

A stage that is computed where it is read is not rounded to a half type in between, but for operands
of comparisons (`eops.comparisons`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from einderive.eops import comparisons
from einderive.eops.dtypes import Kinds, holds, operand_type, values
from einderive.eops.loops.drafts.group import Group
from einderive.eops.whole_parts import part_type
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir.node import Access, Apply, Node, Scope, Source
from einderive.ta.ir.positions import INDEX

TRUTH: Final = "bool"
SINGLE: Final = Kinds("float32", "float32")


@dataclass(frozen=True, slots=True)
class Typing:
    """The types of a group's operands, in the order of `group.operands`, and of its stages;
    `leaving` are those of a stage of its program that leaves the integers."""

    operands: tuple[str, ...]
    stages: tuple[Kinds, ...]
    leaving: Kinds = SINGLE


def alike(group: Group, dtype: str) -> Typing:
    """All operands and stages have this type, float32 or float64."""
    own = Kinds(dtype, dtype)
    return Typing((dtype,) * len(group.operands), (own,) * len(group.stages), own)


def of_total(kind: str, reducer: str) -> str:
    """The type in which values of a type are reduced."""
    return kind if kind == "int64" or REDUCERS[reducer].order else "float64"


class Compared:
    """The types in which values of a stage are compared, and tested for 0."""

    def __init__(self, group: Group, typing: Typing) -> None:
        self.typing = typing
        self.stages = dict(zip(group.stages, typing.stages, strict=True))
        self.dtypes: Mapping[Source, str] = {
            **dict(zip(group.operands, typing.operands, strict=True)),
            **{stage: kinds.result for stage, kinds in self.stages.items()},
            INDEX: "int64",
        }

    def tested(self, operands: Sequence[Node], stage: Scope) -> str:
        """The type of places, and of what is tested for 0."""
        return operand_type(operands, stage.domain, self._read(operands, stage))

    def operands(self, operands: Sequence[Node], stage: Scope) -> comparisons.Compared:
        """The types of a comparison.  What a stage of the group gives is rounded as it."""
        read = [self._read([operand], stage) for operand in operands]
        leaving = self.typing.leaving
        common, owns = comparisons.compared(operands, stage.domain, read, lambda: leaving)
        pairs = zip(operands, owns, strict=True)
        return comparisons.Compared(common, tuple([own or self._inside(o) for o, own in pairs]))

    def part(self, node: Node, stage: Scope, kind: str) -> str:
        """The type in which a part of a stage that computes in this one is computed."""
        if kind != TRUTH and isinstance(node, Apply) and FUNCTIONS[node.function].digits:
            return "int64"
        return part_type(node, stage.domain, self.dtypes, kind)

    def _inside(self, operand: Node) -> Kinds | None:
        """The types of the stage of the group that is read."""
        source = operand.source if isinstance(operand, Access) else None
        return self.stages.get(source) if isinstance(source, Scope) else None

    def _read(self, operands: Sequence[Node], stage: Scope) -> list[str]:
        """The types of the reads that may become values of the operands; where a fill is none of
        the type, that of the stage."""
        compute = self.stages[stage].compute
        reads = dict.fromkeys(
            part for node in operands for part in values(node) if isinstance(part, Access)
        )
        return [
            dtype if holds(dtype := self.dtypes[read.source], read.fill) else compute
            for read in reads
        ]
