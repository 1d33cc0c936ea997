"""Results that are views of an operand, made by torch's own views, as its autograd makes them.

    Y[i] = where(i < 4, A[i], B[i-4])     dA = dY[:4],  dB = dY[4:]     and nothing is computed

Views have derivatives of every order, and all of torch's transformations take them.  An iterator
that runs backwards, twice over one tensor or with others over one dimension in another way than
that of a reshape is left to a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod
from operator import getitem
from typing import Any

import torch

from einderive.eops.library.view import recognise
from einderive.frontend.running.results import layout, meet
from einderive.ta.ir.affine import Row
from einderive.ta.ir.node import Scope, Tensor
from einderive.ta.ir.operator import Binding

View = Callable[[torch.Tensor], torch.Tensor]


def view_of(root: Scope) -> tuple[Tensor, View] | None:
    """The tensor that the scope is a view of, and the view; None where it is none.

    It takes a part of each dimension, splits dimensions, and orders and repeats them."""
    binding = recognise(root)
    if not isinstance(binding, Binding):
        return None
    (read,) = binding.operands
    source = read.source
    if not isinstance(source, Tensor):
        return None
    extents = root.shape
    order: list[int] = []
    sizes: list[int] = []
    steps: list[View] = []
    for row, whole in zip(read.rows, source.ranges, strict=True):
        split = _split(row, extents)
        if split is None or whole.lo:
            return None
        inner, step = split
        count = prod(extents[place] for place in inner)
        start = row.const + sum(times * root.loops[place].lo for place, times in row.terms)
        dimension = len(sizes)
        if not inner:
            steps.append(_called(torch.select, dimension, start))
            continue
        if step > 1:
            end = start + step * (count - 1) + 1
            part = (*[slice(None)] * dimension, slice(start, end, step))
            steps.append(_called(getitem, part))
        elif count < whole.extent:
            steps.append(_called(torch.narrow, dimension, start, count))
        order += inner
        sizes.append(count)
    if len({*order}) < len(order):
        return None
    if len(order) > len(sizes):
        shape = tuple(extents[place] for place in order)
        steps.append(_called(torch.Tensor.view, shape))
    own = sorted(order)
    if own != order:
        axes = tuple(order.index(place) for place in own)
        steps.append(_called(torch.permute, axes))
    if len(own) < len(extents):
        index = tuple(slice(None) if place in own else None for place in range(len(extents)))
        if index[len(extents) - len(own) :].count(None):  # `expand` puts new dimensions first
            steps.append(_called(getitem, index))
        steps.append(_called(torch.Tensor.expand, extents))
    return source, _composed(steps)


def apart(views: Mapping[int, tuple[Tensor, View]]) -> dict[int, tuple[Tensor, View]]:
    """The views, of which one is copied where it has elements in common with one before it.

    torch hands a view on as the gradient of a leaf where it lies as the leaf does, and whoever
    changes that gradient in place would change another leaf's too.  Of one tensor that is handed on
    several times, and of a view in another order, torch makes copies itself."""
    found: dict[int, tuple[Tensor, View]] = {}
    wholes: dict[Tensor, torch.Tensor] = {}
    held: dict[Tensor, list[torch.Tensor]] = {}
    for number, (tensor, view) in views.items():
        if tensor not in wholes:
            wholes[tensor] = torch.empty(tensor.shape, device="meta")
        shown, before = view(wholes[tensor]), held.setdefault(tensor, [])
        if shown.is_contiguous():
            if any(shown is not one and meet(layout(shown), layout(one)) for one in before):
                view = _composed([view, torch.clone])
            else:
                before.append(shown)
        found[number] = tensor, view
    return found


def _split(row: Row, extents: Sequence[int]) -> tuple[list[int], int] | None:
    """The iterators of more than one place that count those of a dimension, the slowest one first,
    and the step of the fastest; None where they do not count as in a reshape."""
    if row.floors or any(step < 1 for _, step in row.terms):
        return None
    terms = sorted((term for term in row.terms if extents[term[0]] > 1), key=lambda term: -term[1])
    if any(step != below * extents[inner] for (_, step), (inner, below) in pairwise(terms)):
        return None
    return [place for place, _ in terms], terms[-1][1] if terms else 1


def _called(function: Callable[..., torch.Tensor], *arguments: Any) -> View:
    return lambda x: function(x, *arguments)


def _composed(steps: Sequence[View]) -> View:
    if len(steps) == 1:
        return steps[0]

    def made(x: torch.Tensor) -> torch.Tensor:
        for step in steps:
            x = step(x)
        return x

    return made
