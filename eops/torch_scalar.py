"""A scalar expression as elementwise torch operations, each over its own iterators only.

    f(x_1, ..., x_n)  ->  a tensor with one dimension per iterator that occurs in f

Operands broadcast; small ones are combined first, constants go to the smallest operand, and
temporaries are overwritten where they have the shape of the result.  float16 and bfloat16 are
computed in float32; bool and integers in int64, or in torch's default float where the expression
leaves the integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import Final, NamedTuple, TypeAlias

import torch

from eops.gather import PerDevice
from eops.views import ViewPlan, plan_view
from ta import affine
from ta.affine import Range, Row
from ta.expr import split_coefficient
from ta.node import (
    Access,
    Add,
    Apply,
    Condition,
    Const,
    Mul,
    Node,
    Number,
    Power,
    Select,
    Source,
)
from ta.subst import accesses, children, walk

Buffers: TypeAlias = Mapping[Source, torch.Tensor]
Dims: TypeAlias = tuple[int, ...]

UNARY: Final[dict[str, Callable[..., torch.Tensor]]] = {
    "exp": torch.exp,
    "log": torch.log,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sigmoid": torch.sigmoid,
    "abs": torch.abs,
    "sign": torch.sgn,
}
"""Those that take `out=`."""
OTHER: Final[dict[str, Callable[..., torch.Tensor]]] = {
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "softplus": lambda x: torch.nn.functional.softplus(x, threshold=50.0),
    "relu": torch.relu,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
}


class Value(NamedTuple):
    """`own`: a temporary that may be overwritten."""

    tensor: torch.Tensor
    own: bool


@dataclass(slots=True)
class Frame:
    """One evaluation: the accesses' views and the iterators' values of the present block."""

    views: Sequence[torch.Tensor]
    iterators: Callable[[int], torch.Tensor]
    dtype: torch.dtype
    device: torch.device
    shared: dict[Node, torch.Tensor] = field(default_factory=dict)

    def scalar(self, value: Number) -> float | int:
        if self.dtype.is_floating_point or self.dtype.is_complex or isinstance(value, float):
            return float(value)
        return int(value)


Block: TypeAlias = Mapping[int, tuple[int, int]]
"""Iterator -> (start, length) of the part of its range that is evaluated."""


class _Step(NamedTuple):
    dims: Dims
    run: Callable[[Frame], Value]


class Elementwise:
    """A compiled scalar expression over the box `domain` (no range of it empty)."""

    def __init__(self, node: Node, domain: Sequence[Range]) -> None:
        self.domain = tuple(domain)
        self.accesses = accesses(node)
        iterators = list(enumerate(self.domain))
        self.plans: tuple[ViewPlan, ...] = tuple(
            plan_view(a.source.ranges, a.rows, iterators, a.fill) for a in self.accesses
        )
        self._grids = [PerDevice(torch.arange(*bound)) for bound in self.domain]
        self._positions = {access: k for k, access in enumerate(self.accesses)}
        self._uses: dict[Node, int] = {}
        for parent in walk(node):
            for child in children(parent):
                self._uses[child] = self._uses.get(child, 0) + 1
        self._done: dict[Node, _Step] = {}
        self._root = self._compile(node)
        self.dims = self._root.dims
        self.extent = self._extent(self.dims)

    def views(self, buffers: Buffers) -> list[torch.Tensor]:
        """Every access over the whole box; see `run`."""
        return [p(buffers[a.source]) for a, p in zip(self.accesses, self.plans, strict=True)]

    def run(
        self,
        views: Sequence[torch.Tensor],
        dtype: torch.dtype,
        device: torch.device,
        block: Block | None = None,
    ) -> Value:
        """The expression over the block, one dimension for each of `dims`."""
        part = block or {}
        frame = Frame(
            [_cut(v, p.present, part) for v, p in zip(views, self.plans, strict=True)],
            lambda i: _cut(self._grids[i].on(device), (i,), part),
            dtype,
            device,
        )
        return self._root.run(frame)

    def _extent(self, dims: Dims) -> int:
        return prod(self.domain[i].extent for i in dims)

    def _compile(self, node: Node) -> _Step:
        found = self._done.get(node)
        if found is None:
            found = self._step(node)
            if self._uses.get(node, 0) > 1 and not isinstance(node, Access | Const):
                found = _shared(node, found)
            self._done[node] = found
        return found

    def _step(self, node: Node) -> _Step:
        if isinstance(node, Access):
            return self._access(node)
        if isinstance(node, Const):
            return _constant(node.value)
        if isinstance(node, Power):
            return _power(self._compile(node.base), node.exponent)
        if isinstance(node, Apply):
            return _apply(node.function, [self._compile(arg) for arg in node.args])
        if isinstance(node, Add):
            return self._add(node)
        if isinstance(node, Mul):
            return self._mul(node)
        if isinstance(node, Select):
            return self._select(node)
        raise TypeError(f"{type(node).__name__} is not a scalar expression")

    def _access(self, node: Access) -> _Step:
        position = self._positions[node]

        def run(frame: Frame) -> Value:
            view = frame.views[position]
            return Value(view.to(frame.dtype), view.dtype != frame.dtype)

        return _Step(self.plans[position].present, run)

    def _add(self, node: Add) -> _Step:
        """`c_1*t_1 + ... + c_n*t_n + c`, one pass over the full shape for each large term but
        one."""
        pairs = [split_coefficient(term) for term in node.terms if not isinstance(term, Const)]
        constant = next((t.value for t in node.terms if isinstance(t, Const)), None)
        terms = [(c, self._compile(core)) for c, core in pairs]
        terms.sort(key=lambda term: (self._extent(term[1].dims), term[0] != 1))
        if len(terms) > 1 and terms[0][0] != 1 and terms[1][0] == 1:
            terms[:2] = terms[1], terms[0]
        (coefficient, step), *rest = terms
        if coefficient != 1:
            step = _scaled(step, coefficient)
        if constant is not None:
            step = _shifted(step, constant)
        for coefficient, term in rest:
            step = _binary(torch.add, step, term, coefficient)
        return step

    def _mul(self, node: Mul) -> _Step:
        coefficient, core = split_coefficient(node)
        factors = core.factors if isinstance(core, Mul) else (core,)
        above, below = [], []
        for factor in factors:
            inverse = isinstance(factor, Power) and factor.exponent < 0
            if inverse and isinstance(factor, Power):
                base = self._compile(factor.base)
                below.append(base if factor.exponent == -1 else _power(base, -factor.exponent))
            else:
                above.append(self._compile(factor))
        above.sort(key=lambda step: self._extent(step.dims))
        if coefficient != 1 and above:
            above[0] = _scaled(above[0], coefficient)
        numerator = above or [_constant(coefficient)]
        step = reduce(lambda a, b: _binary(torch.mul, a, b), numerator)
        return reduce(lambda a, b: _binary(torch.div, a, b), below, step)

    def _select(self, node: Select) -> _Step:
        masks = [_condition(condition) for condition in node.conditions]
        mask = reduce(lambda a, b: _binary(torch.logical_and, a, b), masks)
        then, otherwise = self._compile(node.then), self._compile(node.otherwise)
        dims = _union(mask.dims, then.dims, otherwise.dims)

        def run(frame: Frame) -> Value:
            parts = [_aligned(step.run(frame).tensor, step.dims, dims) for step in choices]
            return Value(torch.where(parts[0], parts[1], parts[2]), True)

        choices = (mask, then, otherwise)
        return _Step(dims, run)


def align(tensor: torch.Tensor, dims: Dims, target: Dims) -> torch.Tensor:
    """The tensor with dimensions `dims` as one that broadcasts over `target`, both rising."""
    return _aligned(tensor, dims, target)


def _aligned(tensor: torch.Tensor, dims: Dims, target: Dims) -> torch.Tensor:
    if dims == target or not dims:
        return tensor
    return tensor[tuple(slice(None) if i in dims else None for i in target)]


def _union(*dims: Dims) -> Dims:
    return tuple(sorted(set().union(*dims)))


def _cut(tensor: torch.Tensor, dims: Dims, block: Block) -> torch.Tensor:
    for axis, i in enumerate(dims):
        if i in block:
            tensor = tensor.narrow(axis, *block[i])
    return tensor


def _shared(node: Node, step: _Step) -> _Step:
    def run(frame: Frame) -> Value:
        found = frame.shared.get(node)
        if found is None:
            found = frame.shared[node] = step.run(frame).tensor
        return Value(found, False)

    return _Step(step.dims, run)


def _constant(value: Number) -> _Step:
    def run(frame: Frame) -> Value:
        scalar = frame.scalar(value)
        return Value(torch.tensor(scalar, dtype=frame.dtype, device=frame.device), False)

    return _Step((), run)


def _binary(
    operation: Callable[..., torch.Tensor], left: _Step, right: _Step, coefficient: Number = 1
) -> _Step:
    """`operation(left, right)`, where `coefficient` is torch.add's factor of the right operand."""
    dims = _union(left.dims, right.dims)

    def run(frame: Frame) -> Value:
        a, b = left.run(frame), right.run(frame)
        out = a.tensor if a.own and left.dims == dims else None
        if out is None and b.own and right.dims == dims:
            out = b.tensor
        x = _aligned(a.tensor, left.dims, dims)
        y = _aligned(b.tensor, right.dims, dims)
        if coefficient == 1:
            return Value(operation(x, y, out=out), True)
        return Value(operation(x, y, alpha=frame.scalar(coefficient), out=out), True)

    return _Step(dims, run)


