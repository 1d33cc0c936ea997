"""A baseline as a few lines of torch, as a person would write them.

    Writer.name(source)  ->  the variable that holds the source's tensor

Recognisers give expressions as text; the writer names what they read and keeps the lines in order.
A dimension of extent n has the indices 0 to n-1, whatever its range begins with.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, NamedTuple, TypeAlias

import torch
from torch.nn import functional

from einderive.derivations.steps.fuse import Fuse
from einderive.eops.dtypes import LIMITS
from einderive.frontend.baselines.writing.kinds import Kind, Kinds
from einderive.ta.errors import EinderiveError
from einderive.ta.ir.node import Access, Scope, Source, Tensor
from einderive.ta.ir.sources import redirected
from einderive.ta.ir.subst import nested_scopes

RESERVED = ("torch", "F", "inf")


class NotWritten(Exception):
    """A scope that a recogniser turns out to be unable to write."""


class ContractionPath(NamedTuple):
    """The pairs of factors that are multiplied one after the other, by their places among those
    that are left; the elements of the largest result, and the products of all pairs."""

    steps: tuple[tuple[int, ...], ...]
    largest: int
    values: float


@dataclass(frozen=True, slots=True)
class Written:
    """An expression with the scope's shape.

    - `word`: the name of its operation.
    - `view`: whether it may share memory with what it reads.
    - `work`: the number of values that it computes, if that is not the number of the scope's
      points; 0 if they were counted by `Writer.computes`.
    - `kind`: the kind of the tensor, if it is not the scope's.
    """

    text: str
    word: str
    view: bool = False
    work: float | None = None
    kind: Kind | None = None


Write: TypeAlias = Callable[[Scope, "Writer"], Written | None]
"""The function of a recogniser.  It gives None, or raises NotWritten, if it does not write the
scope."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One way to write a stage in torch.

    A `literal` recogniser sees each statement as it is.  The others also see it with producers
    written into it.  A recogniser of `all_kinds` is also asked about stages of whole numbers and
    bools.
    """

    write: Write
    literal: bool = False
    all_kinds: bool = False


@dataclass
class Writer:
    """Lines so far, and what they use: `constants` are tensors made beforehand, `elements` those
    of the largest temporary, `work` the values that are computed.

    What a recogniser reads in a producer's place is written as `given` says: as the statement that
    it was.  `strict`: no function in place of a formula, since it may have a number where that has
    NaN."""

    inputs: tuple[Tensor, ...]
    recognisers: tuple[Recogniser, ...]
    fallback: Write
    given: dict[Source, Source]
    device: str = "cpu"
    strict: bool = False
    lines: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)
    names: dict[Source, str] = field(default_factory=dict)
    shared: dict[Source, bool] = field(default_factory=dict)
    elements: int = 0
    work: float = 0.0
    used: set[Recogniser] = field(default_factory=set)
    kinds: Kinds = field(default_factory=Kinds)
    _unknown: set[Scope] = field(default_factory=set)

    def __post_init__(self) -> None:
        taken: set[str] = set(RESERVED)
        for number, tensor in enumerate(self.inputs):
            name = tensor.name
            plain = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
            if not plain or name in taken or name.startswith(("t_", "c_", "x_")):
                name = f"x_{number}"
            taken.add(name)
            self.names[tensor] = name
            self.shared[tensor] = True

    def name(self, source: Source) -> str:
        """The variable of an input, or of a scope, which is written first."""
        source = self.given.get(source, source)
        if source not in self.names:
            if not isinstance(source, Scope):
                raise NotWritten("iterators as an operand")
            written = self.written(source)
            self.names[source] = self.line(written.text)
            self.shared[source] = written.view
        return self.names[source]

    def operand(self, source: Source, kind: Kind | None = Kind.FLOAT) -> str:
        """The variable of a source as a tensor of that kind; None means the source's own kind."""
        name = self.name(source)
        if kind is None or (self.kinds.of(source) >= kind and not is_narrow(source)):
            return name
        return self.line(self.cast(name, kind))

    def cast(self, text: str, kind: Kind) -> str:
        """The expression as a tensor of that kind."""
        return f"{grouped(text)}.to({self.type_of(kind)})"

    def type_of(self, kind: Kind) -> str:
        """The type of torch."""
        if kind is Kind.FLOAT:
            return f"torch.{self.floating}"
        return "torch.int64" if kind is Kind.WHOLE else "torch.bool"

    @property
    def floating(self) -> str:
        """The type of the operands that are floats."""
        types = (t.dtype for t in self.inputs if self.kinds.of(t) is Kind.FLOAT)
        return next(types, "float32")

    def line(self, text: str) -> str:
        """A variable for the expression.  The same expression has one variable."""
        if text.isidentifier():
            return text
        for line in self.lines:
            name, _, written = line.partition(" = ")
            if written == text:
                return name
        name = f"t_{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def constant(self, value: Any) -> str:
        """A variable for a tensor that is made once, before any call."""
        name = f"c_{len(self.constants)}"
        self.constants[name] = value.to(self.device) if isinstance(value, torch.Tensor) else value
        return name

    def needs(self, elements: int) -> None:
        """Notes a temporary of this many elements."""
        self.elements = max(self.elements, elements)

    def computes(self, path: ContractionPath) -> None:
        """Notes products pair by pair."""
        self.needs(path.largest)
        self.work += path.values

    def written(self, scope: Scope) -> Written:
        """The scope by the first recogniser that takes it, as it is or with its producers without a
        reduction written into it."""
        found = self.recognised(scope)
        if found is None:
            found = self.fallback(scope, self)
        if found is None:
            raise NotWritten("no torch operation on whole tensors")
        self.words.append(found.word)
        self.work += prod(scope.extents) if found.work is None else found.work
        return found

    def _of_kind(self, found: Written, scope: Scope) -> Written:
        """The expression as a tensor of the scope's kind."""
        kind = self.kinds.of(scope)
        if found.kind is None or found.kind is kind:
            return found
        return replace(found, text=self.cast(found.text, kind), kind=None, view=False)

    def recognised(self, scope: Scope) -> Written | None:
        """The scope by a recogniser.  If the recogniser gives up, the lines that it wrote are
        removed."""
        if scope in self._unknown:
            return None
        floats = self.kinds.of(scope) is Kind.FLOAT
        for recogniser in self.recognisers:
            if not (floats or recogniser.all_kinds):
                continue
            for form in (scope,) if recogniser.literal else forms(scope):
                before = self._state()
                try:
                    found = recogniser.write(form, self)
                except (NotWritten, ValueError):  # infinities that cancel in the algebra
                    found = None
                if found is not None:
                    self.used.add(recogniser)
                    return self._of_kind(found, scope)
                self._restore(before)
        self._unknown.add(scope)
        return None

    def _state(self) -> tuple[Any, ...]:
        known = dict(self.names), dict(self.shared), dict(self.constants)
        return len(self.lines), len(self.words), self.elements, self.work, *known

    def _restore(self, state: tuple[Any, ...]) -> None:
        lines, words, self.elements, self.work, self.names, self.shared, self.constants = state
        del self.lines[lines:], self.words[words:]


