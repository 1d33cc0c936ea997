"""Subscripts of `einsum`, read as NumPy reads them.

    "ij,jk->ik"       Y[i,k] = S[j] A[i,j]*B[j,k]
    "ij,jk"           the same: without `->` the output has the labels that occur once, sorted
    "...ij,...jk"     ellipsis dimensions are aligned at the right, broadcast, and come first
    "ii->i", "ii"     a diagonal, a trace
    a, [0,1], b, [1,2], [0,2]      the interleaved form: one list of labels after each operand

Labels are letters of any alphabet.  A dimension of size 1 broadcasts against another operand's
size; two dimensions of one operand under the same label must be equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from operator import index
from typing import Any, NamedTuple

from einderive.ta.errors import FormulaSyntaxError, OperandError, RangeError, TextError, shown
from einderive.ta.given.shapes import MOST_DIMENSIONS, several

ELLIPSIS = "..."
_TOKEN = re.compile(r"\.\.\.|[^ ]")
LABELS = 10_000
"""The number of labels of the interleaved form: 0 to 9999."""
MOST_CHARACTERS = 100_000
LAST_PLAIN = "\u00bf"
"""Whatever is printable beyond this character is a label: opt_einsum numbers its symbols so."""
Shape = tuple[int, ...]
Span = tuple[int, int]


class Mark(NamedTuple):
    """A label, or `...`, and where it stands in the text."""

    label: str
    span: Span


class Term(NamedTuple):
    """The labels of one operand or of the output, and where they stand in the text."""

    marks: tuple[Mark, ...]
    span: Span

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(mark.label for mark in self.marks)


class Subscripts(NamedTuple):
    """The text as terms; `output` is None where it is implicit."""

    inputs: tuple[Term, ...]
    output: Term | None


@dataclass(frozen=True, slots=True)
class EinsumSpec:
    """`Y[output] = S[other labels] product of X_n[operands[n]]`, the ellipsis as labels e0, e1, ...

    `operands` holds one label a dimension, `shapes` the operands' shapes; a dimension of size 1
    under a label of another size is broadcast.
    """

    operands: tuple[tuple[str, ...], ...]
    output: tuple[str, ...]
    shapes: tuple[Shape, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """label -> size, in order of first occurrence."""
        sizes: dict[str, int] = {}
        for labels, shape in zip(self.operands, self.shapes, strict=True):
            for label, size in zip(labels, shape, strict=True):
                if sizes.get(label, 1) == 1:
                    sizes[label] = size
        return sizes


@lru_cache(maxsize=4096)
def read_einsum(text: str, shapes: tuple[Shape, ...]) -> EinsumSpec:
    """The meaning of `einsum(text, operands of these shapes)`.

    Raises FormulaSyntaxError for the text, OperandError for the number of operands or of their
    dimensions, RangeError for sizes that conflict.
    """
    try:
        return resolve(parse_subscripts(text), shapes)
    except TextError as error:
        if error.span is not None:
            error.text, error.sizes = text, show_shapes(shapes)
            error.args = (error.render(),)
        raise


def show_shapes(shapes: Sequence[Shape]) -> str:
    """`operand 0 is 2 x 3, operand 1 is a scalar`."""
    return ", ".join(
        f"operand {number} is {_dimensions(shape)}" for number, shape in enumerate(shapes)
    )


def _dimensions(shape: Shape) -> str:
    if len(shape) == 1:
        return f"a vector of {shape[0]}"
    return " x ".join(map(str, shape)) if shape else "a scalar"


def parse_subscripts(text: str) -> Subscripts:
    """The terms of the text."""
    if len(text) > MOST_CHARACTERS:
        raise FormulaSyntaxError(
            f"subscripts of {len(text)} characters, and {MOST_CHARACTERS} are read",
            next_step="contract in parts",
        )
    arrow = text.find("->")
    inputs_end = len(text) if arrow < 0 else arrow
    inputs: list[Term] = []
    first = 0
    for part in text[:inputs_end].split(","):
        inputs.append(_parse_term(text, (first, first + len(part))))
        first += len(part) + 1
    if arrow < 0:
        return Subscripts(tuple(inputs), None)
    output = _parse_term(text, (arrow + 2, len(text)))
    known = {label for term in inputs for label in term.labels} | {ELLIPSIS}
    seen: set[str] = set()
    for label, span in output.marks:
        message = ""
        if label in seen:
            message = f"the output has {label} twice"
            next_step = f"name {label} once in the output"
        elif label not in known:
            message = f"the output label {label} is in no operand"
            others = ", ".join(sorted(known - {ELLIPSIS}))
            next_step = f"drop {label} from the output, or use one of {others}"
        if message:
            raise FormulaSyntaxError(message, span=span, next_step=next_step)
        seen.add(label)
    return Subscripts(tuple(inputs), output)


def _parse_term(text: str, span: Span) -> Term:
    marks: list[Mark] = []
    for found in _TOKEN.finditer(text, *span):
        token = found[0]
        letter = token.isalpha() or (token > LAST_PLAIN and token.isprintable())
        ellipsis = token == ELLIPSIS and all(mark.label != ELLIPSIS for mark in marks)
        if not letter and not ellipsis:
            message, next_step = _explain(token)
            raise FormulaSyntaxError(message, span=found.span(), next_step=next_step)
        marks.append(Mark(token, found.span()))
    return Term(tuple(marks), span)


def _explain(character: str) -> tuple[str, str]:
    """Why a character, or a second ellipsis, may not stand in a term, and what to do."""
    if character == ELLIPSIS:
        return "a second ellipsis in one term", "keep one '...' a term"
    if character == ".":
        return "a '.' that is not part of an ellipsis", "write '...', without spaces inside"
    if character in "->":
        return (
            f"'{character}' is not part of the one '->' before the output",
            "write '->' once, without spaces inside",
        )
    if character == ",":
        return "the output is one term, without ','", "write one term after '->'"
    return f"{character!r} is not a label", "labels are letters; spaces are the only white space"


def resolve(subscripts: Subscripts, shapes: tuple[Shape, ...]) -> EinsumSpec:
    """The spec of parsed subscripts on operands of these shapes."""
    inputs, output = subscripts
    _check_count(subscripts, shapes)
    spread = 0
    for number, (term, shape) in enumerate(zip(inputs, shapes, strict=True)):
        spread = max(spread, _ellipsis_rank(number, term, shape))
    if spread and output is not None and ELLIPSIS not in output.labels:
        raise FormulaSyntaxError(
            "the output leaves out the dimensions of the ellipsis",
            span=output.span if output.marks else (output.span[0] - 2, output.span[0]),
            next_step="write '...' in the output, or give the dimensions to sum over a label",
        )
    terms = [
        _expand(term, len(shape) - len(term.marks) + 1, spread)
        for term, shape in zip(inputs, shapes, strict=True)
    ]
    _check_sizes(terms, shapes)
    operands = tuple(tuple(mark.label for mark in marks) for marks in terms)
    if output is not None:
        labels = tuple(mark.label for mark in _expand(output, spread, spread))
    else:
        times = Counter(label for term in inputs for label in term.labels if label != ELLIPSIS)
        once = sorted(label for label, number in times.items() if number == 1)
        labels = (*_ellipsis_labels(spread, spread), *once)
    return EinsumSpec(operands, labels, shapes)


def _check_count(subscripts: Subscripts, shapes: tuple[Shape, ...]) -> None:
    wanted, given = len(subscripts.inputs), len(shapes)
    if wanted == given:
        return
    first, last = subscripts.inputs[min(given, wanted - 1)].span
    raise OperandError(
        f"the subscripts have {wanted} operand{'s' * (wanted != 1)}, the call has {given}",
        span=(first, last) if given < wanted else (last, last + 1),
        next_step="separate the operands' labels by ',', one term an operand",
    )


def _ellipsis_rank(number: int, term: Term, shape: Shape) -> int:
    """The number of dimensions that the ellipsis of an operand stands for."""
    named = sum(mark.label != ELLIPSIS for mark in term.marks)
    has_ellipsis = named < len(term.marks)
    rest = len(shape) - named
    if rest == 0 or (rest > 0 and has_ellipsis):
        return rest
    next_step = (
        "add labels, or '...' for the other dimensions"
        if rest > 0
        else f"take out {-rest} label{'s' * (rest < -1)}"
    )
    raise OperandError(
        f"operand {number} has {len(shape)} dimension{'s' * (len(shape) != 1)}, "
        f"its term has {named} label{'s' * (named != 1)}",
        span=term.span,
        next_step=next_step,
    )


def _ellipsis_labels(rank: int, spread: int) -> tuple[str, ...]:
    """Labels of `rank` ellipsis dimensions, aligned at the right of `spread`."""
    return tuple(f"e{position}" for position in range(spread - rank, spread))


def _expand(term: Term, rank: int, spread: int) -> list[Mark]:
    """The marks of a term with the ellipsis replaced by labels of `rank` dimensions."""
    marks: list[Mark] = []
    for mark in term.marks:
        if mark.label == ELLIPSIS:
            marks += [Mark(label, mark.span) for label in _ellipsis_labels(rank, spread)]
        else:
            marks.append(mark)
    return marks


def _check_sizes(terms: Sequence[Sequence[Mark]], shapes: Sequence[Shape]) -> None:
    """Refuse a label with two sizes; 1 gives way to another operand's size only."""
    found: dict[str, tuple[int, int]] = {}  # label -> (size, operand) of the first that is not 1
    for number, (marks, shape) in enumerate(zip(terms, shapes, strict=True)):
        own: dict[str, int] = {}
        for (label, span), size in zip(marks, shape, strict=True):
            other, where = found.get(label, (size, number))
            message = ""
            if own.setdefault(label, size) != size:
                message = f"the label {label} is {own[label]} and {size} in operand {number}"
                next_step = "a diagonal takes equal sizes; use two labels otherwise"
            elif size not in (1, other):
                kind = "ellipsis dimension" if len(label) > 1 else "label"
                message = f"the {kind} {label} is {other} in operand {where} and {size} in operand"
                message += f" {number}"
                next_step = "give both the same size (1 broadcasts), or use two labels"
            if message:
                raise RangeError(message, span=span, next_step=next_step)
            if size != 1:
                found.setdefault(label, (size, number))


