"""Calls by operands of known layouts, recorded with the fewest steps.

    linked(related, operands)[1](*operands)  =  by_node(related, operands)

What the node asks at each call has the same answer for all operands of one layout: which of them
require gradients, which are kept, which program gives the gradient, and where its results belong.
So it is asked once, and the two passes of a node of its own class are a call of a program each.
Transformations of `torch.func` and tangents are for the other node (`node`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import new_class
from typing import Any, ClassVar

import torch
from torch.autograd import Function

from einderive.frontend.autograd.part import Part
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.guard import MISS, transformation

Slopes = tuple[torch.Tensor | None, ...]


class Plan:
    """The answers for operands such as these.

    - `call` computes the formula, for such operands alone, and gives a tuple.
    - `part` is the gradient of all outputs that have one, and `kept` are the places of the operands
      that it reads; `spread` says which of its results belongs to each operand.
    - `simple`: where all cotangents are given, the gradient gives all that there is; `flat` is the
      flat function of its program that was asked last."""

    __slots__ = (
        "call",
        "fixed",
        "flags",
        "flat",
        "kept",
        "outputs",
        "part",
        "related",
        "settled",
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
        self.spread = tuple(
            [results.index(p) if p in results else None for p in range(len(operands))]
        )
        zeros = related.zeros(self.wrt, self.outputs) if self.outputs else ()
        self.simple = part is not None and all(place in results for place in zeros)
        self.settled = False
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
        """The gradients for the operands, for the cotangents that there are."""
        if self.simple and all(cotangents[place] is not None for place in self.outputs):
            found = self.part(*saved, *[cotangents[place] for place in self.part.outputs])
            if self.part.left:
                function = self.part.function
                asked = getattr(getattr(function, "_caller", function), "asked", ())
                self.flat = asked[0] if asked else _miss
            self._settle()
            return tuple([None if place is None else found[place] for place in self.spread])
        operands = dict(zip(self.kept, saved, strict=True))
        given = self.related.slopes(self.wrt, cotangents, operands)
        if given:
            self._settle()
        return tuple([given.get(place) for place in range(len(self.flags))])

    def _settle(self) -> None:
        if transformation() is None:
            self.related.settle(self.flags)
            self.settled = True


def _miss(*_: object) -> object:
    return MISS


class Linked(Function):
    """The differentiable call of a program by operands of known layouts; each plan has a class."""

    plan: ClassVar[Plan]


def linked(related: Related, operands: Sequence[torch.Tensor]) -> tuple[Any, Callable[..., Any]]:
    """The result of a call that leaves one node, and the call of operands of the same layouts: one
    output alone, several as a tuple."""
    run = _node(Plan(related, operands))
    return run(*operands), run


def _node(plan: Plan) -> Callable[..., Any]:
    """The call that leaves a node of this plan."""
    alone = len(plan.related.floating) == 1
    body = {
        "plan": plan,
        "forward": staticmethod(_forward_of_one(plan) if alone else _forward(plan)),
        "backward": staticmethod(_backward(plan)),
    }
    made: Any = new_class(Linked.__name__, (Linked,), exec_body=lambda space: space.update(body))
    made._backward_cls.apply = made.backward  # torch's own asks in which way it is written
    call: Callable[..., Any] = super(Function, made).apply  # the other one asks for transformations
    return call


def _forward_of_one(plan: Plan) -> Callable[..., torch.Tensor]:
    """What `Linked.forward` is for a formula with one output.  It sets what the methods of `ctx`
    set."""
    kept, fixed = plan.kept, bool(plan.fixed)
    every = kept == tuple(range(len(plan.flags)))

    def forward(ctx: Any, *operands: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor
        (y,) = plan.call(*operands)
        ctx.materialize_grads = False
        if kept:
            ctx.to_save = operands if every else tuple([operands[place] for place in kept])
        if y._is_view():  # which torch refuses to change in place; results have memory of their own
            y = y.data
        if fixed:
            ctx.mark_non_differentiable(y)
        return y

    return forward


def _forward(plan: Plan) -> Callable[..., tuple[torch.Tensor, ...]]:
    """What `Linked.forward` is for a formula with several outputs."""

    def forward(ctx: Any, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = tuple([y.data if y._is_view() else y for y in plan.call(*operands)])
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*[operands[place] for place in plan.kept])
        if plan.fixed:
            ctx.mark_non_differentiable(*[found[place] for place in plan.fixed])
        return found

    return forward


def _backward(plan: Plan) -> Callable[..., Any]:
    """What `Linked.backward` is for the plan: where its gradient is known, a call of one function,
    and views of the cotangent."""

    def by_slopes(ctx: Any, *cotangents: torch.Tensor | None) -> Slopes:
        return plan.slopes(ctx.saved_tensors, cotangents)

    part: Part | None = plan.part
    if part is None or not plan.simple:
        return by_slopes
    spread, left, read, views = plan.spread, part.left, part.read, [*part.views.items()]

    def by_flat(ctx: Any, cotangent: torch.Tensor | None) -> Any:
        saved = ctx.saved_tensors
        if cotangent is not None and plan.settled:
            found = plan.flat(*saved, cotangent)
            if found is not MISS:
                return found
        return plan.slopes(saved, (cotangent,))

    def by_pieces(ctx: Any, *cotangents: torch.Tensor | None) -> Slopes:
        saved = ctx.saved_tensors
        if plan.settled and all(cotangents[place] is not None for place in plan.outputs):
            given: Any = (*saved, *[cotangents[place] for place in part.outputs])
            found = plan.flat(*[given[k] for k in read]) if left else ()
            if found is not MISS:
                results = zip(left, found if type(found) is tuple else (found,), strict=True)
                known = dict(results)
                for number, (k, view) in views:
                    known[number] = view(given[k])
                return tuple([None if place is None else known[place] for place in spread])
        return plan.slopes(saved, cotangents)

    alone = len(plan.related.floating) == 1 and part.outputs == (0,) and not views
    return by_flat if alone and spread == tuple(range(len(spread))) else by_pieces
