"""Stages that are a definition written out, as the one function of torch that computes it.

    mean[k](x)    =  sum[k](x)/size(k)                                      torch.mean(x, -1)
    any[k](x)     =  sum[k](x != 0) != 0                                    torch.any(x != 0, -1)

`ta.definitions` has both sides; definitions with several reductions are in `nested`.  A stage is a
definition of x if the definition, written out for x, is that stage.  Any expression of the stage
that holds all of its iterators may be x.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from einderive.frontend.baselines.writing.kinds import Kind
from einderive.frontend.baselines.writing.scalars import Scalars
from einderive.frontend.baselines.writing.views import axis_words
from einderive.frontend.baselines.writing.writer import Recogniser, Writer, Written, grouped
from einderive.ta.definitions import DEFINITIONS
from einderive.ta.definitions.data import Definition
from einderive.ta.errors import EinderiveError
from einderive.ta.given.complex_values import may_be_complex
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Apply, Node, Scope
from einderive.ta.ir.subst import accesses, rebuild, stages, substitute, walk
from einderive.ta.notation.parse import parse

MOST_OPERANDS = 8
"""At most this many expressions are tried as x."""
CORRECTIONS = ("0", "1")
"""The values of `ddof` that are tried."""
X = "x"


class Form(NamedTuple):
    """A definition with values of its options, and its call of torch in x and axis."""

    name: str
    options: str
    call: str
    truth: bool
    """Whether it tests its operand for being other than 0."""


def _forms(known: Definition) -> Iterator[Form]:
    options = [name for name, default in known.operands.items() if default]
    truth = f"{X} != 0" in known.torch
    call = known.torch.replace(f"{X} != 0", X)
    for value in CORRECTIONS if options == ["ddof"] else ("",):
        given = f", ddof={value}" if value else ""
        yield Form(known.name, given, re.sub(r"\bddof\b", value, call), truth)


FORMS = tuple(
    form
    for known in DEFINITIONS.values()
    if known.binder and known.torch and not known.free
    for form in _forms(known)
)


def recognise(scope: Scope, writer: Writer) -> Written | None:
    return recognised(scope, writer, lambda form: not is_nested(form))


def recognised(scope: Scope, writer: Writer, among: Callable[[Form], bool]) -> Written | None:
    """The line of the first of these definitions that the stage is."""
    if scope.empty or any(bound.lo for bound in scope.loops):
        return None
    outline = _outline(scope)
    for sums, operand in islice(dict.fromkeys(_operands(scope)), MOST_OPERANDS):
        if any(bound.lo for bound in sums):
            continue
        for form in filter(among, FORMS):
            if not _may_be(form, outline, len(scope.loops), len(sums)):
                continue
            pattern = _pattern(form, scope.loops, sums, may_be_complex(operand))
            if pattern is not None and _written_out(pattern, operand) is scope:
                return _call(form, scope, sums, operand, writer)
    return None


def _call(
    form: Form, scope: Scope, sums: Sequence[Range], operand: Node, writer: Writer
) -> Written:
    domain = (*scope.loops, *sums)
    kind = writer.kinds.of(operand)
    keeps = writer.kinds.of(scope) is not Kind.FLOAT
    inner = Scalars(domain, range(len(domain)), writer, kind if keeps else Kind.FLOAT)
    text = inner.text(operand)
    if form.truth and kind is not Kind.TRUTH:
        text = f"{grouped(text)} != 0"
    axes = tuple(range(-len(sums), 0))
    names = {X: text, "axis": axis_words(axes)}
    call = re.sub(r"\b(x|axis)\b", lambda found: names[found[0]], form.call)
    return Written(call, form.name)


class Outline(NamedTuple):
    """The features of a stage that are seen at once: its outermost operation, unless it is a
    reduction itself, and the reductions of the stage and of those that it reads, with their
    numbers."""

    head: tuple[object, ...]
    reductions: Counter[tuple[str, int]]


def _outline(scope: Scope) -> Outline:
    body, head = scope.body, tuple[object, ...]()
    if not scope.sums:
        head = type(body), body.function if isinstance(body, Apply) else ""
    read = stages(scope)
    return Outline(head, Counter((one.reducer, len(one.sums)) for one in read if one.sums))


def _may_be(form: Form, outline: Outline, loops: int, sums: int) -> bool:
    known = _outline_of(form, min(loops, 1), sums)  # which more loops leave as it is
    if known is None or known.head != outline.head:
        return False
    return known.reductions <= outline.reductions


@lru_cache(maxsize=1024)
def _outline_of(form: Form, loops: int, sums: int) -> Outline | None:
    """The outline of the definition, for any x."""
    pattern = _pattern(form, (Range(0, 3),) * loops, (Range(0, 5),) * sums)
    return None if pattern is None else _outline(pattern)


@cache
def is_nested(form: Form) -> bool:
    """Whether the definition has several reductions (`nested`)."""
    known = _outline_of(form, 1, 1)
    return known is not None and known.reductions.total() > 1


@lru_cache(maxsize=1024)
def _pattern(
    form: Form, loops: tuple[Range, ...], sums: tuple[Range, ...], is_complex: bool = False
) -> Scope | None:
    """The definition of a tensor x over these ranges; None where it is of one iterator only."""
    outer = [f"i{number}" for number in range(len(loops))]
    inner = [f"k{number}" for number in range(len(sums))]
    read = f"{X}[{','.join([*outer, *inner])}]"
    text = f"Y[{','.join(outer)}]" if outer else "Y"
    text += f" = {form.name}[{','.join(inner)}]({read}{form.options})"
    try:
        shape = tuple(r.extent for r in (*loops, *sums))
        (root,) = parse(text, {X: shape}, "complex64" if is_complex else "float32").roots()
    except EinderiveError:
        return None
    return root


def _operands(scope: Scope) -> Iterator[tuple[tuple[Range, ...], Node]]:
    """The candidates for x: the ranges that are reduced, and an expression of the loops and of
    these, the largest first."""
    loops = len(scope.loops)
    pending: list[tuple[Scope, Sequence[Row]]] = [(scope, affine.iterator_rows(loops))]
    for stage, rows in pending:
        own = [affine.iterator(loops + number) for number in range(len(stage.sums))]
        body = substitute(stage.body, [*rows, *own])
        if stage.sums:
            whole = (1 << loops + len(stage.sums)) - 1
            yield from ((stage.sums, part) for part in walk(body) if part.free == whole)
        for read in accesses(body):
            if isinstance(read.source, Scope) and not read.free >> loops:
                pending.append((read.source, read.rows))


def _written_out(pattern: Scope, operand: Node) -> Scope:
    """The pattern with the expression in the place of x."""
    done: dict[Scope, Scope] = {}

    def redirect(access: Access) -> Node:
        if isinstance(access.source, Scope):
            return expr.access(done[access.source], access.rows, access.fill)
        return substitute(operand, access.rows) if access.source.name == X else access

    for stage in stages(pattern):
        body = rebuild(stage.body, redirect)
        done[stage] = make_scope(stage.loops, stage.sums, body, stage.reducer)
    return done[pattern]


DEFINED = Recogniser(recognise, all_kinds=True)
