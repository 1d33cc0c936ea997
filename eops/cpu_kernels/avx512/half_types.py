"""Numbers rounded to bfloat16 on vectors of AVX-512, by an instruction of its own.

    near_bfloat16(x)     the nearest bfloat16 as float32; of two that are equally near, the even one

The instruction takes subnormal numbers for 0.  Where a vector holds one, which is seldom, a branch
rounds by integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from llvmlite import binding, ir

from einderive.eops.cpu_kernels.avx512.registers import Vector, has_vectors, word
from einderive.eops.cpu_kernels.words.half_types import store_upper_half
from einderive.eops.cpu_kernels.words.machine import Written, compiled

FEATURE: Final = "avx512bf16"
KNOWN_FROM: Final = 17
"""The version of LLVM since which the instruction's result has a type of its own."""
SUBNORMAL: Final = 0x20
HALF: Final = 16
"""Bits."""


BFLOAT16: Final[Any] = type("Bfloat16", (ir.Type,), {"_to_string": lambda _: "bfloat"})()
"""LLVM's type, which llvmlite has no word for."""


def near_bfloat16(x: Vector) -> Vector:
    builder, place = x.builder, x.integers(HALF)
    whole = ir.VectorType(ir.IntType(HALF), x.lanes)
    rounded = ir.VectorType(BFLOAT16, x.lanes)
    bits = builder.bitcast(x.called("avx512bf16.cvtneps2bf16", rounded, x.value), whole)
    found = x.of_bits(builder.shl(builder.zext(bits, x.bits().type), place))
    truths = ir.VectorType(ir.IntType(1), x.lanes)
    subnormal = x.called("avx512.fpclass.ps", truths, x.value, ir.IntType(32)(SUBNORMAL))

    def rare() -> tuple[Any]:
        odd = builder.and_(builder.lshr(x.bits(), place), x.integers(1))
        near = builder.add(builder.add(x.bits(), odd), x.integers((1 << (HALF - 1)) - 1))
        near = builder.and_(near, x.integers(-1 << HALF))
        return (x.choose(subnormal, x.of_bits(near), found).value,)

    (value,) = x.when_any(subnormal, rare, (found.value,))
    return Vector(builder, value, x.dtype)


@cache
def half_vectors() -> Mapping[str, Written]:
    """What stores numbers in half types, where the processor has an instruction for it."""
    has = binding.get_host_cpu_features().get(FEATURE, False)
    if not has or not has_vectors() or binding.llvm_version_info[0] < KNOWN_FROM:
        return {}
    rounded = word("near_bfloat16", "float32", near_bfloat16)

    @compiled
    def store_bfloat16(address: Any, index: Any, value: Any) -> None:
        store_upper_half(address, index, rounded(value))

    return {"store_bfloat16": store_bfloat16}
