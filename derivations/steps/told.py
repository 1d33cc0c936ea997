"""Steps as a reader sees them: the names of iterators and stages, and parts of a body as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from einderive.ta.facts.zeros import Read
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import Namer
from einderive.ta.ir.node import Node, Scope
from einderive.ta.printing.marks import row_text
from einderive.ta.printing.printer import NO_HINTS, Printer
from einderive.ta.printing.show import MOST_SHOWN, show, tensors_of, without_long


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which a reader knows a scope's iterators and the stages that it reads.

    Without names, iterators have those of the scope's text, and stages are written out."""

    iterators: tuple[str, ...] = ()
    stages: Mapping[Scope, str] = field(default_factory=dict)

    def of(self, scope: Scope) -> tuple[str, ...]:
        """The names of the scope's iterators."""
        if self.iterators:
            return self.iterators
        printer = Printer(Namer(frozenset(tensors_of(scope))), NO_HINTS)
        return printer.names_of(scope, (), frozenset())

    def term(self, node: Node, scope: Scope) -> str:
        """A part of the scope's body, cut where it is long.  A stage without a name, whose text
        alone would be cut, stands in it as `…`."""
        named = {**without_long(node), **self.stages}
        text = show(node, names=self.of(scope), named=named)
        return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"

    def stage(self, stage: Scope) -> str:
        """The stage's name; without one, its text."""
        return self.stages.get(stage) or Names().term(stage, stage)


UNNAMED = Names()


def iterators_text(names: Sequence[str], ranges: Sequence[Range]) -> str:
    """`u in 0:3, v in 0:9`."""
    return ", ".join(f"{n} in {r.lo}:{r.hi}" for n, r in zip(names, ranges, strict=True))


def leaving_text(rows: Sequence[Read], names: Sequence[str], box: Sequence[Range]) -> str:
    """`h+r-1 runs over -1:8, outside of 0:7`."""
    found = []
    for row, allowed in rows:
        low, high = affine.bounds(row, box)
        text = row_text(row, names)
        found.append(f"{text} runs over {low}:{high + 1}, outside of {allowed.lo}:{allowed.hi}")
    return "; ".join(found) or NEVER


NEVER = "never"
"""What is told of rows that stay inside."""
