"""Values with their types, and conversions between types.

bool -> int -> float32 -> float64      int32 with float32 is float64, as in numba
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types

BOOL: Final = types.boolean
WHOLE: Final = types.int64
REAL: Final = types.float64
SHORT: Final = types.float32
UNSIGNED: Final = types.uint64
SIGNED: Final = (types.int8, types.int16, types.int32, types.int64)
NARROW: Final = (BOOL, types.int8, types.int16, types.uint8)
"""Types of which float32 holds every number."""
TRUTH: Final = ir.IntType(1)


class Unknown(Exception):
    """Something that this room does not know how to write."""


class Value(NamedTuple):
    """A value of LLVM and its type as numba has it.  A tuple's value is one of LLVM's structures,
    and its type a Python tuple."""

    value: Any
    kind: Any


def is_real(kind: Any) -> bool:
    return kind in (SHORT, REAL)


def is_whole(kind: Any) -> bool:
    return kind in SIGNED or kind == types.uint8


@cache
def layout(kind: Any) -> Any:
    """The type as LLVM has it."""
    if isinstance(kind, tuple):
        return ir.LiteralStructType([layout(each) for each in kind])
    if isinstance(kind, types.CPointer):
        return layout(kind.dtype).as_pointer()
    if kind == BOOL:
        return TRUTH
    if kind == SHORT:
        return ir.FloatType()
    if kind == REAL:
        return ir.DoubleType()
    if is_whole(kind) or kind == UNSIGNED:
        return ir.IntType(kind.bitwidth)
    if kind == types.void:
        return ir.VoidType()
    raise Unknown(f"values of {kind}")


def constant(number: Any) -> Value | None:
    """The value of a Python or NumPy number; None for anything else."""
    if isinstance(number, (bool, np.bool_)):
        return Value(TRUTH(int(number)), BOOL)
    kind = {int: WHOLE, float: REAL}.get(type(number)) or (
        getattr(types, type(number).__name__, None) if isinstance(number, np.generic) else None
    )
    if kind is None:
        return None
    plain = float(number) if is_real(kind) else int(number)
    return Value(ir.Constant(layout(kind), plain), kind)


def converted(function: type) -> Any:
    """The type of numbers that a class of Python or NumPy makes."""
    kind = {bool: BOOL, int: WHOLE, float: REAL}.get(
        function, getattr(types, function.__name__, None)
    )
    if kind is None:
        raise Unknown(f"numbers of {function}")
    return kind


def united(kinds: Sequence[Any]) -> Any:
    """The type of what may be a value of each of these."""
    found = kinds[0]
    for kind in kinds[1:]:
        found = _both(found, kind)
    return found


def _both(one: Any, other: Any) -> Any:
    if one == other:
        return one
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(map(_both, one, other))
    if REAL in (one, other) and all(is_real(k) or is_whole(k) or k == BOOL for k in (one, other)):
        return REAL
    if SHORT in (one, other):
        rest = other if one == SHORT else one
        if rest in NARROW:
            return SHORT
        if is_whole(rest):
            return REAL
    signed = [kind for kind in (one, other) if kind in SIGNED]
    if len(signed) == 2 or (signed and BOOL in (one, other)):
        return max(signed, key=lambda kind: int(kind.bitwidth))
    raise Unknown(f"a value of {one} or {other}")


def cast(builder: Any, value: Any, source: Any, target: Any) -> Any:
    """The value as one of another type."""
    if source == target or {source, target} == {WHOLE, UNSIGNED}:
        return value
    if isinstance(source, tuple) and isinstance(target, tuple) and len(source) == len(target):
        made = ir.Constant(layout(target), ir.Undefined)
        for place, kinds in enumerate(zip(source, target, strict=True)):
            part = cast(builder, builder.extract_value(value, place), *kinds)
            made = builder.insert_value(made, part, place)
        return made
    written = layout(target)
    if target == BOOL:
        return _truth(builder, value, source)
    unsigned = source in (BOOL, types.uint8)
    if is_real(target):
        if is_real(source):
            return (builder.fpext if target == REAL else builder.fptrunc)(value, written)
        if unsigned or is_whole(source):
            return (builder.uitofp if unsigned else builder.sitofp)(value, written)
    elif is_whole(target):
        if is_real(source) and target != types.uint8:
            return builder.fptosi(value, written)
        if unsigned or is_whole(source):
            least = 1 if source == BOOL else source.bitwidth
            if target.bitwidth < least:
                return builder.trunc(value, written)
            if target.bitwidth == least:
                return value
            return (builder.zext if unsigned else builder.sext)(value, written)
    raise Unknown(f"{source} as {target}")


def _truth(builder: Any, value: Any, kind: Any) -> Any:
    """Whether it is not 0, as NaN is."""
    zero = ir.Constant(layout(kind), 0.0 if is_real(kind) else 0)
    if is_real(kind):
        return builder.fcmp_unordered("!=", value, zero)
    if is_whole(kind):
        return builder.icmp_signed("!=", value, zero)
    raise Unknown(f"the truth of {kind}")
