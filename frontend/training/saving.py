"""Calls that keep intermediate results of the formula for the backward pass.

    forward     Y, T = joint(operands)           T: scopes of the formula that the gradient reads
    backward    dA = gradient(operands, dY, T)

The results T are outputs of a program of their own, so they lie in memory of their own, and nobody
else sees them.  With `create_graph=True` they have derivatives as any other output has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import torch
from torch.autograd import Function

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.autograd.node import zeros
from einderive.frontend.autograd.related import Part, Places, Related
from einderive.ta.exact.interp import input_tensors
from einderive.ta.gradients.program import floating_type
from einderive.ta.gradients.saved import is_gradient, readable, reading, reads
from einderive.ta.ir import expr
from einderive.ta.ir.element import element_bytes
from einderive.ta.ir.names import pool
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program, Statement
from einderive.ta.ir.subst import points_of
from einderive.ta.printing.staged import staged_program

WORTH: Final = 0.9
"""Results are kept where the gradient then visits at most this part of the points."""
LEAST_POINTS: Final = 4
"""A scope is kept if that saves so many points for each of its elements."""
MOST_SCOPES: Final = 12


class Proposal(NamedTuple):
    """The formula with the kept scopes as further outputs, and the gradient that reads them: its
    inputs are the operands at these places, the cotangents, and the kept tensors."""

    joint: Program
    gradient: Program
    operands: Places
    kept: tuple[Tensor, ...]


def proposal(program: Program, part: Part, most: int) -> Proposal | None:
    """What may be kept in at most so many bytes besides operands; None if that is not worth it.

    One scope after the other is kept: the one that saves the gradient the most points."""
    formula, gradient = program.roots(), part.program.roots()
    names = {tensor.name for tensor in (*program.inputs, *part.program.inputs)}
    names |= {statement.name for statement in (*program.statements, *part.program.statements)}
    fresh = (f"kept_{name}" for name in pool(frozenset(names)))
    left = {
        scope: expr.tensor(next(fresh), scope.shape, floating_type(scope))
        for scope in readable(formula, gradient)[:MOST_SCOPES]
        if scope not in formula
    }
    kept: dict[Scope, Tensor] = {}
    found, points = gradient, points_of(*gradient)
    while left:
        tried = {
            scope: reading(gradient, {**kept, scope: tensor}) for scope, tensor in left.items()
        }
        scope = min(tried, key=lambda one: points_of(*tried[one]))
        tensor, fewer = left.pop(scope), points_of(*tried[scope])
        if points - fewer < LEAST_POINTS * scope.size:
            break
        size = tensor.size * element_bytes(tensor)
        if size <= most:
            kept[scope], found, points = tensor, tried[scope], fewer
            most -= size
    kept = {scope: tensor for scope, tensor in kept.items() if reads(found, tensor)}
    worth = points <= WORTH * points_of(*gradient)
    if not kept or not worth or not is_gradient(found, gradient, kept):
        return None
    joint = _joint(program, kept)
    stated = {output.name: t for output, t in zip(joint.outputs, output_types(joint), strict=True)}
    if any(stated[t.name] is not getattr(torch, t.dtype) for t in kept.values()):
        return None  # integers, say
    made, own = reading_program(program, part, found, kept)
    return Proposal(joint, made, own, tuple(kept.values()))


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


@dataclass(frozen=True)
class Saving:
    """A way to record a call.  `function` gives the gradient by the operands that `part` gives it
    by; `held` are the places of all operands that are kept, also for derivatives of derivatives.
    `results` and `kept` are the places of the formula's outputs and of the kept scopes among those
    of the joint program."""

    related: Related
    joint: Related
    part: Part
    function: Callable[..., Any]
    operands: Places
    held: Places
    results: Places
    kept: Places
    most: int
    """The bytes that may be kept in all."""

    @property
    def reads_results(self) -> bool:
        """Whether what is kept are the formula's own results."""
        return self.joint is self.related

    def __call__(self, *operands: torch.Tensor) -> Any:
        apply: Callable[..., Any] = super(Function, Kept).apply  # as in `node.by_node`
        found = apply(self, *operands)
        results = tuple([found[place] for place in self.results])
        return results[0] if len(results) == 1 else results


def saving(related: Related, part: Part, most: int) -> Saving | None:
    """The way that keeps at most so many bytes in all, compiled; None if there is none."""
    program = related.program
    wrt = part.results
    sizes = [tensor.size * element_bytes(tensor) for tensor in program.inputs]
    found = proposal(program, part, most - sum(sizes[place] for place in part.operands))
    if found is None:
        return None
    joint = Related(found.joint, lambda *operands: call(*operands), related.compiled)
    outputs = tuple(place for place, floating in enumerate(joint.floating) if floating)
    whole = joint.gradient(wrt, outputs)
    held = tuple(sorted({*found.operands, *(whole.operands if whole is not None else ())}))
    kept = sum(t.size * element_bytes(t) for t in found.kept)
    if kept + sum(sizes[place] for place in held) > most:
        return None
    call = related.compiled(found.joint)
    function = related.compiled(found.gradient)
    names = [output.name for output in found.joint.outputs]
    own = tuple(names.index(output.name) for output in program.outputs)
    more = tuple(names.index(tensor.name) for tensor in found.kept)
    return Saving(related, joint, part, function, found.operands, held, own, more, most)


class Kept(Function):
    """The differentiable call of a formula and the results that are kept."""

    @staticmethod
    def forward(ctx: Any, way: Saving, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results = way.joint.call(*operands)
        results = results if isinstance(results, tuple) else (results,)
        found = tuple(y.data if y._is_view() else y for y in results)
        ctx.way = way
        ctx.set_materialize_grads(way.reads_results)  # its gradient is one of all results alone
        floating = zip(found, way.joint.floating, strict=True)
        ctx.mark_non_differentiable(*(y for y, real in floating if not real))
        kept = [found[place] for place in way.kept]
        ctx.save_for_backward(*(operands[place] for place in way.held), *kept)
        return found

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        way: Saving = ctx.way
        wrt = tuple(p for p, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
        real = way.joint.floating
        given = tuple(p for p, seed in enumerate(cotangents) if seed is not None and real[p])
        saved = ctx.saved_tensors
        operands = dict(zip(way.held, saved, strict=False))
        found: list[torch.Tensor | None] = [None] * len(ctx.needs_input_grad)
        part: Part | None = way.part
        seeds = [cotangents[way.results[place]] for place in way.part.outputs]
        if len(given) == len(seeds) and all(seed is not None for seed in seeds):
            values = [operands[place] for place in way.operands]
            results = way.function(*values, *seeds, *saved[len(way.held) :])
            results = results if isinstance(results, tuple) else (results,)
        elif (part := way.joint.gradient(wrt, given) if given else None) is not None:
            values = [operands[place] for place in part.operands]
            given_seeds: Any = (cotangents[place] for place in part.outputs)
            results = part(*values, *given_seeds)
        if part is not None:
            for place, result in zip(part.results, results, strict=True):
                found[place + 1] = result
        for place in way.joint.zeros(wrt, given) if wrt and given else ():
            if found[place + 1] is None:
                found[place + 1] = zeros(way.related, place, cotangents[given[0]])
        return tuple(found)
