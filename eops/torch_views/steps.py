"""The torch operations that a scalar expression is made of, as steps that run on a frame.

    Step(dims, run)     run(frame) is a tensor with one dimension for each iterator of dims

Operands broadcast, and a temporary is overwritten where it has the shape of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from math import inf, prod
from typing import Final, NamedTuple, TypeAlias

import torch

from einderive.eops.torch_views.types import Compared, StageTypes, real_scalar
from einderive.ta.functions import FUNCTIONS, REDUCERS
from einderive.ta.ir import affine
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Condition, Number, Reducer
from einderive.ta.traffic.walks import IN_ORDER

Dims: TypeAlias = tuple[int, ...]
"""Iterators, rising: the dimensions of a tensor."""

SPELLED: Final = {"torch": torch, "F": torch.nn.functional}
"""The meaning of the names in spellings."""


class Operation(NamedTuple):
    """A function of tensors; `overwrites`: it takes `out=`."""

    call: Callable[..., torch.Tensor]
    overwrites: bool


@cache
def _spelled(text: str, operands: str = "") -> Callable[..., torch.Tensor]:
    """The torch function that a spelling of `ta.functions` names, or an expression in operands."""
    found: Callable[..., torch.Tensor] = eval(
        f"lambda {operands}: {text}" if operands else text, SPELLED
    )
    return found


@cache
def operation(function: str) -> Operation:
    known = FUNCTIONS[function]
    text = known.torch_stage or known.torch
    if "(" not in text:
        return Operation(_spelled(text), text.startswith("torch."))
    names = ("x", "y", "z")[: known.arity]
    return Operation(_spelled(text.format(*names), ", ".join(names)), False)


def combination(reducer: Reducer) -> Callable[..., torch.Tensor]:
    """The reduction of two tensors as a function that takes `out=`."""
    return _spelled(REDUCERS[reducer].torch)


def reduced(
    reducer: Reducer, x: torch.Tensor, first: int, dtype: torch.dtype, *, dense: bool = True
) -> torch.Tensor:
    """The reduction over the dimensions from `first` on, computed in the type where it matters.

    torch combines rows of memory where its results lie in the order of the operand, and single
    numbers elsewhere: the sum of A[k,j,i] over k as Y[i,j] takes 30 times as long as Y[j,i].  So it
    is computed in that order, and copied if it is to be dense."""
    axes = tuple(range(first, x.dim()))
    if not axes:
        return x
    reduce = _spelled(REDUCERS[reducer].torch_reduce, "x, axes, dtype")
    order = order_of_rows(tuple(x.shape), x.stride(), first) if x.device.type == "cpu" else None
    if order is None:
        found: torch.Tensor = reduce(x, axes, dtype)
        return found
    found = reduce(x.permute(*order, *axes), axes, dtype)
    found = found.permute([order.index(axis) for axis in range(first)])
    return found.contiguous() if dense else found


@lru_cache(maxsize=4096)
def order_of_rows(shape: Dims, strides: Dims, first: int) -> Dims | None:
    """The first dimensions as they lie in memory, the outermost one first, where they lie in
    another order and rows run along one of them; None elsewhere, and for few elements."""
    if prod(shape) < IN_ORDER:
        return None
    long = [axis for axis, extent in enumerate(shape) if extent > 1 and strides[axis]]
    innermost = min(long, key=lambda axis: (strides[axis], -axis), default=first)
    order = tuple(sorted(range(first), key=lambda axis: -(strides[axis] or inf)))
    turned = [axis for axis in order if axis in long]
    return order if innermost < first and turned != sorted(turned) else None


def repeated(reducer: Reducer, x: torch.Tensor, n: int) -> torch.Tensor:
    """The reduction of the tensor taken n times."""
    return x if n == 1 else _spelled(REDUCERS[reducer].torch_repeat, "x, n")(x, n)


class Value(NamedTuple):
    """A tensor.  `own` says that it is a temporary, which may be overwritten."""

    tensor: torch.Tensor
    own: bool


@dataclass(slots=True)
class Frame:
    """One evaluation: the accesses' views and the iterators' values of the present block."""

    views: Sequence[torch.Tensor]
    iterators: Callable[[int], torch.Tensor]
    dtype: torch.dtype
    device: torch.device
    leaving: Callable[[], StageTypes]
    """The types of a stage of the program that leaves the integers."""
    rounds: bool = False
    """Whether each operation is rounded to the type of the result, as written."""
    shared: dict[object, torch.Tensor] = field(default_factory=dict)

    def scalar(self, value: Number | complex) -> complex | float | int:
        if isinstance(value, complex):
            return value
        if self.dtype.is_floating_point or self.dtype.is_complex:
            return real_scalar(value, self.dtype)
        return value if isinstance(value, float) else int(value)


Typed: TypeAlias = Callable[[Frame], torch.dtype]
CompareIn: TypeAlias = Callable[[Frame], Compared]


class Step(NamedTuple):
    """`run` gives a tensor with the dimensions `dims`."""

    dims: Dims
    run: Callable[[Frame], Value]


def align(tensor: torch.Tensor, dims: Dims, target: Dims) -> torch.Tensor:
    """The tensor with dimensions `dims` as one that broadcasts over `target`, both rising."""
    if dims == target or not dims:
        return tensor
    return tensor[tuple(slice(None) if i in dims else None for i in target)]


def union(*dims: Dims) -> Dims:
    return tuple(sorted(set().union(*dims)))


def shared(node: object, step: Step) -> Step:
    """The step for a node that occurs several times: it runs once a frame."""

    def run(frame: Frame) -> Value:
        key = (node, frame.dtype)
        found = frame.shared.get(key)
        if found is None:
            found = frame.shared[key] = step.run(frame).tensor
        return Value(found, False)

    return Step(step.dims, run)


def constant(value: Number | complex) -> Step:
    def run(frame: Frame) -> Value:
        scalar = frame.scalar(value)
        if isinstance(scalar, complex):  # which may leave the type's range
            made = torch.tensor(scalar, dtype=frame.dtype, device=frame.device)
        else:  # copies nothing to a GPU, so that a CUDA graph may capture it
            made = torch.full((), scalar, dtype=frame.dtype, device=frame.device)
        return Value(made, False)

    return Step((), run)


def binary(
    operation: Callable[..., torch.Tensor], left: Step, right: Step, coefficient: Number = 1
) -> Step:
    """`operation(left, right)`, where `coefficient` is torch.add's factor of the right operand."""
    dims = union(left.dims, right.dims)

    def run(frame: Frame) -> Value:
        a, b = left.run(frame), right.run(frame)
        out = a.tensor if a.own and left.dims == dims else None
        if out is None and b.own and right.dims == dims:
            out = b.tensor
        x = align(a.tensor, left.dims, dims)
        y = align(b.tensor, right.dims, dims)
        if coefficient == 1:
            return Value(operation(x, y, out=out), True)
        return Value(operation(x, y, alpha=frame.scalar(coefficient), out=out), True)

    return Step(dims, run)