def _scaled(step: _Step, coefficient: Number) -> _Step:
    def run(frame: Frame) -> Value:
        value = step.run(frame)
        scalar = frame.scalar(coefficient)
        if value.own:
            return Value(value.tensor.mul_(scalar), True)
        return Value(value.tensor * scalar, True)

    return _Step(step.dims, run)


def _shifted(step: _Step, constant: Number) -> _Step:
    def run(frame: Frame) -> Value:
        value = step.run(frame)
        scalar = frame.scalar(constant)
        if value.own:
            return Value(value.tensor.add_(scalar), True)
        return Value(value.tensor + scalar, True)

    return _Step(step.dims, run)


def _power(base: _Step, exponent: int) -> _Step:
    def run(frame: Frame) -> Value:
        value = base.run(frame)
        out = value.tensor if value.own else None
        result = value.tensor
        if abs(exponent) == 2:
            result = torch.mul(result, result, out=out)
        elif abs(exponent) > 2:
            result = torch.pow(result, abs(exponent), out=out)
        if exponent < 0:
            own = value.own or exponent < -1
            result = torch.reciprocal(result, out=result if own else None)
        return Value(result, True)

    return _Step(base.dims, run)


def _apply(function: str, args: list[_Step]) -> _Step:
    if len(args) == 2:
        return _binary(OTHER[function], args[0], args[1])
    (arg,) = args

    def run(frame: Frame) -> Value:
        value = arg.run(frame)
        if function in UNARY:
            return Value(
                UNARY[function](value.tensor, out=value.tensor if value.own else None), True
            )
        return Value(OTHER[function](value.tensor), True)

    return _Step(arg.dims, run)


def _condition(condition: Condition) -> _Step:
    """`row >= 0` as `last term >= -(rest)`, so that one pass makes the mask."""
    relation, row = condition
    compare = torch.ge if relation == ">=" else torch.eq
    dims = tuple(sorted(affine.iterators(row)))
    left, rest = Row(0, row.terms[-1:]), Row(row.const, row.terms[:-1], row.floors)
    negated = affine.scale(rest, -1)

    def run(frame: Frame) -> Value:
        def value_of(i: int) -> torch.Tensor:
            return _aligned(frame.iterators(i), (i,), dims)

        first = torch.as_tensor(affine.evaluate(left, value_of), device=frame.device)
        other = affine.evaluate(negated, value_of)
        mask = compare(first, other)
        return Value(mask, True)

    return _Step(dims, run)
