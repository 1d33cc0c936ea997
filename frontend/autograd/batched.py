"""A formula over a batch: some tensors have one dimension more, the first.

batched("Y[i] = A[i,k]*x[k]", {x}, 8)  =  "Y[b,i] = A[i,k]*x[b,k]",  b in 0:8

A statement that depends on no tensor of the batch stays as it is, and is computed once.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Range
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.names import pool
from einderive.ta.ir.node import Access, Condition, Node, Scope, Source, Tensor
from einderive.ta.ir.positions import INDEX
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import rebuild, sources, stages


def batched(program: Program, names: Set[str], size: int) -> tuple[Program, frozenset[str]]:
    """The program in which the tensors `names` have a first dimension of this size, and the names
    of all tensors and statements that have it."""
    found: dict[str, Tensor] = {}
    for tensor in program.inputs:
        if tensor.name in names:
            shape = (size, *tensor.shape)
            found[tensor.name] = expr.tensor(tensor.name, shape, tensor.dtype, tensor.bounds)
    inputs = tuple(found.get(tensor.name, tensor) for tensor in program.inputs)
    loop = next(pool(frozenset(_iterator_names(program))))
    statements: list[Statement] = []
    for statement in program.statements:
        scope = _scope(statement.scope, found, size)
        if scope is not statement.scope:
            statement = replace(statement, scope=scope, loop_names=(loop, *statement.loop_names))
            found[statement.name] = expr.tensor(statement.name, scope.shape, _type(program))
        statements.append(statement)
    hints = {
        (name, _moved(place) if name in found else place): iterator
        for (name, place), iterator in program.hints.items()
    }
    hints |= {(name, 0): loop for name in found}
    made = replace(program, inputs=inputs, statements=tuple(statements), hints=hints)
    return made, frozenset(found)


def _iterator_names(program: Program) -> set[str]:
    """Names that the batch's iterator must not have."""
    taken = {tensor.name for tensor in program.inputs} | set(program.hints.values())
    for statement in program.statements:
        taken |= {statement.name, *statement.loop_names}
    return taken


def _type(program: Program) -> str:
    return program.inputs[0].dtype if program.inputs else "float32"


def _moved(place: int) -> int:
    """The place of a dimension, or `~place`, after a dimension was put before it."""
    return place + 1 if place >= 0 else place - 1


def _scope(root: Scope, found: dict[str, Tensor], size: int) -> Scope:
    """The scope over the batch; itself if it reads nothing of the batch."""
    done: dict[Scope, Scope] = {}

    def new(source: Source) -> Source:
        return done[source] if isinstance(source, Scope) else found.get(source.name, source)

    for stage in stages(root):
        if all(new(source) is source for source in sources(stage.body)):
            done[stage] = stage
            continue
        shifted = [affine.iterator(place + 1) for place in range(len(stage.domain))]

        def on_access(access: Access, shifted: list[affine.Row] = shifted) -> Node:
            rows = [affine.substitute(row, shifted) for row in access.rows]
            if access.source is INDEX:
                return expr.position(rows[0])
            source = new(access.source)
            if source is not access.source:
                rows.insert(0, affine.iterator(0))
            return expr.access(source, rows, access.fill)

        def on_condition(condition: Condition, shifted: list[affine.Row] = shifted) -> Condition:
            return Condition(condition.relation, affine.substitute(condition.row, shifted))

        body = rebuild(stage.body, on_access, on_condition)
        done[stage] = make((Range(0, size), *stage.loops), stage.sums, body, stage.reducer)
    return done[root]
