"""The reads of a scope: which elements of which tensors each of its elements depends on.

    reads(f(x, y, ...))  =  reads(x) | reads(y) | ...         reads(A[p])  =  {(A, p)}

The interpreter finds them as it finds values, in a field whose numbers are sets.  An access outside
of a tensor reads nothing; of a select, only the branch that a condition on indices takes is read,
and of a choice by values both.  A set is an integer, bit n of which stands for element n.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from einderive.ta.exact.fields import Array, Field
from einderive.ta.exact.interp import evaluate
from einderive.ta.ir.affine import bits
from einderive.ta.ir.node import Number, Reducer, Scope, Tensor


class ReadsField(Field):
    """Sets of elements, by union, whatever the operation."""

    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    block: ClassVar[int] = 1 << 16

    def constant(self, value: Number) -> Array:
        return np.full((), 0, dtype=object)

    def convert(self, values: npt.ArrayLike) -> Array:
        """Sets as they are; numbers, which iterators have as values, read nothing."""
        given = np.asarray(values)
        return given if given.dtype == object else np.full(given.shape, 0, dtype=object)

    def power(self, base: Array, exponent: int) -> Array:
        return base

    def apply(self, function: str, *args: Array) -> Array:
        return reduce(np.bitwise_or, args, self.constant(0))

    def combine(self, reducer: Reducer, left: Array, right: Array) -> Array:
        return np.asarray(np.bitwise_or(left, right), dtype=object)

    def reduce(self, reducer: Reducer, values: Array, axes: int) -> Array:
        for _ in range(axes):
            values = np.asarray(np.bitwise_or.reduce(values, axis=-1), dtype=object)
        return values

    def random(self, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
        raise NotImplementedError("sets of elements are not drawn")

    def identity(self, reducer: Reducer) -> Array:
        return self.constant(0)


def reads(scope: Scope, tensors: Sequence[Tensor]) -> list[frozenset[tuple[str, int]]]:
    """For each element of the scope, in order of memory, the elements of the tensors that it reads,
    as names and flat positions.  `tensors` are all that the scope reads, through nested scopes
    too."""
    values: dict[str, Array] = {}
    labels: list[tuple[str, int]] = []
    for tensor in tensors:
        count = prod(tensor.shape)
        tags: Array = np.empty(count, dtype=object)
        tags[:] = [1 << (len(labels) + place) for place in range(count)]
        values[tensor.name] = tags.reshape(tensor.shape)
        labels += [(tensor.name, place) for place in range(count)]
    found = evaluate(scope, values, ReadsField()).reshape(-1)
    return [frozenset(labels[bit] for bit in bits(held)) for held in found]
