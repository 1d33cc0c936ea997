"""The baseline of a formula: what a user would have written in torch, statement by statement.

    one library operator as it stands    that operator
    a product under a sum                torch.einsum, operands in the order written, on strided
                                         views where indices are compound
    anything else                        elementwise operations on broadcast views, then a reduction

Each operation is one call on whole tensors, as in a user's code.  Integers and bools are computed
as everywhere else (`eops.torch_types`): torch's products would wrap, or lack them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import torch

from derivations.match import match
from eops.library import OPERATORS
from eops.torch_scalar import Elementwise
from eops.torch_stage import lower
from eops.torch_steps import align
from eops.torch_types import real_scalar
from ta import expr
from ta.node import Access, Mul, Node, Scope
from ta.operator import Binding
from ta.program import Program
from ta.subst import stages

WRITTEN_AS_EINSUM = ("matmul",)
"""A plain contraction is written as an einsum, and what is a matrix product only on overlapping
views nobody writes so."""
MOST_ELEMENTS = 1 << 29
"""A temporary beyond this (2 GiB of float32) is left to the blocked evaluation."""

Run = Callable[[Mapping[Any, torch.Tensor]], torch.Tensor]


def baseline(program: Program) -> tuple[list[tuple[Scope, Run]], list[str]]:
    """One runnable a stage, producers first, and what each is in words."""
    order = {tensor.name: position for position, tensor in enumerate(program.inputs)}
    chosen: list[tuple[Scope, Run]] = []
    words: list[str] = []
    floating = all(t.dtype.startswith(("float", "bfloat", "complex")) for t in program.inputs)
    for stage in stages(*program.roots()):
        run, word = _stage(stage, order, floating)
        chosen.append((stage, run))
        words.append(word)
    return chosen, words


def _stage(scope: Scope, order: Mapping[str, int], floating: bool) -> tuple[Run, str]:
    for operator in OPERATORS:
        if operator.name not in WRITTEN_AS_EINSUM and not operator.repairs:
            found = match(operator, scope)
            if isinstance(found, Binding):
                return operator.launch(found), operator.name
    if any(bound.extent == 0 for bound in scope.domain):
        return lower(scope), "empty"
    if not floating:
        return lower(scope), "integers, in int64"
    if scope.sums and scope.reducer == "sum":
        return _einsum(scope, order)
    return _broadcast(scope)


def _einsum(scope: Scope, order: Mapping[str, int]) -> tuple[Run, str]:
    """The factors as tensors over their own iterators, then one einsum (or one sum)."""
    coefficient, core = expr.split_coefficient(scope.body)
    factors: Sequence[Node] = core.factors if isinstance(core, Mul) else (core,)
    if any(not isinstance(f, Access) and _points(f, scope) > MOST_ELEMENTS for f in factors):
        return lower(scope), "broadcast and reduce, in blocks"
    factors = sorted(factors, key=lambda f: order.get(_first_name(f), len(order)))
    parts = [Elementwise(factor, scope.domain) for factor in factors]
    loops = tuple(range(len(scope.loops)))
    if len(parts) == 1:
        return _sum_of(parts[0], coefficient, scope), "broadcast and reduce"
    if len(scope.domain) > 52 or set(loops) - {i for part in parts for i in part.dims}:
        return lower(scope), "broadcast and reduce, in blocks"
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    terms = ["".join(letters[i] for i in part.dims) for part in parts]
    text = ",".join(terms) + "->" + "".join(letters[i] for i in loops)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        result = einsum_as_written(text, _values(parts, buffers))
        return result if coefficient == 1 else result * real_scalar(coefficient, result.dtype)

    return run, f"torch.einsum('{text}')"


def _sum_of(part: Elementwise, coefficient: Any, scope: Scope) -> Run:
    first = len(scope.loops)
    dims = [axis for axis, i in enumerate(part.dims) if i >= first]
    kept = tuple(i for i in part.dims if i < first)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        result = _values([part], buffers)[0].sum(dims)
        result = align(result, kept, tuple(range(first))).expand(scope.shape)
        return result if coefficient == 1 else result * real_scalar(coefficient, result.dtype)

    return run


def _broadcast(scope: Scope) -> tuple[Run, str]:
    """The body over all iterators at once, then the reduction."""
    if prod(r.extent for r in scope.domain) > MOST_ELEMENTS or scope.reducer == "prod":
        return lower(scope), "broadcast and reduce, in blocks"
    part = Elementwise(scope.body, scope.domain)
    every = tuple(range(len(scope.domain)))
    dims = list(range(len(scope.loops), len(scope.domain)))
    shape = [bound.extent for bound in scope.domain]
    extreme = {"max": torch.amax, "min": torch.amin}.get(scope.reducer)

    def run(buffers: Mapping[Any, torch.Tensor]) -> torch.Tensor:
        value = align(_values([part], buffers)[0], part.dims, every).expand(shape)
        return value if not dims or extreme is None else extreme(value, dims)

    return run, "broadcast and reduce" if dims else "elementwise"


def _values(
    parts: Sequence[Elementwise], buffers: Mapping[Any, torch.Tensor]
) -> list[torch.Tensor]:
    """The parts' values, in the type that all their reads promote to."""
    read = [part.views(buffers) for part in parts]
    some = next(view for views in (*read, [*buffers.values()]) for view in views)
    dtypes = [view.dtype for views in read for view in views] or [some.dtype]
    dtype = reduce(torch.promote_types, dtypes)
    return [
        part.run(views, dtype, some.device, {}).tensor
        for part, views in zip(parts, read, strict=True)
    ]


def _points(node: Node, scope: Scope) -> int:
    return prod(r.extent for i, r in enumerate(scope.domain) if node.free >> i & 1)


def _first_name(node: Node) -> str:
    return getattr(getattr(node, "source", None), "name", node.label)


def einsum_as_written(text: str, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """torch.einsum in the order written, as it is for whoever has not installed opt_einsum beside
    it; a better order is what a derivation is there to find.

    Beyond two operands torch.einsum asks opt_einsum, unless a flag of the whole process says no.
    Setting that would meet other threads; the operator beneath, without a path, goes as written.
    """
    if len(operands) <= 2:
        return torch.einsum(text, *operands)
    result: torch.Tensor = torch.ops.aten.einsum.default(text, operands)
    return result
