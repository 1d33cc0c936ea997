"""Shapes and ranges that are given beside a text, checked before the text is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from operator import index as whole

from einderive.ta.errors import shown
from einderive.ta.given.width import SAID, fits
from einderive.ta.ir.affine import Range
from einderive.ta.refusals import misgiven

Shapes = Mapping[str, Sequence[int]]
MOST_DIMENSIONS = 1000


def checked_shapes(shapes: object) -> dict[str, tuple[int | str, ...]]:
    """Every shape as a tuple of integers and names of sizes.  RangeError for anything else."""
    return {name: _with_names(name, shape) for name, shape in named(shapes, "shapes")}


def _with_names(name: str, shape: object) -> tuple[int | str, ...]:
    sizes = shape if isinstance(shape, tuple | list) else ()
    words = [isinstance(size, str) and size.isidentifier() for size in sizes]
    if not any(words):
        return checked_shape(name, shape)
    numbers = iter(
        checked_shape(name, [s for s, word in zip(sizes, words, strict=True) if not word])
    )
    return tuple(s if word else next(numbers) for s, word in zip(sizes, words, strict=True))


def checked_sizes(sizes: object) -> dict[str, int]:
    """Every size as an integer of at least 0.  RangeError for anything else."""
    return {name: _checked_size(name, size) for name, size in named(sizes, "sizes")}


def _checked_size(name: str, size: object) -> int:
    numbers = _whole_numbers((size,))
    if numbers is not None and numbers[0] < 0:
        raise misgiven("negative-number", name=name, given=numbers[0])
    (number,) = checked_shape(name, size if numbers is None else (size,))
    return number


def checked_shape(name: str, shape: object) -> tuple[int, ...]:
    """The shape as a tuple, from a sequence of whole numbers.  Text, floats and arrays of data are
    refused."""
    extents = None if isinstance(shape, bytes) else _whole_numbers(shape)
    if extents is None:
        own = _own_shape(shape)
        if own is not None:
            raise misgiven("shape-is-array", name=name, shape=str(own))
        raise misgiven("shape-of-others", name=name, given=shown(shape))
    if len(extents) > MOST_DIMENSIONS:
        raise misgiven("many-dimensions", name=name, most=MOST_DIMENSIONS)
    if any(extent < 0 for extent in extents):
        raise misgiven("negative-size", name=name, given=shown(extents))
    if not fits(*extents):
        raise misgiven("large-size", name=name, most=SAID)
    return extents


def _own_shape(array: object) -> tuple[int, ...] | None:
    try:
        return _whole_numbers(getattr(array, "shape", None))
    except Exception:  # whatever the property raises
        return None


def several(values: object, most: int) -> tuple[object, ...] | None:
    """The elements of a sequence, an iterator or an array, at most one more than `most` of them.
    None for a text, a set, a mapping and everything else."""
    if isinstance(values, str | bytes | bytearray | Set | Mapping):
        return None
    try:
        return tuple(islice(values, most + 1)) if isinstance(values, Iterable) else None
    except Exception:  # whatever an iterator of the caller's raises
        return None


def _whole_numbers(values: object) -> tuple[int, ...] | None:
    found = several(values, MOST_DIMENSIONS)
    try:
        return None if found is None else tuple(map(whole, found))  # type: ignore[arg-type]
    except Exception:  # a TypeError, or whatever a number of the caller's raises
        return None


def checked_ranges(ranges: object) -> dict[str, Range]:
    """Every range as a pair of integers in order.  RangeError for anything else."""
    return {name: _checked_range(name, bound) for name, bound in named(ranges, "ranges")}


def _checked_range(name: str, bound: object) -> Range:
    ends = _whole_numbers(bound) if isinstance(bound, Sequence) else None
    if ends is None or len(ends) != 2:
        raise misgiven("range-of-others", name=name, given=shown(bound))
    lo, hi = ends
    if not fits(lo, hi):
        raise misgiven("large-range", name=name, most=SAID)
    if lo > hi:
        raise misgiven("given-range-ends-first", name=name, lo=lo, hi=hi)
    return Range(lo, hi)


def named(given: object, what: str) -> Iterable[tuple[str, object]]:
    """The mapping from names to what is given.  RangeError if it is no mapping from names."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise misgiven("not-by-name", what=what, given=shown(given))
    return given.items()
