"""Half types in memory: read as float32, and written from it, by their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from einderive.eops.cpu_kernels.words.machine import (
    FROM_BITS,
    compiled,
    instruction,
    load,
    outside,
    stored,
)


@instruction
def load_float16(typing: Any, address: Any, index: Any) -> Any:
    """The element at the index as float32, from its bits."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.load(builder.gep(args[0], [args[1]], inbounds=True))
        outside(builder, bits)
        return builder.fpext(builder.bitcast(bits, ir.HalfType()), ir.FloatType())

    return types.float32(address, index), emit


@instruction
def store_float16(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Writes the bits of the nearest float16; of two that are equally near, the even one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        bits = builder.bitcast(builder.fptrunc(args[2], ir.HalfType()), ir.IntType(16))
        stored(builder, args[0], args[1], bits)
        return context.get_dummy_value()

    return types.void(address, index, types.float32), emit


_float_of = FROM_BITS["float32"]


@compiled
def load_bfloat16(address: Any, index: Any) -> Any:
    """The element at the index as float32, of which its bits are the first 16."""
    return _float_of(np.int32(load(address, index)) << np.int32(16))


@instruction
def as_float16(typing: Any, value: Any) -> Any:
    """The nearest float16, as float32; of two that are equally near, the even one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near = builder.fptrunc(args[0], ir.HalfType())
        return builder.fpext(near, ir.FloatType())

    return types.float32(types.float32), emit


@instruction
def as_bfloat16(typing: Any, value: Any) -> Any:
    """The nearest bfloat16, as float32; of two that are equally near, the even one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        near = _upper_half(builder, args[0])
        bits = builder.shl(near, near.type(16))
        return builder.bitcast(bits, ir.FloatType())

    return types.float32(types.float32), emit


def _upper_half(builder: Any, value: Any) -> Any:
    """The bits of the nearest bfloat16; NaN stays NaN.  In integers of 32 bits: numba's sums of
    them have 64."""
    whole = ir.IntType(32)
    bits = builder.bitcast(value, whole)
    above = builder.lshr(bits, whole(16))
    half = builder.add(builder.and_(above, whole(1)), whole(0x7FFF))
    near = builder.lshr(builder.add(bits, half), whole(16))
    is_number = builder.fcmp_ordered("ord", value, value)
    return builder.select(is_number, near, builder.or_(above, whole(0x40)))


@instruction
def store_upper_half(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Writes the first 16 bits of a float32: it, as bfloat16, if the other ones are 0."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.IntType(32)
        upper = builder.lshr(builder.bitcast(args[2], whole), whole(16))
        stored(builder, args[0], args[1], builder.trunc(upper, ir.IntType(16)))
        return context.get_dummy_value()

    return types.void(address, index, types.float32), emit


@instruction
def store_bfloat16(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Writes the bits of the nearest bfloat16; of two that are equally near, the even one."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found = _upper_half(builder, args[2])
        stored(builder, args[0], args[1], builder.trunc(found, ir.IntType(16)))
        return context.get_dummy_value()

    return types.void(address, index, types.float32), emit