def scaled(step: Step, coefficient: Number) -> Step:
    return _with_number(torch.mul, step, coefficient)


def shifted(step: Step, constant: Number) -> Step:
    return _with_number(torch.add, step, constant)


def _with_number(operation: Callable[..., torch.Tensor], step: Step, number: Number) -> Step:
    def run(frame: Frame) -> Value:
        value = step.run(frame)
        out = value.tensor if value.own else None
        return Value(operation(value.tensor, frame.scalar(number), out=out), True)

    return Step(step.dims, run)


def power(base: Step, exponent: int) -> Step:
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

    return Step(base.dims, run)


def apply(function: str, args: Sequence[Step]) -> Step:
    """The function of `ta.functions` with this name."""
    if (number := FUNCTIONS[function].constant) is not None:
        return constant(number)
    call, overwrites = operation(function)
    if len(args) == 2:
        return binary(call if overwrites else lambda x, y, out: call(x, y), args[0], args[1])
    (arg,) = args

    def run(frame: Frame) -> Value:
        value = arg.run(frame)
        if overwrites:
            return Value(call(value.tensor, out=value.tensor if value.own else None), True)
        return Value(call(value.tensor), True)

    return Step(arg.dims, run)


def part(function: str, arg: Step) -> Step:
    """A part of a complex number, or its magnitude, as a number of the type computed in."""
    call = _spelled(FUNCTIONS[function].torch)

    def run(frame: Frame) -> Value:
        inside = frame.dtype if frame.dtype.is_complex else frame.dtype.to_complex()
        value = arg.run(replace(frame, dtype=inside)).tensor
        return Value(call(value).to(frame.dtype, copy=True), True)

    return Step(arg.dims, run)


