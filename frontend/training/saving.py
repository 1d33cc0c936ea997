"""Calls that keep intermediate results of the formula for the backward pass.

    forward     Y, T = joint(operands)           T: values that the gradient reads (`proposing`)
    backward    dA = gradient(operands, dY, T)

The results T are outputs of a program of their own, so they lie in memory of their own, and nobody
else sees them.  With `create_graph=True` they have derivatives as any other output has:

    dA = gradient(operands, dY, T) + second(operands, dT, T)

where `second` is the gradient of T.  So only the operands that these two read are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.autograd import Function

from einderive.frontend.autograd.legacy import called
from einderive.frontend.autograd.part import Part, Places
from einderive.frontend.autograd.related import Related
from einderive.frontend.training.proposing import Like, bytes_of, proposal, reading_program
from einderive.ta.gradients.saved import reading
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.program import Program


@dataclass(frozen=True)
class Saving:
    """A way to record a call.  `function` gives the gradient by the operands that `part` gives it
    by, and reads those at the places `operands`; `held` are the places of all operands that are
    kept, also for derivatives of derivatives.  `results` and `kept` are the places of the formula's
    outputs and of what is kept among those of the joint program."""

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
    values: Mapping[Scope, Tensor] = field(default_factory=dict, compare=False)
    """What is kept, where the derivatives of the outputs and of what is kept are added."""
    terms: bool = False
    """Whether terms are kept in the place of operands."""

    @property
    def reads_results(self) -> bool:
        """Whether what is kept are the formula's own results."""
        return self.joint is self.related

    @property
    def like(self) -> Like:
        """What is kept, for another size."""
        outputs = self.joint.program.output_names
        return Like(frozenset(outputs[place] for place in self.kept), self.terms)

    def __call__(self, *operands: torch.Tensor) -> Any:
        apply: Callable[..., Any] = super(Function, Kept).apply  # as in `node.by_node`
        found = apply(self, *operands)
        results = tuple([found[place] for place in self.results])
        return results[0] if len(results) == 1 else results

    def second(self, wrt: Places, given: Places) -> tuple[Part, Callable[..., Any], Places] | None:
        """The gradient of what is kept at these places: whose operands it is by, as a function of
        those at some places, the cotangents and all that is kept."""
        part = self.joint.gradient(wrt, given)
        if part is None:
            return None
        made, operands = _second(self.joint.program, part, self.values)

        def compiled() -> Callable[..., Any]:
            return self.joint.compiled(made, ("second", wrt, given))

        return part, self.joint.once(("second", wrt, given), compiled), operands


def saving(related: Related, part: Part, most: int, *, like: Saving | None = None) -> Saving | None:
    """The way that keeps at most this many bytes in all, compiled; None if there is none.  With
    `like`, it keeps what that way keeps at another size."""
    program, wrt = related.program, part.results
    found = proposal(program, part, most, None if like is None else like.like)
    if found is None:
        return None

    def compiled(program: Program) -> Callable[..., Any]:
        return related.compiled(program, ("of", *found.joint.output_names, program.output_names))

    joint = Related(found.joint, lambda *operands: call(*operands), compiled)
    names = [output.name for output in found.joint.outputs]
    own = tuple(names.index(output.name) for output in program.outputs)
    more = tuple(names.index(tensor.name) for tensor in found.kept.values())
    values: Mapping[Scope, Tensor] = found.kept if len(part.outputs) == 1 else {}
    outputs = tuple(place for place, floating in enumerate(joint.floating) if floating)
    whole = joint.gradient(wrt, tuple(more) if values else outputs)
    read: Places = () if whole is None else whole.operands
    if values and whole is not None:
        read = _second(found.joint, whole, values)[1]
    held = tuple(sorted({*found.operands, *read}))
    kept = [*found.kept.values(), *(program.inputs[place] for place in held)]
    if bytes_of(kept) > most:
        return None
    call = related.compiled(found.joint, ("joint", wrt, *names))
    function = related.compiled(found.gradient, ("reading", wrt, *names))
    places = (found.operands, held, own, more)
    return Saving(related, joint, part, function, *places, most, values, found.terms)


def _second(joint: Program, part: Part, values: Mapping[Scope, Tensor]) -> tuple[Program, Places]:
    """The gradient of what is kept, reading what is kept, and the places of its operands."""
    found = reading(part.program.roots(), values)
    return reading_program(joint, part, found, values)


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
        kept = saved[len(way.held) :]
        found: dict[int, torch.Tensor] = {}
        seeds: list[Any] = [cotangents[way.results[place]] for place in way.part.outputs]
        whole = all(seed is not None for seed in seeds)
        if whole and (way.values or len(given) == len(seeds)):
            values = [operands[place] for place in way.operands]
            _add(found, way.part.results, called(way.function, [*values, *seeds, *kept]))
        elif not way.values:
            found = way.joint.slopes(wrt, cotangents, operands)
        more = tuple(place for place in given if place in way.kept) if way.values else ()
        if more and (second := way.second(wrt, more)) is not None:
            part, function, places = second
            values = [operands[place] for place in places]
            given_seeds: Any = (cotangents[place] for place in part.outputs)
            _add(found, part.results, called(function, [*values, *given_seeds, *kept]))
        if wrt and given:
            way.joint.fill(found, wrt, given, cotangents)
        return (None, *(found.get(place) for place in range(len(ctx.needs_input_grad) - 1)))


def _add(found: dict[int, torch.Tensor], places: Places, results: Any) -> None:
    """Adds gradients by the operands at these places."""
    results = results if isinstance(results, tuple) else (results,)
    for place, result in zip(places, results, strict=True):
        known = found.get(place)
        found[place] = result if known is None else known + result
