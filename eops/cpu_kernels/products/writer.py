"""What both ways to write a product for LLVM share: loops, vectors, the rows of a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import ir

INT: Final = ir.IntType(64)
SHORT: Final = ir.IntType(32)
BIT: Final = ir.IntType(1)
ADDRESSES: Final = INT.as_pointer()


class Writer:
    """The function `name(data)` of a module, of numbers of a type in vectors of this many lanes.

    `data` holds the addresses of X, Y and Z and the numbers of `kernel.Narrow`: rows, terms, and
    the steps of X's rows, X's columns, Y's rows and Y's columns."""

    rows_at_once = 1

    def __init__(self, module: Any, name: str, columns: int, dtype: str, lanes: int) -> None:
        self.module = module
        kind = ir.FunctionType(ir.VoidType(), [ADDRESSES])
        self.function = ir.Function(module, kind, name)
        set.add(self.function.attributes, '"prefer-vector-width"="512"')
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.element = ir.FloatType() if dtype == "float32" else ir.DoubleType()
        self.bytes = 4 if dtype == "float32" else 8
        self.columns, self.lanes = columns, lanes
        self.vector = ir.VectorType(self.element, lanes)
        self.zero = ir.Constant(self.vector, [0.0] * lanes)

    @property
    def suffix(self) -> str:
        """The type of a vector in the names of LLVM's functions."""
        return f"v{self.lanes}f{8 * self.bytes}"

    def write(self) -> None:
        """The rows of this thread, some at once, and those that are left one by one."""
        builder = self.builder
        (data,) = self.function.args
        x, y, z, rows, self.terms, self.x_row, self.x_term, self.y_row, self.y_column = (
            builder.load(builder.gep(data, [INT(k)])) for k in range(9)
        )
        self.x, self.y, self.z = (
            builder.inttoptr(address, self.element.as_pointer()) for address in (x, y, z)
        )
        low, high = self.share(rows)
        several = self.rows_at_once
        whole = builder.sub(high, builder.srem(builder.sub(high, low), INT(several)))
        for start, end, count in ((low, whole, several), (whole, high, 1)):
            with self.loop(start, end, count) as row:
                first = [
                    builder.gep(self.x, [builder.mul(builder.add(row, INT(r)), self.x_row)])
                    for r in range(count)
                ]
                self.rows(row, first)
        builder.ret_void()

    def share(self, count: Any) -> tuple[Any, Any]:
        """First and end of this thread's share of so many."""
        builder = self.builder
        thread, threads = (
            builder.sext(self.called(f"einderive_omp_get_{word}", SHORT, []), INT)
            for word in ("thread_num", "num_threads")
        )
        low = builder.sdiv(builder.mul(count, thread), threads)
        return low, builder.sdiv(builder.mul(count, builder.add(thread, INT(1))), threads)

    def rows(self, row: Any, first: Sequence[Any]) -> None:
        """The result's rows from `row` on; `first` are the addresses of X's rows."""
        raise NotImplementedError

    def result(self, row: Any, r: int, column: int) -> Any:
        """The address of an element of the result."""
        at = self.builder.mul(self.builder.add(row, INT(r)), INT(self.columns))
        return self.builder.gep(self.z, [self.builder.add(at, INT(column))])

    def rooms(self, count: int) -> list[Any]:
        """Memory for this many vectors, which LLVM turns into registers, filled with zeros."""
        with self.builder.goto_entry_block():
            found = [self.builder.alloca(self.vector) for _ in range(count)]
        self.clear(found)
        return found

    def clear(self, rooms: Sequence[Any]) -> None:
        for room in rooms:
            self.builder.store(self.zero, room)

    def accumulate(self, room: Any, value: Any) -> None:
        self.builder.store(self.builder.fadd(self.builder.load(room), value), room)

    def multiply_add(self, room: Any, x: Any, y: Any) -> None:
        """`room += x * y`, rounded once where the processor has such an instruction."""
        name = f"llvm.fmuladd.{self.suffix}"
        self.builder.store(self.called(name, self.vector, [x, y, self.builder.load(room)]), room)

    def load(self, address: Any, mask: Any, step: int = 1) -> Any:
        """The vector at the address, of every `step`-th number; places outside of the mask are 0,
        and are not read."""
        wide = ir.VectorType(self.element, self.lanes * step)
        zeros = ir.Constant(wide, [0.0] * self.lanes * step)
        name = f"llvm.masked.load.v{self.lanes * step}f{8 * self.bytes}.p0"
        found = self.called(name, wide, [address, SHORT(self.bytes), mask, zeros])
        if step == 1:
            return found
        places = ir.Constant(ir.VectorType(SHORT, self.lanes), [*range(0, self.lanes * step, step)])
        return self.builder.shuffle_vector(found, zeros, places)

    def mask(self, count: int, step: int = 1) -> Any:
        """The first this many places, as `load` reads them."""
        last = step * (count - 1)
        kind = ir.VectorType(BIT, self.lanes * step)
        return ir.Constant(kind, [int(k <= last) for k in range(self.lanes * step)])

    def until(self, count: Any, step: int = 1) -> Any:
        """The mask of the first this many places, as `load` reads them."""
        kind = ir.VectorType(INT, self.lanes * step)
        places = ir.Constant(kind, [*range(self.lanes * step)])
        last = self.builder.mul(self.builder.sub(count, INT(1)), INT(step))
        many = ir.Constant(kind, ir.Undefined)
        for k in range(self.lanes * step):
            many = self.builder.insert_element(many, last, SHORT(k))
        return self.builder.icmp_signed("<=", places, many)

    def everywhere(self, number: Any) -> Any:
        """The number in all places of a vector."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(nothing, number, SHORT(0))
        zeros = ir.Constant(ir.VectorType(SHORT, self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, nothing, zeros)

    def lanes_added(self, vector: Any) -> Any:
        """The sum of the vector's lanes."""
        name = f"llvm.vector.reduce.fadd.{self.suffix}"
        given = [ir.Constant(self.element, 0.0), vector]
        return self.called(name, self.element, given, "reassoc")

    @contextmanager
    def loop(self, start: Any, end: Any, step: int) -> Iterator[Any]:
        """The lines within run for `start`, `start + step`, ..., below `end`."""
        builder = self.builder
        before = builder.block
        head, body, after = (self.function.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(INT)
        place.add_incoming(start, before)
        builder.cbranch(builder.icmp_signed("<", place, end), body, after)
        builder.position_at_end(body)
        yield place
        place.add_incoming(builder.add(place, INT(step)), builder.block)
        builder.branch(head)
        builder.position_at_end(after)

    def least(self, one: Any, other: Any) -> Any:
        """The smaller of two integers."""
        return self.builder.select(self.builder.icmp_signed("<", one, other), one, other)

    def called(self, name: str, result: Any, given: Sequence[Any], *flags: str) -> Any:
        """A call of a function, with the flags of LLVM's `fast-math`."""
        known = self.module.globals.get(name)
        if known is None:
            kind = ir.FunctionType(result, [value.type for value in given])
            known = ir.Function(self.module, kind, name)
        return self.builder.call(known, given, fastmath=flags)
