"""The function of a product with few columns, as LLVM has it: see `kernel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import ir

PART: Final = 256
"""So many products are added to each other before they are added to the total."""
TOTALS: Final = 8
"""Vectors of totals, which keep the processor's units of multiplication busy."""
LANES: Final = {"float32": (4, 8, 16), "float64": (2, 4, 8)}

_INT: Final = ir.IntType(64)
_SHORT: Final = ir.IntType(32)
_BIT: Final = ir.IntType(1)
_ADDRESSES: Final = _INT.as_pointer()


def written(module: Any, name: str, columns: int, dtype: str) -> Any:
    """The module with the function `name(data)`.  `data` holds the addresses of X, Y and Z, and the
    numbers of `kernel.Narrow`."""
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_ADDRESSES]), name)
    set.add(function.attributes, '"prefer-vector-width"="512"')
    _Writer(function, columns, dtype).write()
    return module


class _Writer:
    def __init__(self, function: Any, columns: int, dtype: str) -> None:
        self.function, self.module = function, function.module
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.element = ir.FloatType() if dtype == "float32" else ir.DoubleType()
        self.bytes = 4 if dtype == "float32" else 8
        self.lanes = next((n for n in LANES[dtype] if n >= columns), LANES[dtype][-1])
        self.columns = columns
        self.vector = ir.VectorType(self.element, self.lanes)
        self.vectors = -(-columns // self.lanes)

    def write(self) -> None:
        builder = self.builder
        (data,) = self.function.args
        x, y, z, rows, self.terms, self.x_row, self.x_term, self.y_term = (
            builder.load(builder.gep(data, [_INT(k)])) for k in range(8)
        )
        self.x, self.y, self.z = (
            builder.inttoptr(address, self.element.as_pointer()) for address in (x, y, z)
        )
        thread, threads = (
            builder.sext(self._called(f"einderive_omp_get_{word}", _SHORT, []), _INT)
            for word in ("thread_num", "num_threads")
        )
        low = builder.sdiv(builder.mul(rows, thread), threads)
        high = builder.sdiv(builder.mul(rows, builder.add(thread, _INT(1))), threads)
        several = TOTALS // self.vectors
        whole = builder.sub(high, builder.srem(builder.sub(high, low), _INT(several)))
        for start, end, count in ((low, whole, several), (whole, high, 1)):
            with self._loop(start, end, count) as row:
                self._rows(row, count)
        builder.ret_void()

    def _rows(self, row: Any, count: int) -> None:
        """So many rows of the result."""
        builder = self.builder
        first = [
            builder.gep(self.x, [builder.mul(builder.add(row, _INT(r)), self.x_row)])
            for r in range(count)
        ]
        places = range(count * self.vectors)
        totals, parts = ([self._room() for _ in places] for _ in range(2))
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        for total in totals:
            builder.store(zero, total)
        with self._loop(_INT(0), self.terms, PART) as begin:
            end = builder.add(begin, _INT(PART))
            end = builder.select(builder.icmp_signed("<", end, self.terms), end, self.terms)
            for part in parts:
                builder.store(zero, part)
            with self._loop(begin, end, 1) as term:
                self._products(first, term, parts)
            for total, part in zip(totals, parts, strict=True):
                builder.store(builder.fadd(builder.load(total), builder.load(part)), total)
        for place, total in enumerate(totals):
            r, v = divmod(place, self.vectors)
            at = builder.mul(builder.add(row, _INT(r)), _INT(self.columns))
            self._store(builder.load(total), self._side(self.z, at, v), v)

    def _products(self, first: Sequence[Any], term: Any, parts: Sequence[Any]) -> None:
        """`t[i,:] += X[i,k] * Y[k,:]` for one k."""
        builder = self.builder
        at = builder.mul(term, self.y_term)
        sides = [self._load(self._side(self.y, at, v), v) for v in range(self.vectors)]
        step = builder.mul(term, self.x_term)
        name = f"llvm.fmuladd.v{self.lanes}f{8 * self.bytes}"
        for r, start in enumerate(first):
            alone = builder.load(builder.gep(start, [step]))
            many = self._everywhere(alone)
            for v, side in enumerate(sides):
                part = parts[r * self.vectors + v]
                found = self._called(name, self.vector, [many, side, builder.load(part)])
                builder.store(found, part)

    def _everywhere(self, number: Any) -> Any:
        """The number in all places of a vector."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(nothing, number, _SHORT(0))
        zeros = ir.Constant(ir.VectorType(_SHORT, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, nothing, zeros)

    def _side(self, address: Any, at: Any, v: int) -> Any:
        """The address of a row's vector."""
        place = self.builder.add(at, _INT(v * self.lanes))
        return self.builder.gep(address, [place])

    def _mask(self, v: int) -> Any:
        """The places of a row's vector that lie in the row."""
        inside = [int(v * self.lanes + k < self.columns) for k in range(self.lanes)]
        return ir.Constant(ir.VectorType(_BIT, self.lanes), inside)

    def _load(self, address: Any, v: int) -> Any:
        """Places outside of the row are 0, and are not read."""
        zero = ir.Constant(self.vector, [0.0] * self.lanes)
        name = f"llvm.masked.load.v{self.lanes}f{8 * self.bytes}.p0"
        given = [address, _SHORT(self.bytes), self._mask(v), zero]
        return self._called(name, self.vector, given)

    def _store(self, value: Any, address: Any, v: int) -> None:
        name = f"llvm.masked.store.v{self.lanes}f{8 * self.bytes}.p0"
        self._called(name, ir.VoidType(), [value, address, _SHORT(self.bytes), self._mask(v)])

    def _room(self) -> Any:
        """Memory for a vector, which LLVM turns into a register."""
        with self.builder.goto_entry_block():
            return self.builder.alloca(self.vector)

    @contextmanager
    def _loop(self, start: Any, end: Any, step: int) -> Iterator[Any]:
        """The lines within run for `start`, `start + step`, ..., below `end`."""
        builder = self.builder
        before = builder.block
        head, body, after = (self.function.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(_INT)
        place.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", place, end), body, after)
        builder.position_at_end(body)
        yield place
        place.add_incoming(builder.add(place, _INT(step)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def _called(self, name: str, result: Any, given: Sequence[Any]) -> Any:
        known = self.module.globals.get(name)
        if known is None:
            kind = ir.FunctionType(result, [value.type for value in given])
            known = ir.Function(self.module, kind, name)
        return self.builder.call(known, given)