def in_real_numbers(step: Step) -> Step:
    """The step, of which nothing but real numbers comes, as a number of the type computed in."""

    def run(frame: Frame) -> Value:
        if not frame.dtype.is_complex:
            return step.run(frame)
        found = step.run(replace(frame, dtype=frame.dtype.to_real()))
        return Value(found.tensor.to(frame.dtype), True)

    return Step(step.dims, run)


def truth(function: str, args: Sequence[Step], compare_in: CompareIn) -> Step:
    """A condition on values, as bools, or a function of digits.  `compare_in` gives the types in
    which its operands are computed and compared."""
    dims = union(*(arg.dims for arg in args))
    call, _ = operation(function)

    def run(frame: Frame) -> Value:
        common, owns = compare_in(frame)
        found = []
        for arg, own in zip(args, owns, strict=True):
            if own is None:
                value = arg.run(replace(frame, dtype=common)).tensor
            else:
                compute = own.result if frame.rounds else own.compute
                value = arg.run(replace(frame, dtype=compute)).tensor.to(own.result).to(common)
            found.append(align(value, arg.dims, dims))
        return Value(call(*found), True)

    return Step(dims, run)


def not_zero(step: Step, typed: Typed) -> Step:
    """The points where the value, of a type of its own, is not 0."""

    def run(frame: Frame) -> Value:
        return Value(step.run(replace(frame, dtype=typed(frame))).tensor != 0, True)

    return Step(step.dims, run)


def as_number(mask: Step) -> Step:
    """Bools as 1 and 0, and integers as numbers of the type computed in."""

    def run(frame: Frame) -> Value:
        return Value(mask.run(frame).tensor.to(frame.dtype), True)

    return Step(mask.dims, run)


def choice(mask: Step, then: Step, otherwise: Step) -> Step:
    dims = union(mask.dims, then.dims, otherwise.dims)

    def run(frame: Frame) -> Value:
        parts = [align(step.run(frame).tensor, step.dims, dims) for step in steps]
        return Value(torch.where(parts[0], parts[1], parts[2]), True)

    steps = (mask, then, otherwise)
    return Step(dims, run)


def condition_mask(condition: Condition) -> Step:
    """`row >= 0` as `last term >= -(rest)`, so that one pass makes the mask."""
    relation, row = condition
    compare = torch.ge if relation == ">=" else torch.eq
    dims = tuple(sorted(affine.iterators(row)))
    left, rest = Row(0, row.terms[-1:]), Row(row.const, row.terms[:-1], row.floors)
    negated = affine.scale(rest, -1)

    def run(frame: Frame) -> Value:
        def value_of(i: int) -> torch.Tensor:
            return align(frame.iterators(i), (i,), dims)

        first = affine.evaluate(left, value_of)
        if not row.terms:
            first = torch.full((), first, device=frame.device)
        other = affine.evaluate(negated, value_of)
        mask = compare(first, other)
        return Value(mask, True)

    return Step(dims, run)
