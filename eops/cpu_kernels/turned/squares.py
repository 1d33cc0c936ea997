"""A tile of an operand, turned: rows of memory become columns of the kernel's own.

    room[r*width + c] = operand[base + c*stride + r]      for r < count and c < columns

Squares of 16 numbers a side are turned in registers.  In each of four steps, of d =
8, 4, 2 and 1, the rows k and k+d exchange their numbers: places with d in row k for those without
in row k+d (J. O. Eklundh, A fast computer method for matrix transposing, IEEE Transactions on
Computers, 1972).  Numbers of half types are float32 from there on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from llvmlite import ir
from numba import types

from einderive.eops.cpu_kernels.words.half_types import load_bfloat16, load_float16
from einderive.eops.cpu_kernels.words.machine import (
    TYPES,
    Written,
    called,
    instruction,
    load,
    outside,
    store,
)
from einderive.eops.dtypes import BYTES

SIDE: Final = 16
READS: Final = {"float32": load, "float16": load_float16, "bfloat16": load_bfloat16}
"""Of one number as float32, by the operand's type."""


@cache
def turned_tile(dtype: str) -> Written:
    """The function of `room, width, operand, base, stride, count, columns`."""
    side, square, read = SIDE, _square(dtype), READS[dtype]

    @called
    def turn(
        room: Any, width: Any, of: Any, base: Any, stride: Any, count: Any, columns: Any
    ) -> None:
        squares, rows = columns // side, count // side
        for b in range(squares):
            c = b * side
            for a in range(rows):
                square(room, a * side * width + c, width, of, base + c * stride + a * side, stride)
            for r in range(rows * side, count):
                for k in range(c, c + side):
                    store(room, r * width + k, read(of, base + k * stride + r))
        for c in range(squares * side, columns):
            for r in range(count):
                store(room, r * width + c, read(of, base + c * stride + r))

    return turn


def turning(operands: Iterable[str]) -> Mapping[str, Written]:
    """The functions for operands of these types, by their names in a source."""
    return {f"turn_{dtype}": turned_tile(dtype) for dtype in operands if dtype in READS}


def _square(dtype: str) -> Written:
    """`f(room, at, width, operand, from, stride)`: one square."""
    side = SIDE

    @instruction
    def square(
        typing: Any, room: Any, at: Any, width: Any, of: Any, start: Any, stride: Any
    ) -> Any:
        def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            target, first, across, source, begin, step = args
            element = context.get_value_type(TYPES[dtype])
            whole = first.type
            rows = []
            for k in range(side):
                place = builder.add(begin, builder.mul(step, whole(k)))
                vector = ir.VectorType(element, side).as_pointer()
                address = builder.bitcast(builder.gep(source, [place], inbounds=True), vector)
                found = outside(builder, builder.load(address, align=BYTES[dtype]))
                rows.append(_as_numbers(builder, found, dtype, side))
            for k, row in enumerate(_turned(builder, rows)):
                place = builder.add(first, builder.mul(across, whole(k)))
                address = builder.gep(target, [place], inbounds=True)
                address = builder.bitcast(address, row.type.as_pointer())
                outside(builder, builder.store(row, address, align=4))
            return context.get_dummy_value()

        kinds = (room, types.int64, types.int64, of, types.int64, types.int64)
        return types.void(*kinds), emit

    return square


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    side = len(rows)
    distance = side // 2
    while distance:
        mask = ir.VectorType(ir.IntType(32), side)
        places = range(side)
        near = ir.Constant(mask, [p + side - distance if p & distance else p for p in places])
        far = ir.Constant(mask, [p + side if p & distance else p + distance for p in places])
        for k in (k for k in range(side) if not k & distance):
            one, other = rows[k], rows[k + distance]
            rows[k] = builder.shuffle_vector(one, other, near)
            rows[k + distance] = builder.shuffle_vector(one, other, far)
        distance //= 2
    return rows


def _as_numbers(builder: Any, bits: Any, dtype: str, side: int) -> Any:
    """What is kept as bits, as float32."""
    single = ir.VectorType(ir.FloatType(), side)
    if dtype == "float16":
        return builder.fpext(builder.bitcast(bits, ir.VectorType(ir.HalfType(), side)), single)
    if dtype == "bfloat16":
        whole = ir.VectorType(ir.IntType(32), side)
        upper = builder.shl(builder.zext(bits, whole), ir.Constant(whole, 16))
        return builder.bitcast(upper, single)
    return bits
