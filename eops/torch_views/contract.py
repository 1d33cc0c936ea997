"""Contraction of strided operands by the library's matrix products.

    Z[batch, m, n] = S[k] X[batch, m, k] * Y[batch, k, n]

Each role is played by any number of iterators; their dimensions are merged by reshaping.  Where the
batch's strides do not merge, the product is computed slice by slice into the result: overlapping
operands are then never written out in full.  16-bit products accumulate in float32 (as the library
does: on CUDA subject to torch.backends.cuda.matmul's reduced-precision settings).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from itertools import pairwise, product
from math import inf, prod
from typing import Final, NamedTuple, TypeAlias

import torch

from einderive.eops.timed import fastest, is_timed
from einderive.eops.torch_views.steps import Dims, align, order_of_rows, reduced

SLENDER: Final = 8
"""A product this many times longer than wide is computed with its long side as rows: 4096 x 4096
times 4096 x 32 takes 8.4 ms on two cores, its transpose 14 ms (`frontend.bench.ceilings`)."""
WIDEST: Final = 64
"""A product with more columns takes as long in both orders of its factors, within a fifth."""
MEASURED: Final = 1 << 22
"""This many multiply-adds of a product are measured to choose the order of its factors."""
LEAST_SLICE: Final = 1 << 17
"""Multiply-adds below which a slice's call costs more than copying the operands at once:
2^17 take about as long as the call itself (10 microseconds on one core)."""

Multiply: TypeAlias = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""The product of two matrices."""
NARROW: Final = 32
_NARROW_BY: ContextVar[Multiply | None] = ContextVar("narrow by", default=None)


class Operand(NamedTuple):
    """`dims`: the iterator of each dimension of the tensor, rising."""

    tensor: torch.Tensor
    dims: Dims


def sum_over(operand: Operand, iterators: Sequence[int]) -> Operand:
    """The sum over those of the iterators that the operand has, in the operand's type."""
    axes = [axis for axis, i in enumerate(operand.dims) if i in iterators]
    if not axes:
        return operand
    kept = [axis for axis in range(len(operand.dims)) if axis not in axes]
    tensor = operand.tensor.permute(*kept, *axes)
    tensor = reduced("sum", tensor, len(kept), tensor.dtype, dense=False)
    return Operand(tensor, tuple(operand.dims[axis] for axis in kept))


@contextmanager
def narrow_by(multiply: Multiply) -> Iterator[None]:
    """A context in which this function multiplies matrices of which the second one has at most
    `NARROW` columns, and no more than the first one has rows."""
    token = _NARROW_BY.set(multiply)
    try:
        yield
    finally:
        _NARROW_BY.reset(token)


def contract(left: Operand, right: Operand, kept: frozenset[int]) -> Operand:
    """`S[all iterators that are not kept] left * right`; both tensors have one type.

    The result may be a permuted view of fresh memory.
    """
    private = _private(left.dims, right.dims, kept)
    if private:
        left, right = sum_over(left, private), sum_over(right, private)
    x, y = left.tensor, right.tensor
    shapes = (
        Shape(left.dims, tuple(x.shape), x.stride()),
        Shape(right.dims, tuple(y.shape), y.stride()),
    )
    layout = _layout(*shapes, kept)
    floating = x.dtype.is_floating_point or x.dtype.is_complex
    if layout is None or (x.is_cuda and not floating):
        dims = tuple(sorted({*left.dims, *right.dims}))
        whole = Operand(align(x, left.dims, dims) * align(y, right.dims, dims), dims)
        return sum_over(whole, [i for i in dims if i not in kept])
    multiply = _NARROW_BY.get()
    if multiply is not None and layout.single and 1 < layout.narrowest <= NARROW:
        long_rows = _layout(*shapes, kept, long_rows=True)
        assert long_rows is not None
        return _product(x, y, long_rows, multiply)
    if layout.narrow and x.dtype in (torch.float32, torch.float64) and is_timed(x, y):
        key = (*shapes, kept, x.dtype)
        if fastest(key, lambda: _forms(left, right, kept)):
            turned = _layout(*shapes, kept, turned=True)
            assert turned is not None
            return _product(x, y, turned)
    return _product(x, y, layout)


