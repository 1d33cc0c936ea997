"""Calls by operands of known layouts, recorded with the fewest steps.

    linked(related, operands)[1](*operands)  =  by_node(related, operands)

What the node asks at each call has the same answer for all operands of one layout: which of them
require gradients, which are kept, which program gives the gradient, and where its results belong.
So it is asked once, and the node's two passes are a call of a program each.  Transformations of
`torch.func` and tangents are for the other node (`node`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd import Function

from einderive.frontend.autograd.related import Related
from einderive.frontend.call.guard import MISS, transformation

Slopes = tuple[torch.Tensor | None, ...]


class Plan:
    """The answers for operands such as these.

    - `call` computes the formula, for such operands alone, and gives a tuple.
    - `part` is the gradient of all outputs that have one, and `kept` are the places of the operands
      that it reads; `spread` says which of its results belongs to each argument of the node.
    - `simple`: the gradient reads the cotangent of the only output, and gives all that there is;
      `flat` is its flat function that was asked last."""

    __slots__ = (
        "call",
        "fixed",
        "flags",
        "flat",
        "kept",
        "outputs",
        "part",
        "related",
        "simple",
        "spread",
        "wrt",
    )

    def __init__(self, related: Related, operands: Sequence[torch.Tensor]) -> None:
        self.related = related
        self.flags = tuple([operand.requires_grad for operand in operands])
        pairs = [*enumerate(related.floating)]
        self.outputs = tuple(place for place, floating in pairs if floating)
        self.fixed = tuple(place for place, floating in pairs if not floating)
        self.wrt = tuple(place for place, flag in enumerate(self.flags) if flag)
        part = related.gradient(self.wrt, self.outputs) if self.outputs else None
        self.part: Any = part
        self.kept = () if part is None else part.operands
        results = () if part is None else part.results
        spread = [results.index(p) if p in results else None for p in range(len(operands))]
        self.spread = (None, *spread)
        zeros = related.zeros(self.wrt, self.outputs) if self.outputs else ()
        self.simple = (
            part is not None
            and len(related.floating) == 1
            and part.outputs == (0,)
            and all(place in results for place in zeros)
        )
        self.flat: Callable[..., Any] = _miss
        self.call: Callable[..., Any] = self._called

    def _called(self, *operands: torch.Tensor) -> Any:
        """The formula's results; the calls of torch that give them are asked directly next time."""
        call = self.related.call
        found = call(*operands)
        unguarded = getattr(call, "unguarded", None)
        body = None if unguarded is None else unguarded(operands)
        if body is not None:
            self.call = body
        return found if isinstance(found, tuple) else (found,)

    def slopes(self, saved: Sequence[torch.Tensor], cotangents: Slopes) -> Slopes:
        """The gradients for the node's arguments, for the cotangents that there are."""
        if self.simple and cotangents[0] is not None:
            found = self.flat(*saved, *cotangents)
            if found is MISS:
                found = self.part(*saved, *cotangents)
                function = self.part.function
                asked = getattr(getattr(function, "_caller", function), "asked", ())
                self.flat = asked[0] if asked else _miss
            elif type(found) is not tuple:
                found = (found,)
            if self.flags not in self.related.ways and transformation() is None:
                self.related.settle(self.flags)
            return tuple([None if place is None else found[place] for place in self.spread])
        operands = dict(zip(self.kept, saved, strict=True))
        given = self.related.slopes(self.wrt, cotangents, operands)
        if given and transformation() is None:
            self.related.settle(self.flags)
        return (None, *(given.get(place) for place in range(len(self.flags))))


def _miss(*_: object) -> object:
    return MISS


class Linked(Function):
    """The differentiable call of a program by operands of known layouts."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = plan.call(*operands)
        ctx.plan = plan
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*[operands[place] for place in plan.kept])
        # torch refuses to change views that a node made in place; results have memory of their own
        found = tuple([y.data if y._is_view() else y for y in found])
        if plan.fixed:
            ctx.mark_non_differentiable(*[found[place] for place in plan.fixed])
        return found

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Slopes:
        plan: Plan = ctx.plan
        return plan.slopes(ctx.saved_tensors, cotangents)


_apply: Callable[..., Any] = super(
    Function, Linked
).apply  # the other one looks for transformations


def linked(related: Related, operands: Sequence[torch.Tensor]) -> tuple[Any, Callable[..., Any]]:
    """The result of a call that leaves one node, and the call of operands of the same layouts: one
    output alone, several as a tuple."""
    plan = Plan(related, operands)

    def one(*operands: torch.Tensor) -> Any:
        return _apply(plan, *operands)[0]

    def several(*operands: torch.Tensor) -> Any:
        return _apply(plan, *operands)

    run = one if len(related.floating) == 1 else several
    return run(*operands), run
