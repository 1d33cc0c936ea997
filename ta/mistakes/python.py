"""Python, NumPy and torch: prefixes of modules, methods, conditional expressions, loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import kwlist

from einderive.ta.ir.names import KEYWORDS
from einderive.ta.mistakes.formula import Formula, indexed
from einderive.ta.mistakes.mistake import Correction, in_place

_METHOD = re.compile(
    r"(?P<object>\)|\]|\b[^\W\d]\w*)\s*\.\s*(?P<method>[^\W\d]\w*)\s*(?P<call>\()?"
)
_LENGTH = re.compile(r"\blen\(\s*(\w+)\s*\)|\b(\w+)\s*\.\s*shape\s*\[\s*(-?\d+)\s*\]")
_USED = "True False None is if else elif for while return"
_NO_ARGUMENTS = frozenset(kwlist) - KEYWORDS - {*_USED.split()}
"""Words of Python that are no part of a formula that is nearly in the notation."""


def _methods(formula: Formula) -> Iterator[Correction]:
    """`x.exp()` as `exp(x)`, `A.sum(1)` as `sum(A, 1)`."""
    for found in _METHOD.finditer(formula.text):
        start = formula.operand_before(found.end("object"))
        if start < 0:
            continue
        operand = formula.text[start : found.end("object")]
        if operand.isidentifier() and operand not in formula.shapes:
            continue  # a module's function
        if found["call"]:
            end = formula.closing(found.end() - 1)
            if end < 0:
                continue
            args = formula.text[found.end() : end - 1].strip()
            new = f"{found['method']}({operand}{', ' * bool(args)}{args})"
            yield Correction(((start, end, new),), (found.start("method"), found.end("method")))


def _parts(formula: Formula) -> Iterator[Correction]:
    """`Z[i].real`, `Z.imag` as `real(Z[i])`, `imag(Z)`."""
    for found in re.finditer(r"(\)|\]|\b[^\W\d]\w*)\s*\.\s*(real|imag)\b(?!\s*\()", formula.text):
        start = formula.operand_before(found.end(1))
        if start < 0:
            continue
        operand, line = formula.text[start : found.end(1)], formula.line_at(start)
        if (rank := formula.rank(operand)) is None:
            yield Correction(((start, found.end(), f"{found[2]}({operand})"),), found.span(2))
            continue
        names = line.left if len(line.left) == rank else formula.fresh(rank)
        read = indexed(operand, names)
        yield in_place(line, (start, found.end(), f"{found[2]}({read})"), names, found.span(2))


def _lengths(formula: Formula) -> Iterator[Correction]:
    """`len(x)`, `x.shape[0]`."""
    for found in _LENGTH.finditer(formula.text):
        shape = formula.shapes.get(found[1] or found[2], ())
        axis = int(found[3] or 0)
        if -len(shape) <= axis < len(shape):
            yield Correction(((*found.span(), str(shape[axis])),))


def _transposed_reads(formula: Formula) -> Iterator[Correction]:
    for found in re.finditer(r"\b([^\W\d]\w*)\s*\.\s*m?T\b(\s*\[([^\[\]]*)\])?", formula.text):
        line = formula.line_at(found.start())
        names = [name.strip() for name in (found[3] or "").split(",")]
        if not found[2]:
            names = list(line.left if len(line.left) == 2 else formula.fresh(2))
        turned = [*names[:-2], *names[-2:][::-1]]
        edit = (found.start(), found.end(), f"{found[1]}[{','.join(turned)}]")
        yield Correction((edit,)) if found[2] else in_place(line, edit, names)


def _functions_applied(formula: Formula) -> Iterator[Correction]:
    """`(lambda z: z^2)(y[i])` as `(y[i])^2`."""
    for found in re.finditer(r"\(\s*lambda\s+(\w+)\s*:", formula.text):
        end = formula.closing(found.start())
        if end > 0 and formula.text[end : end + 1] == "(":
            last = formula.closing(end)
            value = formula.text[found.end() : end - 1].strip()
            new = re.sub(rf"\b{found[1]}\b", lambda _: formula[(end, last)], value)  # noqa: B023
            if last > 0:
                yield Correction(((found.start(), last, f"({new})"),), found.span())


def _words_of_python(formula: Formula) -> Iterator[Correction]:
    """`lambda*x[i]` as `lambda_*x[i]`: no argument of Python has the name `lambda`."""
    for word in sorted(_NO_ARGUMENTS & {*re.findall(r"\w+", formula.text)}):
        places = re.finditer(rf"\b{word}\b", formula.text)
        yield Correction(tuple((*each.span(), f"{word}_") for each in places), new=f"{word}_")


_TYPES = r"float|double|half|bfloat16|type|to|cpu|cuda|numpy|copy|clone|contiguous|detach|item"
_CAST = re.compile(
    rf"(?P<as>\.astype\(\s*(?P<type>[\w.'\"]+)\s*\)|\.(?:{_TYPES})\([^()]*\))"
    r"|\b(?:float|double)(?=\()"
)


def _casts(formula: Formula) -> Iterator[Correction]:
    """`x[i].astype(np.float64)`, `x.float()`, `float(x[i])`: element types are given apart."""
    for found in _CAST.finditer(formula.text):
        if not re.search("int|bool", found["type"] or ""):
            yield Correction(((*found.span(), ""),))
            continue
        start = formula.operand_before(found.start())
        if start >= 0 and "int" in found["type"]:
            operand = formula.text[start : found.start()]
            yield Correction(((start, found.end(), f"trunc({operand})"),), found.span())
