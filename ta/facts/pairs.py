"""The order in which the factors of a product under a sum are contracted, pair by pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import prod


def contraction_order(
    dims: Sequence[frozenset[int]], loops: frozenset[int], extents: Sequence[int]
) -> list[tuple[int, int, frozenset[int]]]:
    """Triples (left, right, iterators kept) of a product's operands to contract one after another,
    each result taking the left's place; the last one takes place 0.

    Greedy: the pair whose result is smallest beyond its operands comes first; ties in given order.
    """
    current = dict(enumerate(dims))
    order = []

    def kept(left: int, right: int) -> frozenset[int]:
        others = (dims for key, dims in current.items() if key not in (left, right))
        return (current[left] | current[right]) & loops.union(*others)

    def growth(pair: tuple[int, int]) -> int:
        left, right = (_size(current[side], extents) for side in pair)
        return _size(kept(*pair), extents) - left - right

    while len(current) > 1:
        left, right = min(combinations(current, 2), key=growth)
        order.append((left, right, kept(left, right)))
        current[left] = kept(left, right)
        del current[right]
    return order


def _size(iterators: Iterable[int], extents: Sequence[int]) -> int:
    return prod(extents[i] for i in iterators)
