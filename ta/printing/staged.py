"""A nest of scopes as a program of named statements, one for each stage.

{L[i] S[j] {L[i,j] f}[i,j]}     ->      T1[i,j] = f ;  Y[i] = T1[i,j]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import count
from types import MappingProxyType

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.names import RESERVED, pool
from einderive.ta.ir.node import Access, Node, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.program import Hints, Program, Statement
from einderive.ta.ir.subst import accesses, rebuild, stages, substitute


def staged_program(
    outputs: Sequence[Statement],
    roots: Sequence[Scope],
    inputs: Sequence[Tensor],
    hints: Hints,
    given: Mapping[Scope, Statement] = MappingProxyType({}),
    nested: Set[Scope] = frozenset(),
) -> Program:
    """The program whose statements are the stages of `roots`; the outputs keep their names, and so
    do the stages in `given`.  The stages in `nested` stay within the statements that read them.

    A stage whose loops do not begin at 0 becomes a tensor that does, its readers' rows shifted."""
    named = (*outputs, *given.values())
    taken = {tensor.name for tensor in inputs} | {each.name for each in named} | RESERVED
    fresh = (name for name in (f"T{number}" for number in count(1)) if name not in taken)
    names: dict[Scope, Statement] = {}
    for root, output in zip(roots, outputs, strict=True):
        names.setdefault(root, output)
    for scope, statement in given.items():
        names.setdefault(scope, statement)
    tensors: dict[Scope, Source] = {}
    known_hints = dict(hints)
    statements: list[Statement] = []
    dtype = inputs[0].dtype if inputs else "float32"
    for stage in stages(*roots):
        if stage in nested:
            tensors[stage] = redirected(stage, tensors)
            continue
        scope = from_zero(stage, tensors)
        if stage in names:
            made = replace(names[stage], scope=scope)
            if not _is_typed(made, {*inputs, *statements}):
                made = replace(made, typed=None)
        else:
            made = Statement(next(fresh), scope, _loop_names(scope, known_hints, taken))
        tensors[stage] = expr.tensor(made.name, scope.shape, dtype)
        known_hints |= {(made.name, d): loop for d, loop in enumerate(made.loop_names)}
        statements.append(made)
    for root, output in zip(roots, outputs, strict=True):
        if names[root] is not output:  # two outputs that turned out to be the same expression
            rows = [affine.iterator(i) for i in range(len(root.loops))]
            same = make_scope(root.loops, (), expr.access(tensors[root], rows))
            statements.append(replace(output, scope=same, typed=None))
    kept = {output.name for output in outputs}
    output_names = tuple(statement.name for statement in statements if statement.name in kept)
    return Program(tuple(inputs), tuple(statements), known_hints, output_names)


def _is_typed(statement: Statement, known: Set[Tensor | Statement]) -> bool:
    """Whether the scope that says its element type has its loops, and reads these tensors alone."""
    typed = statement.typed
    if typed is None or typed.loops != statement.scope.loops:
        return False
    read = {source.name for stage in stages(typed) for source in _tensors(stage)}
    return read <= {each.name for each in known}


def _tensors(stage: Scope) -> Iterator[Tensor]:
    """The tensors that the stage reads, without that of its iterators."""
    found = (access.source for access in accesses(stage.body))
    return (source for source in found if isinstance(source, Tensor) and source is not INDEX)


def redirected(stage: Scope, sources: Mapping[Scope, Source]) -> Scope:
    """The stage reading named tensors, whose ranges begin at 0, or the scopes that stand for
    others."""

    def redirect(access: Access) -> Node:
        if isinstance(access.source, Tensor):
            return access
        source = sources[access.source]
        rows: Sequence[Row] = access.rows
        if isinstance(source, Tensor):
            rows = [
                affine.shift(row, -bound.lo)
                for row, bound in zip(rows, access.source.loops, strict=True)
            ]
        return expr.access(source, rows, access.fill)

    return make_scope(stage.loops, stage.sums, rebuild(stage.body, redirect), stage.reducer)


def from_zero(stage: Scope, sources: Mapping[Scope, Source]) -> Scope:
    """The stage reading named tensors, its loops shifted to begin at 0 (outputs do already)."""
    stage = redirected(stage, sources)
    if not any(bound.lo for bound in stage.loops):
        return stage
    moved = [affine.shift(affine.iterator(i), r.lo) for i, r in enumerate(stage.domain)]
    moved[len(stage.loops) :] = map(affine.iterator, range(len(stage.loops), len(moved)))
    body = substitute(stage.body, moved)
    return make_scope([(0, r.extent) for r in stage.loops], stage.sums, body, stage.reducer)


def _loop_names(scope: Scope, hints: Hints, taken: set[str]) -> tuple[str, ...]:
    """The names of the loops: those of the source text where they stand alone, else fresh ones."""
    chosen: list[str] = []
    for position in range(len(scope.loops)):
        wanted = [name for name in hinted(scope, position, hints) if name not in chosen]
        free = (name for name in pool(frozenset(chosen) | taken | set(hints.values())))
        chosen.append(wanted[0] if wanted else next(free))
    return tuple(chosen)


def hinted(scope: Scope, position: int, hints: Hints) -> Iterator[str]:
    """The names that a loop has in the source text, where it stands alone."""
    for access in accesses(scope.body):
        if isinstance(access.source, Tensor):
            for dimension, row in enumerate(access.rows):
                name = hints.get((access.source.name, dimension))
                if row.lone == position and name is not None:
                    yield name
