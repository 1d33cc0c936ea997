"""Operators of torch that have derivatives of every order, alone and in `torch.func`.

    op = declare(Operator("einderive::formula", schema, real, fake, split, join, related))
    op(*arguments)    op's node:  dA = related.gradient(...)(operands, dY)

torch's `register_autograd` refuses `torch.func.grad`, and its tangents are silently 0.  The kernel
here is a node of its own, which torch calls at each level of transformations: it hands on to the
level below with gradients and tangents switched on, as they are for the levels around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch._ops import OpOverload
from torch.autograd import Function, forward_ad
from torch.library import Library

from einderive.frontend.autograd.part import Places
from einderive.frontend.autograd.related import Related
from einderive.frontend.call.guard import transformation

Tensors = Sequence[torch.Tensor]
_libraries: Final[list[Library]] = []
"""torch forgets an operator together with its library."""


@dataclass(frozen=True)
class Operator:
    """What an operator is.

    - `real` computes it, and `fake` gives tensors of the shapes and types of its results.
    - `split` gives the tensors among the arguments and the formula's text; `join` is its inverse.
    - `related` gives the programs derived from the formula of a text, and `returned` the results in
      the form of the schema."""

    name: str
    schema: str
    real: Callable[..., Any]
    fake: Callable[..., Any]
    split: Callable[..., tuple[Any, str]]
    join: Callable[[Tensors, str], tuple[Any, ...]]
    related: Callable[[str], Related]
    returned: Callable[[Sequence[torch.Tensor]], Any]


def declare(operator: Operator) -> OpOverload[..., Any]:
    """The operator, known to torch from now on."""
    space, _, own = operator.name.partition("::")
    library: Any = Library(space, "FRAGMENT")  # type: ignore[no-untyped-call]
    _libraries.append(library)
    library.define(own + operator.schema, tags=(torch.Tag.pt2_compliant_tag,))
    overload: OpOverload[..., Any] = getattr(getattr(torch.ops, space), own).default
    untraced: Any = torch.compiler.disable(operator.real)  # type: ignore[no-untyped-call]
    library.impl(own, untraced, "CompositeExplicitAutograd")
    torch.library.register_fake(operator.name, operator.fake, lib=library)

    def differentiable(keyset: Any, *arguments: Any) -> Any:
        operands, text = operator.split(*arguments)
        call = _Call(operator, overload, keyset, text)
        recording = torch.is_grad_enabled() and any(each.requires_grad for each in operands)
        if not recording and forward_ad._current_level < 0 and transformation() is None:
            return operator.returned(call.below(operands))
        with enable_single_level_autograd_function():
            apply: Callable[..., Any] = super(Function, _Node).apply
            return operator.returned(apply(call, *operands))

    def batched(info: Any, in_dims: Any, *arguments: Any) -> tuple[Any, Any]:
        operands, text = operator.split(*arguments)
        wheres, _ = operator.split(*in_dims)
        places = tuple(place for place, where in enumerate(wheres) if where is not None)
        values = [
            operand if where is None else operand.movedim(where, 0)
            for operand, where in zip(operands, wheres, strict=True)
        ]
        part = operator.related(text).batched(places, info.batch_size)
        outputs = part(*values)
        over: Any = [0 if place in part.outputs else None for place in range(len(outputs))]
        return operator.returned(outputs), operator.returned(over)

    if operator.schema.startswith("(Tensor"):
        library.impl(own, differentiable, "Autograd", with_keyset=True)
        torch.library.register_vmap(operator.name, batched, lib=library)
    return overload


@dataclass(frozen=True)
class _Call:
    operator: Operator
    overload: OpOverload[..., Any]
    keyset: Any
    text: str

    def below(self, operands: Tensors) -> tuple[torch.Tensor, ...]:
        """The results, by the kernels below those of automatic differentiation."""
        keyset = self.keyset & torch._C._after_autograd_keyset
        with torch._C._AutoDispatchBelowAutograd():
            arguments = self.operator.join(operands, self.text)
            found: Any = self.overload.redispatch(keyset, *arguments)
        return (found,) if isinstance(found, torch.Tensor) else tuple(found)

    @property
    def related(self) -> Related:
        return self.operator.related(self.text)


class _Node(Function):
    """The differentiable call of an operator, at one level of transformations."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *operands: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with ExitStack() as switched:
            if transformation() is not None:  # the levels below differentiate, too
                switched.enter_context(torch.enable_grad())
                switched.enter_context(forward_ad._set_fwd_grad_enabled(True))
            found = call.below(operands)
        related = call.related
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.shapes = [(y.shape, y.dtype, y.device) for y in found]
        fixed = (y for y, floats in zip(found, related.floating, strict=True) if not floats)
        ctx.mark_non_differentiable(*fixed)
        every = tuple(place for place, floats in enumerate(related.floating) if floats)
        wrt = _needed(ctx)
        part = related.gradient(wrt, every) if wrt and every else None
        ctx.kept = () if part is None else part.operands
        ctx.save_for_backward(*(operands[place] for place in ctx.kept))
        ctx.save_for_forward(*operands)
        return found

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        saved = dict(zip(ctx.kept, ctx.saved_tensors, strict=True))
        found = ctx.call.related.slopes(_needed(ctx), cotangents, saved)
        return (None, *(found.get(place) for place in range(len(ctx.needs_input_grad) - 1)))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        related: Related = ctx.call.related
        return related.tangents(ctx.saved_tensors, tangents, ctx.shapes)


def _needed(ctx: Any) -> Places:
    """The operands by which torch differentiates."""
    return tuple(place for place, needed in enumerate(ctx.needs_input_grad[1:]) if needed)