def join_interleaved(args: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """`(a, [0,1], b, [1,2], [0,2])` as `("AB,BC->AC", (a, b))`.

    0 to 25 become A to Z and 26 to 51 a to z, as in NumPy; higher ones further letters.
    """
    operands, lists = args[: len(args) // 2 * 2 : 2], args[1::2]
    if not operands:
        raise FormulaSyntaxError(
            "the call has neither subscripts nor an operand with a list of labels",
            next_step='call einsum("ij,jk", a, b) or einsum(a, [0, 1], b, [1, 2])',
        )
    text = ",".join(map(_join_labels, lists))
    if len(args) % 2:
        text += "->" + _join_labels(args[-1])
    return text, tuple(operands)


def _join_labels(labels: object) -> str:
    numbers: list[int | None] = []
    given = several(labels, MOST_DIMENSIONS)
    listed = given is not None and len(given) <= MOST_DIMENSIONS
    try:
        for label in given or ():
            numbers.append(None if label is Ellipsis else index(label))  # type: ignore[arg-type]
    except Exception:  # a TypeError, or whatever a number of the caller's raises
        listed = False
    if not listed or any(number is not None and not 0 <= number < LABELS for number in numbers):
        written = shown(labels, 81)
        raise FormulaSyntaxError(
            "not a list of labels",
            text=written if len(written) <= 80 else written[:77] + ELLIPSIS,
            next_step="in the interleaved form each operand is followed by a list of integers "
            "from 0 up, or Ellipsis",
        )
    return "".join(ELLIPSIS if n is None else label_letter(n) for n in numbers)


@lru_cache(maxsize=1024)
def label_letter(number: int) -> str:
    """The number-th label: A to Z, a to z, then the other letters in the order of Unicode."""
    if number < 52:
        return chr(ord("A") + number if number < 26 else ord("a") + number - 26)
    return next(islice((chr(c) for c in count(128) if chr(c).isalpha()), number - 52, None))
