"""Nodes and programs as text, ASCII or Unicode, that parses back to the same objects.

    show(scope)            {L[i:0:64] S[k:0:32] A[i,k]*x[k]}
    show_program(program)  Y[i] = A[i,k]*x[k]

A node's text is explicit and closed.  A statement is spelled as short as possible: candidates run
from the Einstein convention over explicit reducers to nested scopes, and each is read back before
it is used.  A clause states only those ranges that the tensors' shapes do not give.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from einderive.ta.errors import TextError
from einderive.ta.given.whole_values import NO_INTEGER, whole_kind
from einderive.ta.ir.affine import Range
from einderive.ta.ir.names import RESERVED, Namer, pool
from einderive.ta.ir.node import Node, Scope, Tensor
from einderive.ta.ir.positions import is_input
from einderive.ta.ir.program import Hints, Program, Statement
from einderive.ta.ir.subst import producers, sources
from einderive.ta.notation.einstein import make_explicit
from einderive.ta.notation.ranges import lone_iterators
from einderive.ta.notation.resolve import iterators_of, resolved
from einderive.ta.notation.statement import ranges_of_reads, statement_to_scope
from einderive.ta.printing.assumed import ASCII, UNICODE, assumed_line
from einderive.ta.printing.printer import NO_HINTS, Frame, Printer, Style, implies_sum
from einderive.ta.printing.written import nested_length
from einderive.ta.refusals import NotationError
from einderive.ta.syntax.reader import read_program
from einderive.ta.syntax.tree import Name
from einderive.ta.syntax.walks import iterator_names

_SPELLINGS: tuple[tuple[Style, bool], ...] = (
    ("einstein", False),
    ("einstein", True),
    ("reducers", False),
    ("scopes", False),
)
"""The style, and whether every summed name is used once only."""
_WORD = re.compile(r"\w+")


MOST_SHOWN = 160
"""A longer text of a stage is left out where another one reads it."""


def show(
    node: Node,
    *,
    unicode: bool = False,
    names: Sequence[str] = (),
    hints: Hints = NO_HINTS,
    named: Mapping[Scope, str] = MappingProxyType({}),
) -> str:
    """The text of a node; `parse_expression` of it is the node.

    `names` are those of the scope's loops, or of the free iterators of a scalar, by position;
    a scope that is `named` is not written out where it is read.
    """
    excluded = frozenset(tensors_of(node))
    printer = Printer(Namer(excluded), hints, unicode=unicode, named=named)
    if isinstance(node, Tensor):
        return node.name
    if isinstance(node, Scope):
        return printer.scope(node, names, frozenset())
    generic = tuple(names) or tuple(islice(pool(RESERVED | excluded), node.free.bit_length()))
    frame = Frame(generic, (Range(0, 0),) * len(generic), frozenset(generic), implicit=False)
    return printer.scalar(node, frame)[0]


def tensors_of(node: Node) -> dict[str, Tensor]:
    """All tensors an expression reads, also inside nested scopes, by name."""
    nested = (source for stage in producers(node) for source in sources(stage.body))
    read = (*sources(node), *nested)
    return {s.name: s for s in read if isinstance(s, Tensor) and is_input(s)}


def without_long(node: Node, most: int = MOST_SHOWN) -> dict[Scope, str]:
    """The name `…` for each stage that the node reads and whose text has more than `most`
    characters: the text doubles with each stage that reads the one before twice."""
    return {stage: "…" for stage in producers(node) if nested_length(stage) > most}


def show_stage(stage: Scope) -> str:
    """The text of a stage, with `…` in the place of long stages that it reads."""
    return show(stage, named=without_long(stage.body))


def show_program(program: Program, *, unicode: bool = False) -> str:
    """The statements of a program, one in each line."""
    excluded = frozenset(t.name for t in program.inputs)
    excluded |= {statement.name for statement in program.statements}
    lines = [show_statement(s, program.hints, excluded, unicode) for s in program.statements]
    read = {name for s in program.statements for name in tensors_of(s.scope)}
    for place, s in enumerate(program.statements):
        if s.name in program.output_names and s.name in read:
            lines[place] = f"out {lines[place]}"
    assumed = assumed_line(program, UNICODE if unicode else ASCII)
    return "\n".join([assumed, *lines] if assumed else lines)


def show_statement(
    statement: Statement, hints: Hints, excluded: frozenset[str], unicode: bool = False
) -> str:
    """`Y[i] = A[i,k]*x[k+1] where k in 0:3`."""
    return _shortest(statement, frozenset(hints.items()), excluded, unicode)


@lru_cache(maxsize=256)  # a report and a page show the same statements again and again
def _shortest(
    statement: Statement,
    hinted: frozenset[tuple[tuple[str, int], str]],
    excluded: frozenset[str],
    unicode: bool,
) -> str:
    hints, tensors = dict(hinted), tensors_of(statement.scope)
    excluded |= tensors.keys()
    text = ""
    for style, unique in _SPELLINGS:
        namer = Namer(excluded, unique=unique)
        printer = Printer(namer, hints, unicode=unicode, style=style)
        text = _spell(statement, printer, tensors)
        if _reads_back(text, statement.scope, tensors):
            return text
    return text


def _spell(statement: Statement, printer: Printer, tensors: Mapping[str, Tensor]) -> str:
    scope = statement.scope
    names = printer.names_of(scope, statement.loop_names, frozenset())
    first = len(scope.loops)
    left = f"{statement.name}[{','.join(names[:first])}]" if first else statement.name
    frame = Frame(names, scope.domain, frozenset(names))
    body, _ = printer.scalar(scope.body, frame)
    if scope.sums and not (printer.style == "einstein" and implies_sum(scope)):
        body = f"{scope.reducer}[{','.join(names[first:])}]({body})"
    ranges = dict(zip(names, scope.domain, strict=True))
    if statement.typed is not None:
        used = {*_WORD.findall(body), *names, *tensors, statement.name}
        one = next(pool(RESERVED | used))
        body, ranges[one] = _of_one(body, one, statement.typed), Range(0, 1)
    text = f"{left} = {body}"
    clause = _clause(text, ranges, printer.namer, tensors)
    return f"{text} where {clause}" if clause else text


def _of_one(body: str, name: str, typed: Scope) -> str:
    """The sum over one element, or their mean, which has the type of all sums, or means."""
    if whole_kind(typed) == NO_INTEGER:
        return f"sum[{name}](({body})/size({name}))"
    return f"sum[{name}]({body})"


def _clause(
    text: str, outer: Mapping[str, Range], namer: Namer, tensors: Mapping[str, Tensor]
) -> str:
    """The ranges that the text's reads do not give, or give otherwise."""
    try:
        statement = read_program(text)[0]
    except NotationError:  # nested too deeply to be read; the loops' ranges are stated all the same
        return ", ".join(f"{name} in {bound.lo}:{bound.hi}" for name, bound in outer.items())
    loops = [index for index in statement.indices if isinstance(index, Name)]
    try:
        names = {loop.name for loop in loops}
        used = iterators_of(statement.value) | names
        value = make_explicit(resolved(statement.value, tensors.keys(), used), names)
    except NotationError:  # this spelling fails, and reading it back will tell
        return ""
    known: dict[str, set[Range]] = {}
    for lone in lone_iterators(value, ranges_of_reads(tensors)):
        known.setdefault(lone.name, set()).add(lone.range)
    ranges = {**namer.ranges, **outer}
    named = dict.fromkeys(name.name for name in (*loops, *iterator_names(value, bound=True)))
    return ", ".join(
        f"{name} in {ranges[name].lo}:{ranges[name].hi}"
        for name in named
        if known.get(name) != {ranges[name]}
    )


def _reads_back(text: str, scope: Scope, tensors: Mapping[str, Tensor]) -> bool:
    try:
        found, *_ = statement_to_scope(read_program(text)[0], tensors)
    except (NotationError, TextError, ValueError):
        return False
    return found is scope