def _forms(left: Operand, right: Operand, kept: frozenset[int]) -> list[Callable[[], object]]:
    """The product in both orders of its factors, or a piece of it, if it is long."""
    extents = {
        i: n for one in (left, right) for i, n in zip(one.dims, one.tensor.shape, strict=True)
    }
    longest = max({*left.dims} ^ {*right.dims}, key=extents.__getitem__)
    rows = max(1, extents[longest] * MEASURED // max(1, prod(extents.values())))

    def piece(one: Operand) -> torch.Tensor:
        if longest not in one.dims or rows >= extents[longest]:
            return one.tensor
        return one.tensor.narrow(one.dims.index(longest), 0, rows)

    x, y = piece(left), piece(right)
    shapes = (
        Shape(left.dims, tuple(x.shape), x.stride()),
        Shape(right.dims, tuple(y.shape), y.stride()),
    )
    layouts = [_layout(*shapes, kept, turned=turned) for turned in (False, True)]
    return [partial(_product, x, y, layout) for layout in layouts if layout is not None]


def _product(
    x: torch.Tensor, y: torch.Tensor, layout: _Layout, multiply: Multiply = torch.mm
) -> Operand:
    if layout.swapped:
        x, y = y, x
    b, m, n, k = layout.sizes
    x, y = x.permute(layout.x_axes), y.permute(layout.y_axes)
    if layout.single:
        result = multiply(x.reshape(m, k), y.reshape(k, n))
    elif not layout.looped:
        result = torch.bmm(x.reshape(b, m, k), y.reshape(b, k, n))
    else:
        result = x.new_empty([*layout.looped, b, m, n])
        for index in product(*map(range, layout.looped)):
            _product_into(result[index], x[index].reshape(b, m, k), y[index].reshape(b, k, n))
    return Operand(result.view(layout.result).permute(layout.result_axes), layout.dims)


def result_order(left: Shape, right: Shape, kept: frozenset[int]) -> Dims:
    """The iterators of the product of two such operands as its result is stored, slowest first: in
    the form that is taken unless the other one is measured to be faster."""
    layout = _layout(left, right, kept)
    if layout is None:  # the product of all terms lies as the left one does, and so does its sum
        dims = (
            *sorted({*left.dims, *right.dims} & kept),
            *sorted({*left.dims, *right.dims} - kept),
        )
        extents = left.size_of | right.size_of
        steps = right.stride_of | {i: step for i, step in left.stride_of.items() if step}
        lies = sorted(dims, key=lambda i: -(steps.get(i) or inf))
        sizes = tuple(extents[i] for i in dims)
        strides = tuple(prod(extents[j] for j in lies[lies.index(i) + 1 :]) for i in dims)
        count = sum(i in kept for i in dims)
        order = order_of_rows(sizes, strides, count)
        return tuple(dims[axis] for axis in order or range(count))
    return tuple(i for _, i in sorted(zip(layout.result_axes, layout.dims, strict=True)))


@lru_cache(maxsize=4096)
def _private(left: Dims, right: Dims, kept: frozenset[int]) -> Dims:
    """The summed iterators that stand in one operand only."""
    return tuple(i for i in {*left, *right} - kept if i not in left or i not in right)


class Shape(NamedTuple):
    """An operand's iterators, rising, with their extents and their steps through its memory."""

    dims: Dims
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def size_of(self) -> dict[int, int]:
        return dict(zip(self.dims, self.sizes, strict=True))

    @property
    def stride_of(self) -> dict[int, int]:
        return dict(zip(self.dims, self.strides, strict=True))


class _Layout(NamedTuple):
    """X's axes become (looped, b, m, k), Y's (looped, b, k, n), after swapping the operands where
    so marked; the product has the sizes `result`, and `result_axes` puts these into the order of
    `dims`.  `narrow`: one side is so much shorter that the other order may be the faster one."""

    swapped: bool
    x_axes: tuple[int, ...]
    y_axes: tuple[int, ...]
    looped: tuple[int, ...]
    sizes: tuple[int, int, int, int]
    result: tuple[int, ...]
    result_axes: tuple[int, ...]
    dims: Dims
    narrow: bool = False

    @property
    def single(self) -> bool:
        """Whether it is one product of matrices."""
        return not self.looped and self.sizes[0] == 1

    @property
    def narrowest(self) -> int:
        """The rows or the columns, if these are fewer."""
        return min(self.sizes[1:3])


@lru_cache(maxsize=4096)
def _layout(
    x: Shape, y: Shape, kept: frozenset[int], *, turned: bool = False, long_rows: bool = False
) -> _Layout | None:
    """The layout in which the contraction is a batched matrix product.  None if it is none: nothing
    is summed, or all kept iterators are in both operands.  `turned`: with the operands in the other
    order; `long_rows`: in that in which there are no more columns than rows."""
    shared = {*x.dims} & {*y.dims}
    m = tuple(i for i in x.dims if i not in shared)
    n = tuple(i for i in y.dims if i not in shared)
    k = tuple(shared - kept)
    if not k or not (m or n):
        return None
    extents = x.size_of | y.size_of
    rows, columns = _size(m, extents), _size(n, extents)
    swapped = bool(m and (not n or max(m) > max(n)))  # the last iterator becomes contiguous
    slender = max(rows, columns) >= SLENDER * min(rows, columns)
    if slender or long_rows:
        swapped = rows < columns
    if swapped is not turned:
        x, y, m, n = y, x, n, m
    larger = x if prod(x.sizes) >= prod(y.sizes) else y
    batch, k = _by_stride(larger, tuple(shared & kept)), _by_stride(larger, k)
    m, n = _rows_order(x, m, batch), _by_stride(y, n)

    size = partial(_size, extents=extents)
    together = max(_mergeable_runs(x, y, batch), key=size, default=())
    looped = tuple(i for i in batch if i not in together)
    if looped and size((*together, *m, *n, *k)) < LEAST_SLICE:
        together, looped = batch, ()
    order = looped + together + m + n
    dims = tuple(sorted(order))
    return _Layout(
        swapped is not turned,
        tuple(x.dims.index(i) for i in looped + together + m + k),
        tuple(y.dims.index(i) for i in looped + together + k + n),
        tuple(extents[i] for i in looped),
        (size(together), size(m), size(n), size(k)),
        tuple(extents[i] for i in order),
        tuple(order.index(i) for i in dims),
        dims,
        slender and 1 < min(rows, columns) <= WIDEST,
    )


def _size(iterators: Iterable[int], extents: Mapping[int, int] | Sequence[int]) -> int:
    return prod(extents[i] for i in iterators)


def _product_into(out: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    if len(out) == 1:
        torch.mm(x[0], y[0], out=out[0])
    else:
        torch.bmm(x, y, out=out)


def _by_stride(operand: Shape, iterators: Dims) -> Dims:
    strides = operand.stride_of
    return tuple(sorted(iterators, key=lambda i: (-strides[i], i)))


def _rows_order(operand: Shape, m: Dims, batch: Dims) -> Dims:
    """The order of the rows: by stride if m merges without a copy.  Otherwise the loop that follows
    the batch's last one comes first, so that these two stay one dimension of the result."""
    order = _by_stride(operand, m)
    sizes, strides = operand.size_of, operand.stride_of
    merges = all(strides[i] == strides[j] * sizes[j] for i, j in pairwise(order))
    if merges or not batch or batch[-1] + 1 not in order:
        return order
    following = batch[-1] + 1
    return (following, *(i for i in order if i != following))


def _mergeable_runs(x: Shape, y: Shape, batch: Dims) -> list[Dims]:
    """The batch cut into runs that are one dimension to both operands."""
    extents = x.size_of
    strides = (x.stride_of, y.stride_of)
    units = tuple(i for i in batch if extents[i] == 1)
    runs: list[Dims] = []
    for i in batch:
        if i in units:
            continue
        if runs and all(s[runs[-1][-1]] == s[i] * extents[i] for s in strides):
            runs[-1] = (*runs[-1], i)
        else:
            runs.append((i,))
    return [units + runs[0], *runs[1:]] if runs else [units]
