"""Calls of `einsum` that were made before, as flat functions kept by equation and layouts.

    known(text, operands)                the result, or MISS where such a call was not linked yet
    link(text, plan, operands, arrays)   links it: from now on `known` answers

A pair of operands whose product is summed over some label is one matrix product of reshaped
operands: labels are permuted so that batch, rows, columns and sums merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from einderive.eops.opaque import recordable
from einderive.eops.torch_views.contract import Operand, contract, sum_over
from einderive.frontend.call.guard import MISS
from einderive.frontend.call.record import Unrecordable, record
from einderive.frontend.call.simplify import simplified
from einderive.frontend.call.source import Flat, guarded, guarded_call

MOST_TEXTS = 1024
MOST_LAYOUTS = 16
"""At most this many layouts are kept for one equation.  One more drops all of them."""

_linked: dict[str, tuple[Flat, ...]] = {}


class Step(NamedTuple):
    """One contraction of the operands at `positions`; `terms` and `output` are their labels and the
    result's as numbers, the result's first."""

    positions: tuple[int, ...]
    equation: str
    terms: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]


def known(text: str, operands: Sequence[Any]) -> Any:
    """The result of a call that was linked before, else MISS."""
    for flat in _linked.get(text, ()):
        found = flat(*operands)
        if found is not MISS:
            return found
    return MISS


def link(
    text: str,
    plan: Sequence[tuple[tuple[int, ...], str]],
    operands: Sequence[Any],
    arrays: Sequence[Any],
) -> None:
    """Keeps the contraction of such operands.  `arrays` are the arrays to which they were
    converted.

    Operands that are no plain arrays, element types with special rules, and calls within a
    transformation or a mode of torch are left to the general way.
    """
    if not recordable() or any(
        array.shape != np.shape(o) for array, o in zip(arrays, operands, strict=True)
    ):
        return
    steps = [_step(tuple(positions), equation) for positions, equation in plan]
    if any(len(step.positions) > 2 for step in steps):
        return
    made = None
    if all(type(operand) is np.ndarray for operand in operands):
        made = _numpy(steps, operands, arrays[0].dtype)
    elif all(type(operand) is torch.Tensor for operand in operands):
        made = _torch(steps, operands, arrays[0].dtype)
    if made is not None:
        if len(_linked) >= MOST_TEXTS:
            _linked.clear()
        others = _linked.get(text, ())
        _linked[text] = (made, *(others if len(others) < MOST_LAYOUTS else ()))


def _step(positions: tuple[int, ...], equation: str) -> Step:
    left, right = equation.split("->")
    numbers = {letter: number for number, letter in enumerate(right)}
    for letter in left.replace(",", ""):
        numbers.setdefault(letter, len(numbers))
    terms = tuple(tuple(numbers[letter] for letter in term) for term in left.split(","))
    return Step(positions, equation, terms, tuple(range(len(right))))


def contracted(steps: Iterable[tuple[tuple[int, ...], Flat]], arrays: Sequence[Any]) -> Any:
    """The steps one after the other: operands leave the list, and the result joins its end."""
    pending = list(arrays)
    for positions, step in steps:  # positions count before any of the step's operands leaves
        operands = [pending[position] for position in positions]
        pending = [a for position, a in enumerate(pending) if position not in positions]
        pending.append(step(*operands))
    return pending[0]


def _torch(steps: Sequence[Step], operands: Sequence[Any], dtype: torch.dtype) -> Flat | None:
    lazy = any(operand.is_neg() or operand.is_conj() for operand in operands)
    wanted = operands[0].requires_grad or any(o.requires_grad for o in operands)
    if lazy or wanted or not (dtype.is_floating_point or dtype.is_complex):
        return None
    runs = [(step.positions, partial(_torch_step, step)) for step in steps]

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [contracted(runs, [tensor.to(dtype) for tensor in tensors])]

    try:
        trace, _ = record(run, operands)
    except (Unrecordable, RuntimeError):
        return None  # the general way says what is wrong, where something is
    return guarded(simplified(trace), operands, default_type=False)


def _torch_step(step: Step, *operands: torch.Tensor) -> torch.Tensor:
    found = []
    for labels, tensor in zip(step.terms, operands, strict=True):
        once = tuple(sorted({*labels}))
        strides = [0] * len(once)
        for label, stride in zip(labels, tensor.stride(), strict=True):
            strides[once.index(label)] += stride  # a label twice in one operand: its diagonal
        sizes = dict(zip(labels, tensor.shape, strict=True))
        shape = [sizes[label] for label in once]
        found.append(Operand(tensor.as_strided(shape, strides), once))
    if len(found) == 2:
        return contract(found[0], found[1], frozenset(step.output)).tensor
    (one,) = found
    summed = sum_over(one, [label for label in one.dims if label not in step.output])
    return torch.clone(one.tensor) if summed is one else summed.tensor


def _numpy(steps: Sequence[Step], operands: Sequence[Any], dtype: Any) -> Flat | None:
    if dtype.kind not in "biufc":
        return None
    shapes = [operand.shape for operand in operands]
    runs: list[tuple[tuple[int, ...], Flat]] = []
    for step in steps:
        read = [shapes[position] for position in step.positions]
        shapes = [s for position, s in enumerate(shapes) if position not in step.positions]
        extents = dict(zip(sum(step.terms, ()), sum(read, ()), strict=True))
        shapes.append(tuple(extents[label] for label in step.output))
        runs.append((step.positions, _numpy_step(step, extents)))
    same = all(operand.dtype == dtype for operand in operands)
    if same and len(runs) == 1 and runs[0][0] == tuple(range(len(operands))):
        return guarded_call(_whole(runs[0][1]), operands)
    if same and len(runs) == 1 and len(operands) == 2:
        step_of = runs[0][1]
        return guarded_call(_whole(lambda x, y: step_of(y, x)), operands)

    def run(*arrays: Any) -> Any:
        return contracted(runs, [array.astype(dtype, copy=False) for array in arrays])

    return guarded_call(_whole(run), operands)


def _whole(run: Flat) -> Flat:
    """A result without dimensions as a number, as NumPy gives it."""

    def call(*arrays: Any) -> Any:
        found = run(*arrays)
        return found if found.ndim else found[()]

    return call


def _numpy_step(step: Step, extents: dict[int, int]) -> Callable[..., Any]:
    """The contraction as a matrix product where it is one, else by NumPy's own loop."""
    if len(step.terms) == 1:
        return lambda x: np.array(np.einsum(step.equation, x), order="K")
    x, y = step.terms
    shared, private = {*x} & {*y}, {*x} ^ {*y}
    k = tuple(label for label in x if label in shared and label not in step.output)
    sums_one = any(label not in step.output for label in private)
    if len({*x}) < len(x) or len({*y}) < len(y) or not k or sums_one:
        return partial(np.einsum, step.equation, optimize=sums_one)
    batch = tuple(label for label in step.output if label in shared)
    m = tuple(label for label in step.output if label not in shared and label in x)
    n = tuple(label for label in step.output if label not in shared and label in y)
    if m and n and step.output.index(m[0]) > step.output.index(n[0]):
        swapped = Step(step.positions, step.equation, (y, x), step.output)
        other = _numpy_step(swapped, extents)
        return lambda left, right: other(right, left)
    left = _arranged(x, (batch, m, k), extents)
    right = _arranged(y, (batch, k, n), extents)
    found = batch + m + n
    shape = tuple(extents[label] for label in found)
    axes = tuple(found.index(label) for label in step.output)
    product: Callable[..., Any] = np.matmul if batch else np.dot
    split = batch != () or len(m) > 1 or len(n) > 1
    moved = axes != tuple(range(len(axes)))

    def multiply(a: Any, b: Any) -> Any:
        result = product(left(a), right(b))
        if split:
            result = result.reshape(shape)
        return result.transpose(axes) if moved else result

    if not split and not moved and left is _as_it_is and right is _as_it_is:
        return product
    return multiply


def _as_it_is(array: Any) -> Any:
    return array


def _arranged(
    labels: Sequence[int], groups: tuple[tuple[int, ...], ...], extents: dict[int, int]
) -> Callable[[Any], Any]:
    """The operand with one dimension for each group; without a batch, none for an empty group."""
    order = tuple(label for group in groups for label in group)
    axes = tuple(labels.index(label) for label in order)
    kept = groups if groups[0] else tuple(group for group in groups if group)
    shape = tuple(int(np.prod([extents[i] for i in group], dtype=int)) for group in kept)
    reshaped = any(len(group) != 1 for group in kept)
    if axes == tuple(range(len(axes))):
        return (lambda array: array.reshape(shape)) if reshaped else _as_it_is
    if not reshaped:
        return lambda array: array.transpose(axes)
    return lambda array: array.transpose(axes).reshape(shape)
