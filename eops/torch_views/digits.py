"""Iterators under `//` and `%` as mixed-radix digits, so that rows become affine.

    m = 256*u + 4*v + p:      m % 4 = p,   (m//4) % 64 = v,   m//256 = u

The divisors of one iterator must form a divisibility chain.  A loop whose range the digits do not
fill is computed on the full box of digits and cut afterwards; a sum is split only if they fill it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Final

import torch

from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.canon import scope as make_scope
from einderive.ta.ir.node import Access, Node, Scope, Select
from einderive.ta.ir.subst import substitute, walk

MOST_GROWTH: Final = 2.0
"""A loop stays as it is if the box of its digits would have more than twice as many points."""


@dataclass(frozen=True, slots=True)
class Regroup:
    """From the digit loops back to the original ones: `shape`, then (dimension, start, length)."""

    shape: tuple[int, ...]
    crops: tuple[tuple[int, int, int], ...]

    def __call__(self, result: torch.Tensor) -> torch.Tensor:
        if result.shape != self.shape:
            result = result.reshape(self.shape)
        for dimension, start, length in self.crops:
            result = result.narrow(dimension, start, length)
        return result


def split_digits(scope: Scope) -> tuple[Scope, Regroup]:
    """The scope on digits wherever that makes rows affine, and the way back to its own loops.

    The scope must have no empty range.  Floors of `i + c` or of several iterators stay.
    """
    divisors = _divisors(scope.body)
    chains = [_chain(divisors.get(i, set())) for i in range(len(scope.domain))]
    splits = [
        _digits(bound, chain, exact=i >= len(scope.loops))
        for i, (bound, chain) in enumerate(zip(scope.domain, chains, strict=True))
    ]
    if all(len(digits) == 1 for digits in splits):
        return scope, Regroup(scope.shape, ())
    replacement: list[Row] = []
    position = 0
    for digits, chain in zip(splits, chains, strict=True):
        weights = [*reversed(chain), 1] if len(digits) > 1 else [1]
        replacement.append(Row(0, tuple((position + d, w) for d, w in enumerate(weights))))
        position += len(digits)
    loops = splits[: len(scope.loops)]
    sums = splits[len(scope.loops) :]
    split = make_scope(
        [bound for digits in loops for bound in digits],
        [bound for digits in sums for bound in digits],
        substitute(scope.body, replacement),
        scope.reducer,
    )
    return split, _regroup(scope.loops, loops, chains)


def _divisors(body: Node) -> dict[int, set[int]]:
    """Per iterator, the divisors under which it stands alone."""
    found: dict[int, set[int]] = {}

    def visit(row: Row) -> None:
        for inner, divisor, _ in row.floors:
            if inner.lone is not None:
                found.setdefault(inner.lone, set()).add(divisor)
            visit(inner)

    for node in walk(body):
        rows: Sequence[Row] = ()
        if isinstance(node, Access):
            rows = node.rows
        elif isinstance(node, Select):
            rows = [condition.row for condition in node.conditions]
        for row in rows:
            visit(row)
    return found


def _chain(divisors: set[int]) -> list[int]:
    """The divisors in rising order if each divides the next, else none."""
    rising = sorted(divisors)
    return rising if all(b % a == 0 for a, b in pairwise(rising)) else []


def _digits(bound: Range, chain: list[int], *, exact: bool) -> list[Range]:
    """The digits' ranges, most significant first; the range itself where it is not split."""
    if not chain:
        return [bound]
    top = Range(bound.lo // chain[-1], -(-bound.hi // chain[-1]))
    covered = top.extent * chain[-1]
    if covered > (bound.extent if exact else MOST_GROWTH * bound.extent):
        return [bound]
    lower = [b // a for a, b in pairwise([1, *chain])]
    return [top, *(Range(0, extent) for extent in reversed(lower))]


def _regroup(
    loops: Sequence[Range], splits: Sequence[list[Range]], chains: Sequence[list[int]]
) -> Regroup:
    crops = []
    for dimension, (loop, digits) in enumerate(zip(loops, splits, strict=True)):
        if len(digits) > 1:
            weight = chains[dimension][-1]
            if digits[0].extent * weight != loop.extent:
                crops.append((dimension, loop.lo - digits[0].lo * weight, loop.extent))
    return Regroup(tuple(prod(d.extent for d in digits) for digits in splits), tuple(crops))
