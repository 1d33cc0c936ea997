"""Calls whose gradient reads the formula's results, as torch's tanh and exp read theirs.

    Y[i] = tanh(X[i])       dX[i] = dY[i]*(1 - Y[i]^2)       kept for the backward pass: Y, and no X

As in torch, Y may not be changed in place before the backward pass; so this is a way only where the
first plain line under torch's autograd keeps its results too, or all of them do.
"""

from __future__ import annotations

import torch

from einderive.frontend.accuracy.accept_integers import output_types
from einderive.frontend.autograd.part import Part
from einderive.frontend.autograd.related import Related
from einderive.frontend.training.proposing import bytes_of, fresh_names, reading_program
from einderive.frontend.training.saving import Saving
from einderive.ta.gradients.program import floating_type
from einderive.ta.gradients.saved import is_gradient, reading, reads
from einderive.ta.ir import expr
from einderive.ta.ir.node import Scope, Tensor


def by_results(related: Related, part: Part, most: int) -> Saving | None:
    """The way that keeps results and at most this many bytes in all, compiled; None if the gradient
    does not read one, or if it then keeps more."""
    program = related.program
    kept = _kept(related, part)
    if not kept:
        return None
    gradient = part.program.roots()
    found = reading(gradient, kept)
    if not is_gradient(found, gradient, kept):
        return None
    made, operands = reading_program(program, part, found, kept)
    if bytes_of([*(program.inputs[place] for place in operands), *kept.values()]) > most:
        return None
    roots = program.roots()
    places = tuple(roots.index(scope) for scope in kept)
    every = tuple(range(len(roots)))
    names = [tensor.name for tensor in kept.values()]
    function = related.compiled(made, ("by results", part.results, *names))
    return Saving(related, related, part, function, operands, operands, every, places, most)


def _kept(related: Related, part: Part) -> dict[Scope, Tensor]:
    """The results that the gradient reads, and tensors in their places."""
    program, gradient = related.program, part.program.roots()
    kept: dict[Scope, Tensor] = {}
    fresh = fresh_names(program, part, kept)
    types = output_types(program)
    for place, (root, dtype) in enumerate(zip(program.roots(), types, strict=True)):
        if not related.floating[place] or not root.loops or any(loop.lo for loop in root.loops):
            continue
        tensor = expr.tensor(next(fresh), root.shape, floating_type(root))
        stated = getattr(torch, tensor.dtype) is dtype
        if stated and reads(reading(gradient, {**kept, root: tensor}), tensor):
            kept[root] = tensor
    found = reading(gradient, kept)
    return {root: tensor for root, tensor in kept.items() if reads(found, tensor)}
