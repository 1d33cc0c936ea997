"""What a person has typed, read: a program with its mathematics and shapes, or one error.

formula   Y[i] = A[i,k]*x[k]
sizes     A=64,32                 the words of the command line: shapes, ranges h=0:7, sizes n=9
reading   Y[i] = A[i,k]*x[k]      as MathML;  A 64 x 32 given, x 32 filled in, Y 64 computed
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from einderive.frontend import arguments
from einderive.frontend.explorer.pieces.lines import Line
from einderive.frontend.explorer.view import program_lines
from einderive.frontend.text import shape
from einderive.frontend.workbench.filled import filled, proposed
from einderive.ta.errors import TextError
from einderive.ta.ir.program import Program
from einderive.ta.notation.parse import parse

MOST_FORMULA, MOST_SIZES = 4000, 2000
"""Characters: what a person types is shorter."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A formula as it was typed, with the words about its sizes and element types."""

    formula: str
    sizes: str = ""
    dtypes: str = "float32"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the formula: its shape as text, and where that comes from."""

    name: str
    shape: str
    known: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """An error: its text, the place in the formula where it stands there, and `proposal`, words
    that state the sizes that are missing."""

    text: str
    span: tuple[int, int] | None = None
    proposal: str = ""

    @property
    def parts(self) -> tuple[str, str, tuple[str, ...]]:
        """What is wrong, the line of it with the caret below, and what else is said."""
        lines = self.text.split("\n")
        carets = [place for place, line in enumerate(lines) if set(line) == {" ", "^"}]
        if not carets:
            return lines[0], "", tuple(line.strip() for line in lines[1:])
        last = carets[0]
        excerpt = "\n".join(line[2:] for line in lines[last - 1 : last + 1])
        return "\n".join(lines[: last - 1]), excerpt, tuple(map(str.strip, lines[last + 1 :]))


@dataclass(frozen=True, slots=True)
class Reading:
    """A program and what a page shows of it."""

    program: Program
    lines: tuple[Line, ...]
    tensors: tuple[Tensor, ...]


def read(asked: Asked) -> Reading | Mistake:
    """The program that was typed, or the first error in it."""
    for text, most, what in (
        (asked.formula, MOST_FORMULA, "formula"),
        (asked.sizes, MOST_SIZES, "line of sizes"),
    ):
        if len(text) > most:
            return Mistake(f"the {what} has {len(text)} characters; here it may have {most}")
    try:
        return _reading(asked)
    except TextError as error:
        said = arguments.told_for_the_command_line(str(error))
        span = error.span if error.text == asked.formula else None
        return Mistake(said, span, _proposal(asked))
    except (MemoryError, RecursionError):
        return Mistake("the formula is nested too deeply\n  next: write its parts as statements")


def _reading(asked: Asked) -> Reading:
    words = _words(asked.sizes)
    if odd := next((word for word in words if "=" not in word), ""):
        raise TextError(
            f"{odd[:40]} states no size",
            text=odd,
            span=(0, len(odd)),
            next_step=arguments.SHAPE_HELP,
        )
    extents = arguments.shapes([word for word in words if ":" not in word], names=True)
    ranges = arguments.ranges([word for word in words if ":" in word])
    types = arguments.dtypes(asked.dtypes.split())
    named = arguments.tensors_in(asked.formula, extents)
    tensors, sizes = arguments.without_sizes(extents, named, asked.formula)
    try:
        more = filled(asked.formula, tensors)
    except TextError:  # said better when the text is parsed
        more = {}
    program = parse(asked.formula, tensors | more, types, ranges, sizes)
    return Reading(program, program_lines(program), _tensors(program, more))


def _words(sizes: str) -> list[str]:
    """The words between blanks; there may be blanks at commas and signs: `A = 64, 32`."""
    return re.sub(r"\s*(=(?=\s+[\d(])|[,:])\s*|\s+(?==)", r"\1", sizes).split()


def _tensors(program: Program, more: Mapping[str, Sequence[int | str]]) -> tuple[Tensor, ...]:
    found = [
        Tensor(t.name, shape(t.shape), "filled in" if t.name in more else "given")
        for t in program.inputs
    ]
    for each in program.statements:
        what = "result" if each.name in program.output_names else "between"
        found.append(Tensor(each.name, shape(each.scope.shape), what))
    return tuple(found)


def _proposal(asked: Asked) -> str:
    """Words for all tensors that have no shape yet, where the texts can be read."""
    try:
        words = [word for word in _words(asked.sizes) if ":" not in word]
        given = arguments.shapes(words, names=True)
        found = proposed(asked.formula, given)
    except TextError:
        return ""
    return " ".join(f"{name}={','.join(map(str, sizes))}" for name, sizes in found.items())
