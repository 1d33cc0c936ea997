"""Windows as the library knows them: a dimension x that kernel positions slide over.

    operand[unit*(stride*h + dilation*r) + rest]  =  view[x]  at  x = stride*h + |dilation|*r'
    with view[x] = operand[unit*x + rest]         and r' = r, or r reversed where dilation < 0

The view covers only the x that are read.  If the outermost x lie outside of the operand, and the
operand's fill is the value with which the library pads, then the library pads, equally on both
sides.  It may then compute some outputs before or after those that are needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from einderive.ta.ir import affine
from einderive.ta.ir.affine import Range, Row
from einderive.ta.ir.node import Access, Number
from einderive.ta.ir.operator import Binding, Window

MOST_EXTRA = 1 / 8
"""The largest share of a dimension that may be padding whose outputs are computed in vain.  Beyond
it, the operand is copied without them."""


class Slide(NamedTuple):
    """One window: `position` is that of x, `bound` its range, `padding` the library's on both
    sides, `skipped` the outputs it computes before the first that is wanted."""

    window: Window
    position: int
    bound: Range
    extent: int
    kernel: int
    padding: int = 0
    skipped: int = 0

    @property
    def stride(self) -> int:
        return self.window.stride

    @property
    def dilation(self) -> int:
        return abs(self.window.dilation)


def split_row(row: Row, window: Window) -> tuple[Row, Row]:
    """`(stride*h + dilation*r, rest)`."""
    loop, reduction = (window.loop, window.stride), (window.reduction, window.dilation)
    inner = Row(0, (loop, reduction) if loop < reduction else (reduction, loop))
    rest = tuple([(i, a) for i, a in row.terms if i not in (window.loop, window.reduction)])
    return inner, Row(row.const, rest, row.floors)


def touched(row: Row, window: Window, source: Range, domain: Sequence[Range]) -> Range:
    """The x for which `unit*x + rest` can lie in the source."""
    _, rest = split_row(row, window)
    low, high = affine.bounds(rest, domain)
    return Range(-((high - source.lo) // window.unit), (source.hi - 1 - low) // window.unit + 1)


def slides(binding: Binding, pads_with: Number, pooling: bool = False) -> tuple[Slide, ...]:
    """The binding's windows.  With `pooling`, the library pads by at most half the kernel, and does
    not pad a dimension that is shorter than the kernel."""
    domain = binding.scope.domain
    found = []
    for place, window in enumerate(binding.windows, len(domain)):
        read = binding.operands[window.operand]
        inner, _ = split_row(read.rows[window.dimension], window)
        low, high = affine.bounds(inner, domain)
        extents = domain[window.loop].extent, domain[window.reduction].extent
        slide = Slide(window, place, Range(low, high + 1), *extents)
        if read.fill == pads_with:
            most = slide.kernel // 2 if pooling else slide.bound.extent
            padded = _padded(slide, read, domain, most)
            if not pooling or padded.bound.extent >= slide.kernel:
                slide = padded
        found.append(slide)
    return tuple(found)


def _padded(slide: Slide, read: Access, domain: Sequence[Range], most: int) -> Slide:
    window, (low, stop) = slide.window, slide.bound
    dimension = window.dimension
    hit = touched(read.rows[dimension], window, read.source.ranges[dimension], domain)
    first, end = max(low, hit.lo), min(stop, hit.hi)
    if first >= end:
        return slide
    before, after = first - low, stop - end
    padding = max(before, after)
    skipped = padding - before
    extra = 2 * padding - before - after
    if padding <= most and skipped % slide.stride == 0 and extra <= MOST_EXTRA * (stop - low):
        return slide._replace(
            bound=Range(first, end), padding=padding, skipped=skipped // slide.stride
        )
    padding = min(before, after, most)  # the rest is padded by copying
    return slide._replace(bound=Range(low + padding, stop - padding), padding=padding)


def view_rows(read: Access, found: Sequence[Slide]) -> tuple[Row, ...]:
    """The operand's rows with x in the place of each window."""
    rows = list(read.rows)
    for slide in found:
        window = slide.window
        _, rest = split_row(rows[window.dimension], window)
        rows[window.dimension] = affine.add(rest, affine.iterator(slide.position), window.unit)
    return tuple(rows)


def reversed_kernel(
    read: Access, found: Sequence[Slide], domain: Sequence[Range]
) -> tuple[Row, ...]:
    """The kernel's rows with r reversed wherever it runs against x."""
    backwards = [s.window.reduction for s in found if s.window.dilation < 0]
    replacement = list(affine.iterator_rows(len(domain) if backwards else 0))
    for r in backwards:
        replacement[r] = Row(domain[r].lo + domain[r].hi - 1, ((r, -1),))
    if not replacement:
        return read.rows
    return tuple(affine.substitute(row, replacement) for row in read.rows)


def bounds_of(binding: Binding, found: Sequence[Slide]) -> Mapping[int, Range]:
    """The ranges of the scope's iterators and of every x."""
    return dict(enumerate(binding.scope.domain)) | {s.position: s.bound for s in found}


def wanted(result: torch.Tensor, found: Sequence[Slide]) -> torch.Tensor:
    """The outputs that the binding needs.  The windows are the last dimensions."""
    for axis, slide in enumerate(found, result.dim() - len(found)):
        result = result.narrow(axis, slide.skipped, slide.extent)
    return result
