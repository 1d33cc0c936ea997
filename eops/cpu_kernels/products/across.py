"""A product whose vectors are rows of the result.

for parts of k:   for k:   t[i,:] += X[i,k] * Y[k,:]        X's number in all lanes
                  T[i,:] += t[i,:]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from llvmlite import ir

from einderive.eops.cpu_kernels.products.writer import INT, SHORT, Writer

PART: Final = 256
"""This many products are added to each other before they are added to the total."""
TOTALS: Final = 8
"""Vectors of totals, which keep the processor's units of multiplication busy."""
LANES: Final = {"float32": (4, 8, 16), "float64": (2, 4, 8)}


class Across(Writer):
    """The columns of Y lie side by side."""

    def __init__(self, module: Any, name: str, columns: int, dtype: str) -> None:
        lanes = next((n for n in LANES[dtype] if n >= columns), LANES[dtype][-1])
        super().__init__(module, name, columns, dtype, lanes)
        self.vectors = -(-columns // lanes)
        self.rows_at_once = TOTALS // self.vectors

    def rows(self, row: Any, first: Sequence[Any]) -> None:
        count = len(first) * self.vectors
        totals, parts = self.rooms(count), self.rooms(count)
        with self.loop(INT(0), self.terms, PART) as begin:
            end = self.least(self.builder.add(begin, INT(PART)), self.terms)
            self.clear(parts)
            with self.loop(begin, end, 1) as term:
                self._products(first, term, parts)
            for total, part in zip(totals, parts, strict=True):
                self.accumulate(total, self.builder.load(part))
        for place, total in enumerate(totals):
            r, v = divmod(place, self.vectors)
            given = [
                self.builder.load(total),
                self.result(row, r, v * self.lanes),
                SHORT(self.bytes),
                self._inside(v),
            ]
            self.called(f"llvm.masked.store.{self.suffix}.p0", ir.VoidType(), given)

    def _products(self, first: Sequence[Any], term: Any, parts: Sequence[Any]) -> None:
        """Those of one k."""
        builder = self.builder
        at = builder.mul(term, self.y_row)
        sides = [
            self.load(builder.gep(self.y, [builder.add(at, INT(v * self.lanes))]), self._inside(v))
            for v in range(self.vectors)
        ]
        step = builder.mul(term, self.x_term)
        for r, start in enumerate(first):
            number = self.everywhere(builder.load(builder.gep(start, [step])))
            for v, side in enumerate(sides):
                self.multiply_add(parts[r * self.vectors + v], number, side)

    def _inside(self, v: int) -> Any:
        """The places of a row's vector that lie in the row."""
        return self.mask(self.columns - v * self.lanes)
