"""A product whose vectors are parts of the sum.

for parts of k:   for 16 k at once:   t[i,j] += X[i,k] * Y[k,j]        lane by lane
                  T[i,j] += t[i,j]
Z[i,j] = the sum of the lanes of T[i,j]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Final

from einderive.eops.cpu_kernels.products.writer import INT, Writer

PART: Final = 256
"""This many products are added to each other in a lane before they are added to the total."""
TOTALS: Final = 12
"""Vectors of totals that fit into registers, beside those of the parts."""
LANES: Final = {"float32": 16, "float64": 8}
MOST: Final = 6
"""With more columns, sums of the lanes take longer than what this way saves."""


class Along(Writer):
    """The rows of X and the columns of Y lie side by side."""

    def __init__(self, module: Any, name: str, columns: int, dtype: str) -> None:
        super().__init__(module, name, columns, dtype, LANES[dtype])
        self.rows_at_once = max(1, TOTALS // columns)

    def rows(self, row: Any, first: Sequence[Any]) -> None:
        builder = self.builder
        places = [*product(range(len(first)), range(self.columns))]
        totals, parts = self.rooms(len(places)), self.rooms(len(places))
        left = builder.srem(self.terms, INT(self.lanes))
        whole = builder.sub(self.terms, left)
        step = PART * self.lanes
        with self.loop(INT(0), whole, step) as begin:
            end = self.least(builder.add(begin, INT(step)), whole)
            self.clear(parts)
            with self.loop(begin, end, self.lanes) as term:
                self._products(first, term, self.mask(self.lanes), parts)
            for total, part in zip(totals, parts, strict=True):
                self.accumulate(total, builder.load(part))
        with builder.if_then(builder.icmp_signed(">", left, INT(0))):
            self._products(first, whole, self.until(left), totals)
        for (r, column), total in zip(places, totals, strict=True):
            found = self.lanes_added(builder.load(total))
            builder.store(found, self.result(row, r, column))

    def _products(self, first: Sequence[Any], term: Any, mask: Any, totals: Sequence[Any]) -> None:
        """Those of as many k as there are lanes, from `term` on."""
        builder = self.builder
        sides = []
        for column in range(self.columns):
            at = builder.add(builder.mul(INT(column), self.y_column), term)
            sides.append(self.load(builder.gep(self.y, [at]), mask))
        for r, start in enumerate(first):
            numbers = self.load(builder.gep(start, [term]), mask)
            for column, side in enumerate(sides):
                self.multiply_add(totals[r * self.columns + column], numbers, side)
