"""A program: named statements over input tensors, later ones reading earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from einderive.ta.ir.node import PRINTERS, Scope, Source, Tensor
from einderive.ta.ir.sources import with_tensors
from einderive.ta.ir.subst import sources, stages
from einderive.ta.ir.uncopied import Uncopied


@dataclass(frozen=True, slots=True)
class Statement:
    """`name[loops] = scope`; the scope reads earlier statements as tensors of their name."""

    name: str
    scope: Scope
    loop_names: tuple[str, ...]


Hints = Mapping[tuple[str, int], str]
"""(tensor name, dimension) -> the iterator name that stands alone there in the source text."""


@dataclass(frozen=True, slots=True)
class Program(Uncopied):
    """Statements as the user wrote them, with what is needed to show them again.

    `inputs` are in order of first appearance.  `outputs` are the statements named in
    `output_names`: of a formula those that the text of no other statement reads, whatever becomes
    of a read (in `T[i] = A[i]; Y[i] = B[i] + 0*T[i]` nothing is left of it, and only Y is an
    output).  Where no names are given, they are the statements that no scope reads.
    """

    not_pickled = ("a program", "keep its text, str(program), and parse it again")
    inputs: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    hints: Hints = field(default_factory=lambda: MappingProxyType({}), compare=False)
    output_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.output_names:
            object.__setattr__(self, "output_names", _unread(self.statements))

    def inlined(self) -> dict[str, Scope]:
        """Each statement's tensor as a scope of inputs alone, in the order of the statements."""
        scopes: dict[str, Scope] = {}
        for statement in self.statements:
            scopes[statement.name] = inline_statements(statement.scope, scopes)
        return scopes

    def __str__(self) -> str:
        return PRINTERS["program"](self)

    def latex(self) -> str:
        """The statements as LaTeX mathematics, sums written out with their limits."""
        return PRINTERS["latex"](self)

    def _repr_latex_(self) -> str:
        """What a notebook shows."""
        return f"$\\displaystyle {self.latex()}$"

    @property
    def outputs(self) -> tuple[Statement, ...]:
        """In the order of the statements."""
        return tuple(s for s in self.statements if s.name in self.output_names)

    def roots(self) -> tuple[Scope, ...]:
        """One scope per output, with the statements it reads nested in it as scopes."""
        scopes = self.inlined()
        return tuple(scopes[statement.name] for statement in self.outputs)


def _unread(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    """The names of the statements whose tensors no statement's scope reads."""
    order = stages(*(statement.scope for statement in statements))
    found = (source for stage in order for source in sources(stage.body))
    read = {source.name for source in found if isinstance(source, Tensor)}
    return tuple(s.name for s in statements if s.name not in read)


def inline_statements(scope: Scope, known: Mapping[str, Source]) -> Scope:
    """The scope with every read of a tensor named in `known` redirected to that source."""
    return with_tensors(scope, lambda tensor: known.get(tensor.name, tensor))
