"""Which values the forward pass may keep for the gradient.

    a scope    T[i,j] = sum[k](...)          where the gradient would compute it again
    a term     T[i,k] = X[i,k] - Z[i,k]      in the place of the operands X and Z, which are larger
               T[i] = X[i] < 1               a byte, in the place of a number

Terms stand for operands where these would take more bytes than may be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import torch

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.autograd.part import Part, Places
from einderive.ta.exact.interp import input_tensors
from einderive.ta.functions import FUNCTIONS
from einderive.ta.gradients.program import floating_type, is_continuous
from einderive.ta.gradients.saved import is_gradient, readable, reading, reads
from einderive.ta.ir import affine, expr
from einderive.ta.ir.canon import scope as make
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.names import pool
from einderive.ta.ir.node import Access, Apply, Node, Scope, Select, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import children, points_of, rename, stages, walk
from einderive.ta.printing.staged import staged_program

WORTH: Final = 0.9
"""Results are kept where the gradient then visits at most this part of the points."""
LEAST_POINTS: Final = 4
"""A scope is kept if that saves this many points for each of its elements."""
MOST_SCOPES: Final = 12
ANY_BYTES: Final = 1 << 62
"""No limit to what may be kept."""


class Proposal(NamedTuple):
    """The formula with the kept scopes as further outputs, and the gradient that reads them: its
    inputs are the operands at these places, the cotangents, and the kept tensors."""

    joint: Program
    gradient: Program
    operands: Places
    kept: Mapping[Scope, Tensor]
    terms: bool
    """Whether terms are kept in the place of operands."""


class Like(NamedTuple):
    """What was kept at another size: the names of its tensors, and whether there are terms."""

    names: frozenset[str]
    terms: bool


def proposal(program: Program, part: Part, most: int, like: Like | None = None) -> Proposal | None:
    """What may be kept in at most this many bytes, operands included; None if that is not worth it.
    With `like`, what was kept at another size.

    One scope after the other is kept: the one that saves the gradient the most points."""
    found = None
    if like is None or not like.terms:
        found = _kept(program, part, most, {}, like)
    if found is None and len(part.outputs) == 1 and (like is None or like.terms):
        terms = _instead(program, part)
        found = _kept(program, part, most, terms, like) if terms else None
    if found is None or like is None:
        return found
    return found if {tensor.name for tensor in found.kept.values()} == like.names else None


def bytes_of(tensors: Sequence[Tensor]) -> int:
    """The bytes of tensors together."""
    return sum(tensor.size * element_bytes(tensor) for tensor in tensors)


def _kept(
    program: Program,
    part: Part,
    most: int,
    terms: Mapping[Scope, Tensor],
    like: Like | None,
) -> Proposal | None:
    formula, gradient = program.roots(), part.program.roots()
    kept = dict(terms)
    found = reading(gradient, kept)

    def held(found: Sequence[Scope], kept: Iterable[Tensor]) -> int:
        return bytes_of([*_operands(program, found), *kept])

    least = held(found, kept.values())
    fresh = fresh_names(program, part, kept)
    left = {
        scope: expr.tensor(next(fresh), scope.shape, floating_type(scope))
        for scope in readable(formula, gradient)[:MOST_SCOPES]
        if scope not in formula
    }
    if like is not None:  # names follow the order of the scopes
        left = {scope: tensor for scope, tensor in left.items() if tensor.name in like.names}
    points = points_of(*found)
    while left:
        tried = {
            scope: reading(gradient, {**kept, scope: tensor}) for scope, tensor in left.items()
        }
        scope = min(tried, key=lambda one: points_of(*tried[one]))
        tensor, fewer = left.pop(scope), points_of(*tried[scope])
        if like is None and points - fewer < LEAST_POINTS * scope.size:
            break
        size = held(tried[scope], [*kept.values(), tensor])
        if size <= max(most, least):  # an operand that is no longer read may make room for others
            kept[scope], found, points, least = tensor, tried[scope], fewer, size
    kept = {scope: tensor for scope, tensor in kept.items() if reads(found, tensor)}
    worth = bool(terms or like) or points <= WORTH * points_of(*gradient)
    fits = held(found, kept.values()) <= most
    if not kept or not worth or not fits or not is_gradient(found, gradient, kept):
        return None
    joint = _joint(program, kept)
    stated = {output.name: t for output, t in zip(joint.outputs, output_types(joint), strict=True)}
    if any(stated[t.name] is not getattr(torch, t.dtype) for t in kept.values()):
        return None  # integers, say
    made, own = reading_program(program, part, found, kept)
    return Proposal(joint, made, own, kept, bool(terms))


def _instead(program: Program, part: Part) -> dict[Scope, Tensor]:
    """Terms that take fewer bytes than the operands that the gradient then no longer reads."""
    gradient = part.program.roots()
    kept: dict[Scope, Tensor] = {}
    fresh = fresh_names(program, part, kept)
    left = [*dict.fromkeys(_terms(program, gradient))][:MOST_SCOPES]
    least = bytes_of(_operands(program, gradient))
    while left:
        tried = {}
        for scope in left:
            tensor = expr.tensor("_", scope.shape, _type(scope))
            found = _operands(program, reading(gradient, {**kept, scope: tensor}))
            tried[scope] = bytes_of([*found, *kept.values(), tensor])
        best = min(tried, key=tried.__getitem__)
        if tried[best] >= least:
            break
        least = tried[best]
        left.remove(best)
        kept[best] = expr.tensor(next(fresh), best.shape, _type(best))
    return kept


def _type(scope: Scope) -> str:
    """The type of a kept term: truth values take a byte."""
    body = scope.body
    truth = isinstance(body, Apply) and FUNCTIONS[body.function].truth
    return "bool" if truth else floating_type(scope)


def _terms(program: Program, gradient: Sequence[Scope]) -> Iterator[Scope]:
    """The largest terms of the gradient that read operands of the formula alone, as scopes."""
    own = {tensor for tensor in program.inputs if is_continuous(tensor)}

    def inside(host: Scope, node: Node) -> Iterator[Scope]:
        if not children(node):
            return
        found = [*walk(node)]
        read = [one for one in found if isinstance(one, Access)]
        plain = not any(isinstance(one, Select) for one in found)
        if plain and read and all(one.source in own for one in read):
            used = sorted({i for one in read for row in one.rows for i in affine.iterators(row)})
            loops = [host.domain[i] for i in used]
            if loops and all(loop.lo == 0 for loop in loops):
                renamed = {i: place for place, i in enumerate(used)}
                order = [renamed.get(i, 0) for i in range(len(host.domain))]
                yield make(tuple(loops), (), rename(node, order))
                return
        for child in children(node):
            yield from inside(host, child)

    for host in stages(*gradient):
        yield from inside(host, host.body)


def _operands(program: Program, scopes: Sequence[Scope]) -> list[Tensor]:
    """The operands of the formula that the scopes read."""
    read = {*input_tensors(*scopes)}
    return [tensor for tensor in program.inputs if tensor in read]


def fresh_names(program: Program, part: Part, kept: Mapping[Scope, Tensor]) -> Iterator[str]:
    """Names for kept tensors."""
    names = {tensor.name for tensor in (*program.inputs, *part.program.inputs, *kept.values())}
    names |= {statement.name for statement in (*program.statements, *part.program.statements)}
    return (
        name for name in (f"kept_{each}" for each in pool(frozenset(names))) if name not in names
    )


def reading_program(
    program: Program, part: Part, found: Sequence[Scope], kept: Mapping[Scope, Tensor]
) -> tuple[Program, Places]:
    """The gradient that reads what is kept, and the places of the operands that it reads. Its
    inputs are these operands, the cotangents, and the kept tensors."""
    read = {*input_tensors(*found)}
    own = tuple(place for place, tensor in enumerate(program.inputs) if tensor in read)
    ordered = (*(program.inputs[place] for place in own), *part.seeds, *kept.values())
    outputs = [
        replace(output, scope=root)
        for output, root in zip(part.program.outputs, found, strict=True)
    ]
    made = staged_program(outputs, found, input_tensors(*found), part.program.hints)
    return replace(made, inputs=ordered), own


def _joint(program: Program, kept: dict[Scope, Tensor]) -> Program:
    """The formula with the kept scopes as further outputs."""
    scopes = program.inlined()
    outputs = [replace(output, scope=scopes[output.name]) for output in program.outputs]
    for scope, tensor in kept.items():
        loops = pool(frozenset(t.name for t in program.inputs))
        outputs.append(Statement(tensor.name, scope, tuple(next(loops) for _ in scope.loops)))
    roots = [output.scope for output in outputs]
    made = staged_program(outputs, roots, input_tensors(*roots), program.hints)
    return replace(made, inputs=program.inputs)
