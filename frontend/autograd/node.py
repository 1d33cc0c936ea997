"""The node that a call leaves on torch's graph.

    Y = by_node(related, operands)        Y.grad_fn:  dA = related.gradient(...)(operands, dY)

What is kept for the backward pass are the operands that the gradient's program reads.  That program
is a compiled function like any other: under `create_graph=True` its call leaves a node too, so
there are derivatives of every order.  `torch.func.vmap` adds a loop to the formula, and `jvp` runs
the program of tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import Function, forward_ad

from einderive.frontend.autograd.kin import Way
from einderive.frontend.autograd.linked import linked
from einderive.frontend.autograd.part import Places
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.caller import Linked
from einderive.frontend.call.guard import autocast, transformation


def by_node(related: Related, operands: Sequence[torch.Tensor]) -> Any:
    """The result of a call that leaves one node, which keeps operands."""
    if transformation() is None:  # `apply` would first look up its signature, for 80 us
        apply: Callable[..., Any] = super(Function, Node).apply
    else:
        apply = Node.apply
    found = apply(related, *operands)
    return found[0] if len(found) == 1 else found


class Recorder:
    """The calls of a program by operands with derivatives; results are converted to the type
    `output`: one output alone, several as a tuple."""

    def __init__(self, related: Related, output: torch.dtype | None) -> None:
        self.related, self._output = related, output

    def __call__(self, *operands: torch.Tensor) -> Any:
        way = self._way(operands)
        return self._converted(by_node(self.related, operands) if way is None else way(*operands))

    def linked(self, *operands: torch.Tensor) -> Linked:
        """The result, and how operands of the same layouts are called from now on.  For plain
        tensors, outside of transformations, tangents and autocast."""
        related, output = self.related, self._output
        stale, way = related.stale, self._way(operands)
        if way is None:
            found, run = linked(related, operands)
        elif hasattr(way, "first"):
            found, run = way.first(*operands)
        else:
            found, run = way(*operands), way
        if output is not None:
            own = run
            found, run = self._converted(found), lambda *given: self._converted(own(*given))
        return Linked(found, run, stale)

    def _way(self, operands: Sequence[torch.Tensor]) -> Way | None:
        related = self.related
        if not (related.ways or related.kin.raced) or transformation() is not None or autocast():
            return None
        way = related.way(tuple([operand.requires_grad for operand in operands]))
        return None if forward_ad._current_level >= 0 else way

    def _converted(self, found: Any) -> Any:
        output = self._output
        if output is None:
            return found
        return tuple(y.to(output) for y in found) if isinstance(found, tuple) else found.to(output)


class Node(Function):
    """The differentiable call of a program."""

    @staticmethod
    def forward(related: Related, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = related.call(*operands)
        results = found if isinstance(found, tuple) else (found,)
        # torch refuses to change views that a node made in place; results have memory of their own
        return tuple(y.data if y._is_view() else y for y in results)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        related, operands = inputs[0], inputs[1:]
        ctx.related = related
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(
            *(y for y, floating in zip(output, related.floating, strict=True) if not floating)
        )
        ctx.shapes = [(y.shape, y.dtype, y.device) for y in output]
        part = related.gradient(_needed(ctx), _floating(related))
        ctx.kept = () if part is None else part.operands
        ctx.save_for_backward(*(operands[place] for place in ctx.kept))
        ctx.save_for_forward(*operands)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        related: Related = ctx.related
        operands = dict(zip(ctx.kept, ctx.saved_tensors, strict=True))
        found = related.slopes(_needed(ctx), cotangents, operands)
        if found and transformation() is None:
            related.settle(ctx.needs_input_grad[1:])
        return (None, *(found.get(place) for place in range(len(ctx.needs_input_grad) - 1)))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        related: Related = ctx.related
        return related.tangents(ctx.saved_tensors, tangents, ctx.shapes)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], related: Related, *operands: Any) -> Any:
        places = tuple(place for place, where in enumerate(in_dims[1:]) if where is not None)
        values = [
            value if where is None else value.movedim(where, 0)
            for value, where in zip(operands, in_dims[1:], strict=True)
        ]
        part = related.batched(places, info.batch_size)
        outputs = part(*values)
        return outputs, tuple(0 if place in part.outputs else None for place in range(len(outputs)))


def _needed(ctx: Any) -> Places:
    """The operands by which torch differentiates."""
    return tuple(place for place, needed in enumerate(ctx.needs_input_grad[1:]) if needed)


def _floating(related: Related) -> Places:
    return tuple(place for place, floating in enumerate(related.floating) if floating)
