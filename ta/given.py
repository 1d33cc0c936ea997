"""Shapes and ranges as they are given beside a text, checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from operator import index as whole

from ta.affine import Range
from ta.errors import RangeError
from ta.width import SAID, fits

Shapes = Mapping[str, Sequence[int]]


def checked_shapes(shapes: object) -> dict[str, tuple[int, ...]]:
    """Every shape as a tuple of integers; RangeError for anything else."""
    return {str(name): checked_shape(str(name), shape) for name, shape in _named(shapes, "shapes")}


def checked_shape(name: str, shape: object) -> tuple[int, ...]:
    """A sequence of whole numbers; text, floats and arrays of data are none."""
    example = f"for example {name}=(64, 32); a scalar's shape is ()"
    try:
        if isinstance(shape, Iterable) and not isinstance(shape, str | bytes | Set | Mapping):
            extents = tuple(whole(extent) for extent in shape)
            if any(extent < 0 for extent in extents):
                raise RangeError(
                    f"the shape {extents} of {name} has a negative size", next_step=example
                )
            if not fits(*extents):
                raise RangeError(
                    f"the shape of {name} has a size of {SAID} or more",
                    next_step="use sizes whose indices fit 64 bits",
                )
            return extents
    except TypeError:
        pass
    what = f"{shape!r:.80}"
    if hasattr(shape, "shape"):
        extents = tuple(shape.shape)
        what, example = f"an array of shape {extents}", f"pass the array's shape: {name}={extents}"
    raise RangeError(
        f"the shape of {name} is a tuple of whole numbers, not {what}", next_step=example
    )


def checked_ranges(ranges: object) -> dict[str, Range]:
    """Every range as a pair of integers in order; RangeError for anything else."""
    return {str(name): _checked_range(str(name), bound) for name, bound in _named(ranges, "ranges")}


def _checked_range(name: str, bound: object) -> Range:
    try:
        if isinstance(bound, Sequence) and not isinstance(bound, str | bytes):
            lo, hi = map(whole, bound)
            if lo > hi:
                raise RangeError(
                    f"the range {lo}:{hi} of {name} ends before it begins",
                    next_step=f"pass ranges={{{name!r}: ({hi}, {lo})}}",
                )
            if not fits(lo, hi):
                raise RangeError(
                    f"the range of {name} reaches {SAID} or more",
                    next_step="use ends whose indices fit 64 bits",
                )
            return Range(lo, hi)
    except (TypeError, ValueError):  # not two, or not whole
        pass
    raise RangeError(
        f"the range of {name} is a pair of whole numbers, not {bound!r:.80}",
        next_step=f"for example ranges={{{name!r}: (0, 16)}}",
    )


def _named(given: object, what: str) -> Iterable[tuple[object, object]]:
    if not isinstance(given, Mapping):
        raise RangeError(
            f"{what} are given by name, not as {given!r:.80}",
            next_step=f"for example {what}={{'i': (0, 16)}}",
        )
    return given.items()