def is_narrow(source: Source) -> bool:
    """Whether torch may have it as integers of fewer than 64 bits."""
    if isinstance(source, Tensor):
        return source.dtype in LIMITS and source.dtype not in ("int64", "bool")
    return isinstance(source.body, Access) and is_narrow(source.body.source)


def grouped(text: str) -> str:
    """The expression, in parentheses unless it is a name."""
    return text if text.isidentifier() else f"({text})"


def forms(scope: Scope) -> tuple[Scope, ...]:
    """The distinct forms in which recognisers see the scope: as it is; and with producers written
    into their readers, those that its sources read, and those that it reads itself."""
    sources = {nested: fused(nested) for nested in nested_scopes(scope)}
    return tuple(dict.fromkeys((scope, redirected(scope, sources), fused(scope))))


def fused(scope: Scope) -> Scope:
    """The scope with its producers without a reduction inlined; itself where there are none."""
    try:
        return Fuse().apply(scope, exact=False)
    except EinderiveError:
        return scope


def function(
    inputs: Sequence[Tensor], names: Sequence[str], body: str, constants: dict[str, Any]
) -> tuple[Callable[..., Any], str]:
    """The function that a text defines, and the text."""
    text = f"def baseline({', '.join(names)}):\n{body}"
    space: dict[str, Any] = {"torch": torch, "F": functional, "inf": float("inf"), **constants}
    exec(compile(text, "<baseline>", "exec"), space)  # our own text, made of numbers and names
    return space["baseline"], text
