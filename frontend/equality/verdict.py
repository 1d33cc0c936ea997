"""The verdict of a comparison of two programs: its kind, the exact claim, a counterexample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import log10
from typing import Any, TypeAlias

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]
Types: TypeAlias = tuple[tuple[str, str, str], ...]
"""Outputs with the element types that they have on the left and on the right."""
Entry: TypeAlias = tuple[str, tuple[int, ...], "Fraction | complex | float | int"]
"""A tensor, a position in it, and the value there."""

SHOWN = ("identical", "evaluated", "proved", "generic")


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Inputs for which two programs differ: `output[point]` is `left` in the first program and
    `right` in the second, for tensors of these shapes.

    `entries` lists all entries of the inputs that are not 0.  If the entries are random, it is
    None, and `numbers` says what kind of number both values are.  `apart` is the distance of two
    values that are the same in floating point."""

    shapes: Shapes
    output: str
    point: tuple[int, ...]
    left: Any
    right: Any
    entries: tuple[Entry, ...] | None = None
    numbers: str = ""
    apart: str = ""

    def __str__(self) -> str:
        where = f"{self.output}[{_comma(self.point)}]" if self.point else self.output
        values = f"{where} is {_number(self.left)} on the left, {_number(self.right)} on the right"
        values += f" ({self.apart} apart)" if self.apart else ""
        shapes = ", ".join(f"{name} {_shape(shape)}" for name, shape in self.shapes.items())
        given = f", for {shapes}" if shapes else ""
        if self.entries is None:
            return f"{values}{given}, where the entries are random{self.numbers}"
        if not self.shapes:
            return values
        if not self.entries:
            return f"{values}{given}, where all entries are 0"
        stated = ", ".join(
            f"{name}[{_comma(at)}]={_number(value)}" if at else f"{name}={_number(value)}"
            for name, at, value in self.entries
        )
        return f"{values}{given}, where {stated} and all other entries are 0"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether two programs are equal.  `kind` is one of these words; a verdict of the first four
    kinds is true in a condition:

    - `identical`: both programs are one canonical expression.
    - `evaluated`: all outputs agree at every position, borders included, for random entries;
      `detail` says in which numbers, and with what chance of an error.
    - `proved`: at every position, both programs are the same sums of products of entries and
      functions.  This holds for all entries, and rests on integer sets, without random numbers.
      Or `detail` names the laws by which both are equal, or says that the tensors' types hold so
      few entries that all were tried.
    - `generic`: the programs are equal for each of `shapes`; other shapes were not compared.
    - `different`: `counterexample` shows a difference; if the shapes of the outputs differ,
      `detail` says so.
    - `undecided`: neither was shown; `detail` states the reason and the next step.

    The verdict is about numbers: 1 and True are equal.  If the programs are equal, `types` lists
    the outputs whose element types are not, such as `("Y", "bool", "int64")`."""

    kind: str
    detail: str
    counterexample: Counterexample | None = None
    shapes: tuple[Shapes, ...] = ()
    types: Types = ()

    def __bool__(self) -> bool:
        return self.kind in SHOWN

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"

    def _repr_html_(self) -> str:
        """The verdict in a notebook: its kind, the claim, and the counterexample or the sizes."""
        parts = [f"<p><strong>{escape(self.kind)}</strong>: {escape(self.detail)}</p>"]
        if self.counterexample is not None and str(self.counterexample) not in self.detail:
            parts.append(f"<p>{escape(str(self.counterexample))}</p>")
        if self.shapes:
            head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.shapes[0])
            rows = "".join(
                f"<tr>{''.join(f'<td>{_shape(shape)}</td>' for shape in shapes.values())}</tr>"
                for shapes in self.shapes
            )
            caption = "<caption>shown for these shapes</caption>"
            parts.append(
                f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            )
        return f'<div class="einderive-verdict">{"".join(parts)}</div>'


def _comma(numbers: tuple[int, ...]) -> str:
    return ",".join(map(str, numbers))


def _shape(shape: tuple[int, ...]) -> str:
    return f"({_comma(shape)})" if shape else "a scalar"


MOST_BITS = 400
"""Longer fractions are written as a power of ten."""


def _number(value: Any) -> str:
    if isinstance(value, Fraction):
        bits = value.numerator.bit_length(), value.denominator.bit_length()
        if max(bits) > MOST_BITS:
            sign = "-" if value < 0 else ""
            return f"about {sign}10^{(bits[0] - bits[1]) * log10(2):.0f}"
        return str(value)
    if isinstance(value, complex) and value.imag:
        sign = "-" if value.imag < 0 else "+"
        return f"{_number(value.real)}{sign}{_number(abs(value.imag))}j"
    number = float(value.real)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else f"{number:.10g}"
