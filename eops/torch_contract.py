"""Contraction of strided operands by the library's matrix products.

    Z[batch, m, n] = S[k] X[batch, m, k] * Y[batch, k, n]

Each role is played by any number of iterators; their dimensions are merged by reshaping.  Where the
batch's strides do not merge, the product is computed slice by slice into the result: overlapping
operands are then never written out in full.  16-bit products accumulate in float32 (as the library
does: on CUDA subject to torch.backends.cuda.matmul's reduced-precision settings).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import prod
from typing import Final, NamedTuple

import torch

from eops.torch_scalar import Dims, align

LEAST_SLICE: Final = 1 << 17
"""Multiply-adds below which a slice's call costs more than copying the operands at once:
2^17 take about as long as the call itself (10 microseconds on one core)."""


class Operand(NamedTuple):
    """`dims`: the iterator of each dimension of the tensor, rising."""

    tensor: torch.Tensor
    dims: Dims

    @property
    def extents(self) -> dict[int, int]:
        return dict(zip(self.dims, self.tensor.shape, strict=True))


def sum_over(operand: Operand, iterators: Sequence[int]) -> Operand:
    """The sum over those of the iterators that the operand has, in its own type."""
    axes = [axis for axis, i in enumerate(operand.dims) if i in iterators]
    if not axes:
        return operand
    tensor = operand.tensor.sum(axes, dtype=operand.tensor.dtype)
    return Operand(tensor, tuple(i for i in operand.dims if i not in iterators))


def contract(left: Operand, right: Operand, kept: frozenset[int]) -> Operand:
    """`S[all iterators that are not kept] left * right`; both tensors have one type.

    The result may be a permuted view of fresh memory.
    """
    shared = set(left.dims) & set(right.dims)
    left = sum_over(left, [i for i in left.dims if i not in kept and i not in shared])
    right = sum_over(right, [i for i in right.dims if i not in kept and i not in shared])
    dims = tuple(sorted({*left.dims, *right.dims}))
    summed = tuple(i for i in dims if i not in kept)
    m = tuple(i for i in left.dims if i not in shared)
    n = tuple(i for i in right.dims if i not in shared)
    dtype = left.tensor.dtype
    has_library = dtype.is_floating_point or dtype.is_complex or not left.tensor.is_cuda
    if not summed or not has_library or not (m or n):
        x, y = align(left.tensor, left.dims, dims), align(right.tensor, right.dims, dims)
        return sum_over(Operand(x * y, dims), summed)
    if m and (not n or max(m) > max(n)):  # the last iterator becomes the contiguous one
        return _matrix_product(right, left, tuple(shared & kept), n, m, summed)
    return _matrix_product(left, right, tuple(shared & kept), m, n, summed)


def _matrix_product(x: Operand, y: Operand, batch: Dims, m: Dims, n: Dims, k: Dims) -> Operand:
    extents = x.extents | y.extents
    larger = x if x.tensor.numel() >= y.tensor.numel() else y
    batch, k = _by_stride(larger, batch), _by_stride(larger, k)
    m, n = _by_stride(x, m), _by_stride(y, n)
    runs = _mergeable_runs(x, y, batch)
    together = max(runs, key=lambda run: prod(extents[i] for i in run), default=())
    looped = tuple(i for i in batch if i not in together)
    work = prod(extents[i] for i in (*together, *m, *n, *k))
    if looped and work < LEAST_SLICE:
        together, looped = batch, ()
    size = [prod(extents[i] for i in role) for role in (together, m, n, k)]
    xs = _permuted(x, looped + together + m + k)
    ys = _permuted(y, looped + together + k + n)
    loop_sizes = [extents[i] for i in looped]
    result = x.tensor.new_empty([*loop_sizes, size[0], size[1], size[2]])
    for index in product(*map(range, loop_sizes)):
        _product_into(
            result[index],
            xs[index].reshape(size[0], size[1], size[3]),
            ys[index].reshape(size[0], size[3], size[2]),
        )
    order = looped + together + m + n
    result = result.view([extents[i] for i in order])
    dims = tuple(sorted(order))
    return Operand(result.permute([order.index(i) for i in dims]), dims)


def _product_into(out: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    if len(out) == 1:
        torch.mm(x[0], y[0], out=out[0])
    else:
        torch.bmm(x, y, out=out)


def _permuted(operand: Operand, order: Dims) -> torch.Tensor:
    return operand.tensor.permute([operand.dims.index(i) for i in order])


def _strides(operand: Operand) -> dict[int, int]:
    return dict(zip(operand.dims, operand.tensor.stride(), strict=True))


def _by_stride(operand: Operand, iterators: Dims) -> Dims:
    strides = _strides(operand)
    return tuple(sorted(iterators, key=lambda i: (-strides[i], i)))


def _mergeable_runs(x: Operand, y: Operand, batch: Dims) -> list[Dims]:
    """The batch cut into runs that are one dimension to both operands."""
    runs: list[Dims] = []
    pairs = [(_strides(operand), operand.extents) for operand in (x, y)]
    for i in batch:
        if x.extents[i] == 1:
            runs = [*runs[:-1], (*runs[-1], i)] if runs else [(i,)]
            continue
        outer = next((o for o in reversed(runs[-1]) if x.extents[o] > 1), None) if runs else None
        if runs and (outer is None or all(s[outer] == s[i] * e[i] for s, e in pairs)):
            runs[-1] = (*runs[-1], i)
        else:
            runs.append((i,))
    return runs


def contraction_order(
    dims: Sequence[frozenset[int]], loops: frozenset[int], extents: Sequence[int]
) -> list[tuple[int, int, frozenset[int]]]:
    """Triples (left, right, iterators kept) of a product's operands to contract one after another,
    each result taking the left's place; the last one takes place 0.

    Greedy: the pair whose result is smallest beyond its operands comes first; ties in given order.
    """
    current = dict(enumerate(dims))
    order = []

    def size(iterators: frozenset[int]) -> int:
        return prod(extents[i] for i in iterators)

    def kept(left: int, right: int) -> frozenset[int]:
        others = (dims for key, dims in current.items() if key not in (left, right))
        return (current[left] | current[right]) & loops.union(*others)

    def growth(pair: tuple[int, int]) -> int:
        return size(kept(*pair)) - size(current[pair[0]]) - size(current[pair[1]])

    while len(current) > 1:
        left, right = min(combinations(current, 2), key=growth)
        order.append((left, right, kept(left, right)))
        current[left] = kept(left, right)
        del current[right]
    return order
