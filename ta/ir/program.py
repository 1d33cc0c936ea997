"""A program: named statements over input tensors; a statement may read earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, Protocol

from einderive.ta.ir.node import ANY, PRINTERS, Bounds, Scope, Source, Tensor
from einderive.ta.ir.sources import with_tensors
from einderive.ta.ir.subst import sources, stages
from einderive.ta.uncopied import Uncopied


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, `name[loops] = scope`.

    The scope reads the result of an earlier statement as a tensor of that name."""

    name: str
    scope: Scope
    loop_names: tuple[str, ...]
    typed: Scope | None = None
    """A scope over the same loops that says the element type, if `scope` does not: a sum over one
    element is that element, `sum[i](A[i] > 0) = A[0] > 0`, and yet a sum of bools is an integer."""


class Assumption(NamedTuple):
    """An assumption about every element of an input.  Its text is `0 <= A < 1`."""

    tensor: str
    bounds: Bounds

    def __str__(self) -> str:
        return PRINTERS["assumption"](self)


Hints = Mapping[tuple[str, int], str]
"""(tensor name, dimension) -> the iterator name that stands alone there in the source text; with
`~dimension` the one that is summed and a part of the index there."""


class AtShapes(Protocol):
    """A formula for tensors of other shapes; `named` are the shapes with names of sizes."""

    @property
    def named(self) -> Mapping[str, tuple[int | str, ...]]:
        """The shapes by tensor: `{"X": ("n", 64)}`."""
        ...

    def __call__(self, shapes: Mapping[str, tuple[int, ...]], /) -> Program | None:
        """The formula for these shapes; None where they differ in more than named sizes."""
        ...


@dataclass(frozen=True, slots=True)
class Program(Uncopied):
    """A formula that was read: its statements, and the names that are needed to print them.

    - `inputs` are the input tensors, in the order of first appearance.
    - `sizes` are the values of the names that stand for sizes in the formula and its shapes.
    - `at_shapes` is a function from shapes, by the names of the tensors, to the same formula at
      these shapes.  It returns None if the shapes differ in more than named sizes.  `at_shapes` is
      None if no shape has a name.
    - `outputs` are the statements named in `output_names`.  For a formula these are the statements
      that no other statement reads in the text, even if the read has no effect:
      `T[i] = A[i]; Y[i] = B[i] + 0*T[i]` has one output, Y.  Without `output_names` they are the
      statements that no scope reads.
    """

    not_pickled = ("a program", "keep its text, str(program), and parse it again")
    inputs: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    hints: Hints = field(default_factory=lambda: MappingProxyType({}), compare=False)
    output_names: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    at_shapes: AtShapes | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.output_names:
            object.__setattr__(self, "output_names", _unread(self.statements))

    def inlined(self, *, typed: bool = False) -> dict[str, Scope]:
        """The tensor of each statement as a scope that reads inputs only, in statement order; with
        `typed`, the scopes that say the element types, whose values are the same."""
        scopes: dict[str, Scope] = {}
        for each in self.statements:
            scope = each.typed if typed and each.typed else each.scope
            scopes[each.name] = inline_statements(scope, scopes)
        return scopes

    def __str__(self) -> str:
        return PRINTERS["program"](self)

    def latex(self) -> str:
        """The statements as LaTeX mathematics, in which sums have limits."""
        return PRINTERS["latex"](self)

    def _repr_html_(self) -> str:
        """The program in a notebook: mathematics, and the text."""
        return PRINTERS["html"](self)

    def _repr_latex_(self) -> str:
        """The program where a page takes LaTeX alone."""
        return f"$\\displaystyle {self.latex()}$"

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The assumptions of the formula about its inputs, such as `assume A > 0`."""
        assumed = (tensor for tensor in self.inputs if tensor.bounds != ANY)
        return tuple(Assumption(tensor.name, tensor.bounds) for tensor in assumed)

    @property
    def outputs(self) -> tuple[Statement, ...]:
        """The outputs, in the order of the statements."""
        return tuple(s for s in self.statements if s.name in self.output_names)

    def roots(self, *, typed: bool = False) -> tuple[Scope, ...]:
        """One scope for each output, from `inlined`: the statements that it reads are scopes nested
        in it."""
        scopes = self.inlined(typed=typed)
        return tuple(scopes[statement.name] for statement in self.outputs)


def _unread(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    """The names of the statements whose tensors no statement's scope reads."""
    order = stages(*(statement.scope for statement in statements))
    found = (source for stage in order for source in sources(stage.body))
    read = {source.name for source in found if isinstance(source, Tensor)}
    return tuple(s.name for s in statements if s.name not in read)


def inline_statements(scope: Scope, known: Mapping[str, Source]) -> Scope:
    """The scope in which every read of a tensor named in `known` reads that source instead."""
    return with_tensors(scope, lambda tensor: known.get(tensor.name, tensor))
