"""Stages of every kind that are lowered: products, windows, digits, masks, and nothing at all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

from einderive.ta.ir import expr
from einderive.ta.ir.affine import Range, Row, add, floordiv, iterator, modulo, scale, shift
from einderive.ta.ir.canon import scope
from einderive.ta.ir.expr import access, apply, const, power, select
from einderive.ta.ir.node import Access, Condition, Node, Number, Scope

x = [iterator(i) for i in range(9)]


def read(
    name: str, shape: Sequence[int], *rows: Row, fill: Number = Fraction(0), dtype: str = "float64"
) -> Access:
    return access(expr.tensor(name, shape, dtype), rows, fill)


def loops(*extents: int) -> list[Range]:
    return [Range(0, extent) for extent in extents]


def sub(row: Row, other: Row) -> Row:
    return add(row, other, -1)


def mul(*factors: Node) -> Node:
    return expr.mul(*factors)


def convolution(dilation: int = 1, stride: int = 1, channels: int = 3) -> Scope:
    def at(loop: Row, tap: Row) -> Row:
        return shift(add(scale(loop, stride), scale(tap, dilation)), -dilation)

    a = read("A", (2, channels, 8, 7), x[0], x[4], at(x[2], x[5]), at(x[3], x[6]))
    k = read("K", (4, channels, 3, 3), x[1], x[4], x[5], x[6])
    return scope(loops(2, 4, 8 // stride, 7 // stride), loops(channels, 3, 3), mul(a, k))


def transposed_convolution() -> Scope:
    a = read("A", (2, 3, 3, 4), x[0], x[4], x[5], x[6])
    rows = [shift(sub(x[1 + d], scale(x[4 + d], 2)), 1) for d in (0, 1)]
    k = read("K", (4, 4, 5, 4), *rows, x[3], x[6])
    return scope(loops(2, 6, 6, 5), loops(3, 3, 4), mul(a, k))


def band_blocks(b: int, p: int, u: int, v: int, half: int, k: int, dtype: str = "float64") -> Scope:
    """L[b,p,u,v,t] S[k] A[b,p+d*(v+V*u),k] * B[b,p+d*(V*u+t-W),k]"""
    m = p * u * v
    left = add(x[1], scale(add(scale(x[2], v), x[3]), p))
    right = add(x[1], scale(shift(add(scale(x[2], v), x[4]), -half), p))
    a = read("A", (b, m, k), x[0], left, x[5], dtype=dtype)
    c = read("B", (b, m, k), x[0], right, x[5], dtype=dtype)
    return scope(loops(b, p, u, v, v + 2 * half), loops(k), mul(a, c))


def band(b: int, p: int, u: int, v: int, half: int, k: int, dtype: str = "float64") -> Scope:
    blocks = band_blocks(b, p, u, v, half, k, dtype)
    inner = modulo(floordiv(x[1], p), v)
    rows = [x[0], modulo(x[1], p), floordiv(x[1], p * v), inner, add(inner, x[2])]
    return scope(loops(b, p * u * v, 2 * half + 1), [], access(blocks, rows))


def squared_distances() -> Scope:
    difference = expr.subtract(read("A", (6, 5), x[0], x[2]), read("B", (7, 5), x[1], x[2]))
    return scope(loops(6, 7), loops(5), power(difference, 2))


def low_rank() -> Scope:
    """Y[t,o] = X[t,i] * (W[o,i] + S[r] B[o,r]*A[r,i])"""
    update = scope(
        loops(5, 6), loops(2), mul(read("B", (5, 2), x[0], x[2]), read("A", (2, 6), x[2], x[1]))
    )
    weights = expr.add(read("W", (5, 6), x[1], x[2]), access(update, [x[1], x[2]]))
    return scope(loops(4, 5), loops(6), mul(read("X", (4, 6), x[0], x[2]), weights))


def softmax() -> Scope:
    scores = select([Condition(">=", sub(x[0], x[1]))], read("A", (6, 6), x[0], x[1]), const(-inf))
    s = scope(loops(6, 6), [], scores)
    top = scope(loops(6), loops(6), access(s, [x[0], x[1]]), "max")
    shifted = expr.subtract(access(s, [x[0], x[1]]), access(top, [x[0]]))
    e = scope(loops(6, 6), [], apply("exp", shifted))
    total = scope(loops(6), loops(6), access(e, [x[0], x[1]]))
    weights = expr.divide(access(e, [x[0], x[2]]), access(total, [x[0]]))
    return scope(loops(6, 3), loops(6), mul(weights, read("V", (6, 3), x[2], x[1])))


def pooling(reducer: str, fill: Number) -> Scope:
    rows = [x[0], *(shift(add(scale(x[d], 2), x[d + 2]), -1) for d in (1, 2))]
    body = read("A", (3, 9, 9), *rows, fill=fill)
    return scope(loops(3, 5, 5), loops(3, 3), body, "max" if reducer == "max" else "sum")


def offset_add() -> Scope:
    rows = [x[0], shift(add(x[1], x[4]), -1), shift(add(x[2], x[5]), -1), x[4], x[5], x[3]]
    return scope(loops(2, 5, 6, 7), loops(3, 3), read("T", (2, 5, 6, 3, 3, 7), *rows))


def depthwise() -> Scope:
    a = read("A", (3, 8, 8), x[0], shift(add(x[1], x[3]), -1), shift(add(x[2], x[4]), -2))
    k = read("K", (3, 3, 4), x[0], x[3], x[4])
    return scope(loops(3, 8, 8), loops(3, 4), mul(const(Fraction(1, 3)), a, k))


A = read("A", (6, 5), x[0], x[1])
SCOPES = {
    "convolution": convolution(),
    "strided convolution": convolution(stride=2),
    "dilated convolution": convolution(dilation=2),
    "one channel": convolution(channels=1),
    "transposed convolution": transposed_convolution(),
    "band by phases": band(2, 2, 3, 4, 3, 5),
    "squared distances": squared_distances(),
    "low rank": low_rank(),
    "causal softmax": softmax(),
    "max pooling": pooling("max", -inf),
    "max pooling over zeros": pooling("max", Fraction(0)),
    "sum pooling": pooling("sum", Fraction(0)),
    "sum pooling over ones": pooling("sum", Fraction(1)),
    "offset add": offset_add(),
    "depthwise": depthwise(),
    "box filter": scope(
        loops(2, 8, 9),
        loops(5, 5),
        mul(
            const(Fraction(1, 25)),
            read("A", (2, 8, 9), x[0], shift(add(x[1], x[3]), -2), shift(add(x[2], x[4]), -2)),
        ),
    ),
    "start below zero": scope(
        [Range(-3, 2)], [Range(-1, 4)], mul(read("A", (5,), add(x[0], x[1])), read("B", (4,), x[1]))
    ),
    "loop read backwards": scope(loops(4, 3), [], read("A", (6,), sub(x[0], x[1]))),
    "digits that overshoot": scope(
        loops(11), [], read("A", (3, 4), floordiv(x[0], 4), modulo(x[0], 4))
    ),
    "digits below zero": scope(
        [Range(-5, 6)], [], read("A", (2, 4), shift(floordiv(x[0], 4), 1), modulo(x[0], 4))
    ),
    "digits of a sum": scope(
        loops(2),
        loops(12),
        mul(read("A", (2, 3), x[0], floordiv(x[1], 4)), read("B", (4,), modulo(x[1], 4))),
    ),
    "digits of a sum that do not fill": scope(
        loops(2),
        loops(10),
        mul(read("A", (2, 3), x[0], floordiv(x[1], 4)), read("B", (4,), modulo(x[1], 4))),
    ),
    "digits without a chain": scope(
        loops(12), [], read("A", (6, 4), floordiv(x[0], 2), floordiv(x[0], 3))
    ),
    "terms of different sizes": scope(
        loops(6, 5),
        [],
        expr.add(read("a", (6,), x[0]), mul(const(-2), A), read("b", (5,), x[1]), const(3)),
    ),
    "a product of four": scope(
        loops(3, 4),
        loops(5, 6),
        mul(
            const(Fraction(-1, 2)),
            read("A", (3, 5), x[0], x[2]),
            read("B", (5, 6), x[2], x[3]),
            read("C", (6, 4), x[3], x[1]),
            read("D", (6,), x[3]),
        ),
    ),
    "private sums": scope(
        loops(3, 4),
        loops(5, 6, 2),
        mul(read("A", (3, 5, 6), x[0], x[2], x[3]), read("B", (5, 4, 2), x[2], x[1], x[4])),
    ),
    "dot": scope([], loops(9), mul(read("A", (9,), x[0]), read("B", (9,), x[0]))),
    "matrix times vector": scope(
        loops(4), loops(9), mul(read("A", (4, 9), x[0], x[1]), read("B", (9,), x[1]))
    ),
    "outer": scope(loops(4, 3), [], mul(read("A", (4,), x[0]), read("B", (3,), x[1]))),
    "quotients": scope(
        loops(6, 5),
        [],
        mul(const(2), A, power(read("B", (5,), x[1]), -3), power(read("C", (6,), x[0]), -1)),
    ),
    "a shared term": scope(
        loops(6, 5),
        [],
        mul(apply("sigmoid", expr.add(A, const(1))), apply("exp", expr.add(A, const(1)))),
    ),
    "product reduction": scope(loops(6), loops(5), A, "prod"),
    "least": scope(loops(5), loops(6), mul(const(-1), read("A", (6, 5), x[1], x[0])), "min"),
    "a mask by floor": scope(
        loops(8, 9),
        [],
        select(
            [
                Condition("==", sub(floordiv(x[0], 2), floordiv(x[1], 3))),
                Condition(">=", shift(x[1], -1)),
            ],
            read("A", (8, 9), x[0], x[1]),
            const(7),
        ),
    ),
    "constant": scope(loops(2, 3), [], const(Fraction(1, 2))),
    "a loop the body lacks": scope(loops(2, 3), [], apply("exp", read("A", (3,), x[1]))),
    "scalar": scope([], [], mul(const(3), read("A", ()))),
    "no elements": scope(loops(0, 3), [], read("A", (4, 3), x[0], x[1])),
    "a sum over nothing": scope(loops(3), loops(0), read("A", (3, 4), x[0], x[1])),
    "a maximum over nothing": scope(loops(3), loops(0), read("A", (3, 4), x[0], x[1]), "max"),
    "a source without elements": scope(loops(3), loops(2), read("A", (3, 0), x[0], x[1])),
}
