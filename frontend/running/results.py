"""Results as memory of their own.

    y[i] = v   changes   y[i]   and nothing else        for every result y and every i

The last stage of a program may be a view: of an input, of what was computed once from weights and
is read again by later calls, of another result, or, with a stride of 0, of fewer elements than it
shows.  Such a result is copied; all others are handed on as they are, also where two of them are
separate parts of one block of memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import torch

MOST_DIFFERENCES = 256
"""If there are more offsets to follow, two layouts count as overlapping."""


class Layout(NamedTuple):
    """The places of a tensor's elements in its storage, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    @property
    def steps(self) -> list[tuple[int, int]]:
        """(stride, extent) of the dimensions along which there is a second element."""
        return [(s, n) for s, n in zip(self.strides, self.shape, strict=True) if n > 1]


def owned(
    results: Sequence[torch.Tensor], others: Iterable[torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """The results, copied where they share elements with `others`, with each other or within
    themselves.

    A result in the storage of one of the others is copied in any case.  Of two results that
    overlap, the one with fewer elements is copied, or the later one.  No gradients are cut off.
    """
    foreign = {_storage(other) for other in others}
    found = list(results)
    order: Iterable[int] = range(len(found))
    if len(found) > 1:
        order = sorted(order, key=lambda position: -found[position].numel())
    handed: dict[int, list[torch.Tensor]] = {}
    for position in order:
        result = found[position]
        storage = _storage(result)
        beside = handed.setdefault(storage, [])
        if storage in foreign or _repeats(result) or any(_meet(result, b) for b in beside):
            found[position] = result.clone(memory_format=torch.contiguous_format)
        else:
            beside.append(result)
    return tuple(found)


def layout(tensor: torch.Tensor) -> Layout:
    """The tensor's place in its storage."""
    return Layout(tuple(tensor.shape), tensor.stride(), int(tensor.storage_offset()))


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _repeats(result: torch.Tensor) -> bool:
    return not result.is_contiguous() and repeats(layout(result))


def _meet(result: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two results in one storage share an element."""
    if result is other or result.dtype != other.dtype:
        return True
    return meet(layout(result), layout(other))


@lru_cache(maxsize=1024)
def repeats(found: Layout) -> bool:
    """Whether two elements may share memory: sorted by stride, a dimension does not step over all
    that the smaller ones reach.  Never False where they do."""
    reach = 1
    for stride, extent in sorted(found.steps):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


@lru_cache(maxsize=1024)
def meet(left: Layout, right: Layout) -> bool:
    """Whether two layouts in one storage have an element in common: `sum_d i_d*s_d - sum_e j_e*t_e
    = offset of right - offset of left` for some indices i of the left and j of the right.

    The largest stride is decided first; what the smaller ones can still reach leaves few choices
    for it.  Never False where they have one.
    """
    if 0 in left.shape or 0 in right.shape:
        return False
    most: Counter[int] = Counter()
    least: Counter[int] = Counter()
    for stride, extent in left.steps:
        most[stride] += stride * (extent - 1)
    for stride, extent in right.steps:
        least[stride] -= stride * (extent - 1)
    wanted = {right.offset - left.offset}
    low, high = sum(least.values()), sum(most.values())
    for stride in sorted((most.keys() | least.keys()) - {0}, reverse=True):
        first, last = least[stride], most[stride]
        low, high = low - first, high - last
        choices = (
            difference - moved
            for difference in wanted
            for moved in range(
                max(first, -((high - difference) // stride) * stride),
                min(last, difference - low) + 1,
                stride,
            )
        )
        wanted = set(islice(choices, MOST_DIFFERENCES + 1))
        if len(wanted) > MOST_DIFFERENCES:
            return True
    return 0 in wanted
