"""A scope as text of a length that grows with the expression, not with what it would be as a tree.

    T1 = {L[i:0:100] X[i]^2 + X[i]}
    T2 = {L[i:0:100] T1[i]^2 + T1[i]}
    {L[i:0:100] T2[i]^2 + T2[i]}

Each line but the last names a scope that later lines read.  Where the scope with all that it reads
is short when it is written out, it is the only line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count

from einderive.ta.ir.names import RESERVED, Namer
from einderive.ta.ir.node import Node, Scope, Source, Tensor
from einderive.ta.ir.program import Hints
from einderive.ta.ir.subst import stages
from einderive.ta.notation.parse import parse_expression
from einderive.ta.printing.printer import NO_HINTS, Printer
from einderive.ta.printing.show import show, tensors_of
from einderive.ta.printing.written import nested_length
from einderive.ta.refusals import misgiven
from einderive.ta.syntax.layout import nesting

MOST_INLINE = 100
"""A scope of at most this many reads and constants is written without definitions, .."""
MOST_BRACKETS = 30
""".. where no more brackets than these stand within each other."""

_DEFINITION = re.compile(r"(\w+) = (\{.*)")


def show_defined(scope: Scope, *, hints: Hints = NO_HINTS) -> str:
    """The text of the scope; `parse_defined` of it is the scope."""
    nested = stages(scope)[:-1]
    if not nested or nested_length(scope) <= MOST_INLINE:
        text = show(scope, hints=hints)
        if not nested or nesting(text) <= MOST_BRACKETS:
            return text
    taken = tensors_of(scope).keys() | set(hints.values()) | RESERVED
    fresh = (name for name in (f"T{number}" for number in count(1)) if name not in taken)
    names = dict(zip(nested, fresh, strict=False))
    excluded = frozenset(tensors_of(scope)) | frozenset(names.values())
    printer = Printer(Namer(excluded), hints, named=names)
    lines = [f"{names[each]} = {printer.scope(each, (), frozenset())}" for each in nested]
    return "\n".join([*lines, printer.scope(scope, (), frozenset())])


def parse_defined(text: str, tensors: Mapping[str, Tensor]) -> Node:
    """The scope or term of the last line of the text.  TextError if a line cannot be read."""
    known: dict[str, Source] = dict(tensors)
    *definitions, last = text.split("\n")
    for line in definitions:
        found = _DEFINITION.fullmatch(line)
        if found is None:
            raise misgiven("line-without-definition", line)
        name, given = found.groups()
        if name in known or name in RESERVED:
            raise misgiven("definition-name-in-use", line, name=name)
        scope = parse_expression(given, known)
        if not isinstance(scope, Scope):
            raise misgiven("definition-of-no-scope", line, name=name)
        known[name] = scope
    return parse_expression(last, known)
