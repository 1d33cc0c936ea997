"""Everything that is given beside a text (shapes, types, ranges, sizes, outputs), checked and
hashable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from einderive.ta.given.outputs import checked_names
from einderive.ta.given.shapes import checked_ranges, checked_shapes, checked_sizes
from einderive.ta.ir.affine import Range
from einderive.ta.ir.dtypes import checked_dtypes

Given: TypeAlias = tuple[
    tuple[tuple[str, tuple[int | str, ...]], ...],
    tuple[tuple[str, str], ...] | str,
    tuple[tuple[str, Range], ...],
    tuple[tuple[str, int], ...],
    tuple[str, ...] | None,
]
"""Shapes, element types, ranges, sizes, outputs."""


def checked(
    shapes: object, dtypes: Mapping[str, str] | str, ranges: object, sizes: object, outputs: object
) -> Given:
    """The given values by name.  RangeError or NameUnknownError for a value that does not fit."""
    extents = tuple(checked_shapes(shapes).items())
    types = checked_dtypes(dtypes)
    named = types if isinstance(types, str) else tuple(types.items())
    bounds = tuple(checked_ranges(ranges).items())
    chosen = None if outputs is None else checked_names(outputs)
    return extents, named, bounds, tuple(checked_sizes(sizes).items()), chosen


def of_numbers(given: Given) -> dict[str, tuple[int, ...]]:
    """The shapes that have no names of sizes."""
    sizes = {name: tuple(s for s in shape if isinstance(s, int)) for name, shape in given[0]}
    return {name: sizes[name] for name, shape in given[0] if len(sizes[name]) == len(shape)}
