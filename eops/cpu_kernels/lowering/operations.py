"""Operators on values, by numba's rules: integers become int64, and are divided downwards."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final

from llvmlite import ir
from numba import types

from einderive.eops.cpu_kernels.lowering.values import (
    BOOL,
    REAL,
    UNSIGNED,
    WHOLE,
    Unknown,
    Value,
    cast,
    is_real,
    is_whole,
    layout,
    united,
)

ARITHMETIC: Final[Mapping[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("add", "fadd"),
    ast.Sub: ("sub", "fsub"),
    ast.Mult: ("mul", "fmul"),
}
"""The instructions for integers and for real numbers."""
BITS: Final[Mapping[type[ast.operator], str]] = {
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
}
SHIFTS: Final[Mapping[type[ast.operator], str]] = {ast.LShift: "shl", ast.RShift: "ashr"}
RELATIONS: Final[Mapping[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def binary(builder: Any, operator: ast.operator, left: Value, right: Value) -> Value:
    """`left operator right`."""
    word = type(operator)
    if word in BITS and left.kind == right.kind == BOOL:
        return Value(getattr(builder, BITS[word])(left.value, right.value), BOOL)
    kind = common(left.kind, right.kind)
    if word is ast.Div:
        kind = kind if is_real(kind) else REAL
        x, y = (cast(builder, one.value, one.kind, kind) for one in (left, right))
        return Value(builder.fdiv(x, y), kind)
    x, y = (cast(builder, one.value, one.kind, kind) for one in (left, right))
    if word in ARITHMETIC:
        return Value(getattr(builder, ARITHMETIC[word][is_real(kind)])(x, y), kind)
    if kind == WHOLE and not (word in SHIFTS and left.kind == types.uint8):
        if word in BITS or word in SHIFTS:
            return Value(getattr(builder, BITS.get(word) or SHIFTS[word])(x, y), kind)
        if word in (ast.FloorDiv, ast.Mod):
            return Value(_downwards(builder, x, y)[word is ast.Mod], kind)
    raise Unknown(f"{word.__name__} of {left.kind} and {right.kind}")


def common(one: Any, other: Any) -> Any:
    """The type in which numbers of two types are added."""
    if not all(is_real(kind) or is_whole(kind) or kind == BOOL for kind in (one, other)):
        raise Unknown(f"arithmetic of {one} and {other}")
    if is_real(one) or is_real(other):
        return united([one, other])
    if not any(kind in (BOOL,) or kind.signed for kind in (one, other)):
        raise Unknown("arithmetic of unsigned integers")
    return WHOLE


def _downwards(builder: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """The quotient of integers, rounded down, and the remainder with the sign of y."""
    zero, one = layout(WHOLE)(0), layout(WHOLE)(1)
    if not (isinstance(y, ir.Constant) and y.constant > 0):
        y = builder.select(builder.icmp_signed("==", y, zero), one, y)
    quotient, rest = builder.sdiv(x, y), builder.srem(x, y)
    apart = builder.icmp_signed("<", builder.xor(rest, y), zero)
    beyond = builder.and_(apart, builder.icmp_signed("!=", rest, zero))
    low = builder.sub(quotient, builder.zext(beyond, layout(WHOLE)))
    return low, builder.select(beyond, builder.add(rest, y), rest)


def unary(builder: Any, operator: ast.unaryop, operand: Value) -> Value:
    """`operator operand`."""
    if isinstance(operator, ast.Not):
        return Value(builder.not_(cast(builder, *operand, BOOL)), BOOL)
    if isinstance(operator, ast.USub) and is_real(operand.kind):
        return Value(builder.fneg(operand.value), operand.kind)
    if is_whole(operand.kind) and operand.kind.signed:
        value = cast(builder, *operand, WHOLE)
        if isinstance(operator, ast.USub):
            return Value(builder.neg(value), WHOLE)
        if isinstance(operator, ast.Invert):
            return Value(builder.not_(value), WHOLE)
    raise Unknown(f"{type(operator).__name__} of {operand.kind}")


def compare(builder: Any, operator: ast.cmpop, left: Value, right: Value) -> Value:
    """`left operator right`, false where an operand is NaN, but for `!=`."""
    word = RELATIONS.get(type(operator))
    if word is None:
        raise Unknown(type(operator).__name__)
    if left.kind == right.kind == UNSIGNED:
        return Value(builder.icmp_unsigned(word, left.value, right.value), BOOL)
    kind = common(left.kind, right.kind)
    x, y = (cast(builder, one.value, one.kind, kind) for one in (left, right))
    if not is_real(kind):
        return Value(builder.icmp_signed(word, x, y), BOOL)
    relation = builder.fcmp_unordered if word == "!=" else builder.fcmp_ordered
    return Value(relation(word, x, y), BOOL)


def extreme(builder: Any, greatest: bool, operands: list[Value]) -> Value:
    """`max` or `min`: the first of those that no other exceeds."""
    found = operands[0]
    for other in operands[1:]:
        kind = united([found.kind, other.kind])
        x, y = (cast(builder, one.value, one.kind, kind) for one in (found, other))
        beyond = compare(
            builder, ast.Gt() if greatest else ast.Lt(), Value(y, kind), Value(x, kind)
        )
        found = Value(builder.select(beyond.value, y, x), kind)
    return found


EXTREMES: Final[Mapping[Callable[..., Any], bool]] = {max: True, min: False}
