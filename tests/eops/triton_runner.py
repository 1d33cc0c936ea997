"""Cases of generated kernels, and a run of them all in Triton's interpreter.

As a script, with TRITON_INTERPRET=1 set before Triton is imported, it prints one JSON object a
line: the case, its form, and the largest error against the definition of meaning in float64,
relative to the largest value.  Imported, it only offers the cases.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

from einderive.eops.triton_kernels.build import build, build_stage
from einderive.eops.triton_kernels.plan import plan
from einderive.ta.exact.fields import RealField
from einderive.ta.exact.interp import evaluate
from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.data import Interval
from einderive.ta.ir import affine, expr
from einderive.ta.ir.affine import Row, iterator
from einderive.ta.ir.canon import scope
from einderive.ta.ir.node import Condition, Node, Scope, Source, Tensor
from einderive.ta.ir.subst import accesses
from einderive.ta.notation.parse import parse
from tests.eops import fused_products, long_reductions

INF = math.inf
REAL = tuple(
    name for name, known in FUNCTIONS.items() if not (known.imaginary or known.part or known.digits)
)
"""Triton has no complex numbers; functions of digits are of integers."""


def row(const: int = 0, **coefficients: int) -> Row:
    """`const + sum(coefficient * x_i)`, the iterators written x0, x1, ..."""
    result = Row(const)
    for name, coefficient in coefficients.items():
        result = affine.add(result, iterator(int(name[1:])), coefficient)
    return result


def read(source: Source, *rows: Row | int, fill: float | Fraction = 0) -> Node:
    """`source[rows]`; a whole number stands for that iterator."""
    return expr.access(source, [iterator(r) if isinstance(r, int) else r for r in rows], fill)


def box(*extents: int) -> list[tuple[int, int]]:
    return [(0, extent) for extent in extents]


@dataclass(frozen=True)
class Case:
    """A stage, the kernel form it must get, and the error allowed relative to the largest value."""

    name: str
    scope: Scope
    form: str
    tolerance: float = 1e-5
    domain: Interval | None = None
    """Where the data lie; None: they have both signs and several magnitudes."""
    out_dtype: str | None = None
    open_sizes: bool = False
    """Whether all numbers of the kernel are its arguments."""

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(dict.fromkeys(access.source for access in accesses(self.scope.body)))


def offset_add(height: int = 5, width: int = 6, filters: int = 3) -> Scope:
    """`Y[n,h,w,f] = S[r,s] T[n,h+r-1,w+s-1,r,s,f]`."""
    t = expr.tensor("T", (2, height, width, 3, 3, filters))
    body = read(t, 0, row(-1, x1=1, x4=1), row(-1, x2=1, x5=1), 4, 5, 3)
    return scope(box(2, height, width, filters), box(3, 3), body)


def band(
    phases: int, tile: int, width: int, length: int, depth: int, dtype: str = "float32"
) -> Scope:
    """`{L[b,p,u,v,t] S[k] A[b,d*(T*u+v)+p,k] * B[b,d*(T*u+t-W)+p,k]}`: a dilated band, blocked."""
    a, b = (expr.tensor(name, (2, length, depth), dtype) for name in "AB")
    rows = length // phases
    d, blocks = phases, -(-rows // tile)
    left = read(a, 0, row(x1=1, x2=d * tile, x3=d), 5)
    right = read(b, 0, row(-d * width, x1=1, x2=d * tile, x4=d), 5)
    loops = box(2, phases, blocks, tile, tile + 2 * width)
    return scope(loops, box(depth), expr.mul(left, right))


def band_view(phases: int, tile: int, width: int, length: int, depth: int) -> Scope:
    """The band read back: `Y[b,m,w] = R[b, m%d, m//d//T, m//d%T, m//d%T + w]`."""
    blocked = band(phases, tile, width, length, depth)
    m = iterator(1)
    q = affine.floordiv(m, phases)
    v = affine.modulo(q, tile)
    rows = (iterator(0), affine.modulo(m, phases), affine.floordiv(q, tile), v)
    body = expr.access(blocked, (*rows, affine.add(v, iterator(2))))
    return scope(box(2, length, 2 * width + 1), [], body)


def transposed(size: int = 3, filters: int = 4, dtype: str = "float32") -> Scope:
    """`Y[n,h,w,f] = S[i,j] T[n,i,j,h+1-2*i,w+1-2*j,f]`: stride 2, padding 1, a 4 x 4 kernel."""
    t = expr.tensor("T", (2, size, size, 4, 4, filters), dtype)
    body = read(t, 0, 4, 5, row(1, x1=1, x4=-2), row(1, x2=1, x5=-2), 3)
    return scope(box(2, 2 * size, 2 * size, filters), box(size, size), body)


def convolution(dtype: str = "float32", fill: float = 0) -> Scope:
    """`Y[n,h,w,f] = 1/3 * S[c,r,s] A[n,h+r-1,w+s-1,c]*K[r,s,f,c]`, an implicit matrix product."""
    a, k = expr.tensor("A", (2, 5, 6, 7), dtype), expr.tensor("K", (3, 3, 18, 7), dtype)
    left = read(a, 0, row(-1, x1=1, x5=1), row(-1, x2=1, x6=1), 4, fill=fill)
    body = expr.mul(expr.const(Fraction(1, 3)), left, read(k, 5, 6, 3, 4))
    return scope(box(2, 5, 6, 18), box(7, 3, 3), body)


def matmul(dtype: str, m: int = 33, n: int = 17, k: int = 40) -> Scope:
    a, b = expr.tensor("A", (m, k), dtype), expr.tensor("B", (k, n), dtype)
    return scope(box(m, n), box(k), expr.mul(read(a, 0, 2), read(b, 2, 1)))


def product_of_factors(dtype: str, *, whole: bool = True) -> Scope:
    """`S[k] exp(A[m,k]) * (B[k,n] - M[k]) * W[k] / D[m,k]`, or a triangle of A times B."""
    a, b = expr.tensor("A", (33, 40), dtype), expr.tensor("B", (40, 17), dtype)
    d, w, mean = expr.tensor("D", (33, 40)), expr.tensor("W", (40,)), expr.tensor("M", (40,))
    if not whole:
        below = Condition(">=", row(x0=1, x2=-1))
        left = expr.select([below], read(a, 0, 2), expr.const(0))
        return scope(box(33, 17), box(40), expr.mul(left, read(b, 2, 1)))
    moved = expr.subtract(read(b, 2, 1), read(mean, 2))
    above = expr.mul(expr.apply("exp", read(a, 0, 2)), moved, read(w, 2))
    return scope(box(33, 17), box(40), expr.divide(above, read(d, 0, 2)))


def part_of_a_product() -> Scope:
    """`S[k] where(40*b + k < 70, A[m,40*b+k]*B[40*b+k,n], 0)`, with infinity times 0 beyond."""
    a, b = expr.tensor("A", (33, 70)), expr.tensor("B", (70, 17))
    inside = Condition(">=", row(69, x0=-40, x3=-1))
    k = row(x0=40, x3=1)
    product = expr.mul(read(a, 1, k, fill=INF), read(b, k, 2))
    body = expr.select([inside], product, expr.const(0))
    return scope(box(2, 33, 17), box(40), body)


def function_case(name: str, dtype: str) -> Case:
    arity = FUNCTIONS[name].arity
    tensors = [expr.tensor(letter, (37,), dtype) for letter in "ABC"[: max(1, arity)]]
    body = expr.apply(name, *(read(tensor, 0) for tensor in tensors[:arity]))
    if not arity:
        body = expr.add(read(tensors[0], 0), body)
    tolerance = 1e-13 if dtype == "float64" else 2e-6
    domain = FUNCTIONS[name].domain or (Interval(0) if FUNCTIONS[name].partial else None)
    return Case(f"{name}-{dtype}", scope(box(37), [], body), "loop", tolerance, domain)


def integer_case(name: str) -> Case:
    """Computed in int64; the divisors are other than 0."""
    tensors = [expr.tensor(letter, (37,), "int32") for letter in "AB"[: FUNCTIONS[name].arity]]
    body = expr.apply(name, *(read(tensor, 0) for tensor in tensors))
    domain = Interval(0) if name.endswith("shift") else None
    return Case(f"{name} of integers", scope(box(37), [], body), "loop", 0, domain)


def digits_beside_floats() -> Case:
    """Integers of more digits than a float has."""
    large = expr.add(expr.const(2**40), read(expr.tensor("A", (37,), "int64"), 0))
    digits = expr.apply("bitwise_xor", large, expr.const(2**40))
    body = expr.mul(digits, read(expr.tensor("B", (37,), "float32"), 0))
    return Case("digits beside floats", scope(box(37), [], body), "loop", 1e-6)


def rest_beside_floats() -> Case:
    """Of whole numbers that a float does not hold."""
    large = expr.add(expr.const(2**40), read(expr.tensor("A", (37,), "int64"), 0))
    rest = expr.apply("remainder", large, expr.const(97))
    body = expr.mul(rest, read(expr.tensor("B", (37,), "float32"), 0))
    return Case("rest beside floats", scope(box(37), [], body), "loop", 1e-6)


def all_functions(dtype: str) -> Scope:
    """The sum of all functions, in one kernel."""
    tensors = [expr.tensor(letter, (37,), dtype) for letter in "ABC"]
    reads = [read(tensor, 0) for tensor in tensors]
    finite = (FUNCTIONS[name] for name in REAL if name != "nan")
    values = (expr.apply(f.name, *reads[: f.arity]) for f in finite)
    return scope(box(37), [], expr.add(*values))


def softmax_parts() -> Scope:
    """`exp(X[i,j] - M[i]) / D[i]`, where M is an earlier stage."""
    x, d = expr.tensor("X", (5, 9)), expr.tensor("D", (5,))
    top = scope(box(5), box(9), read(x, 0, 1), "max")
    shifted = expr.apply("exp", expr.subtract(read(x, 0, 1), read(top, 0)))
    return scope(box(5, 9), [], expr.divide(shifted, read(d, 0)))


def causal() -> Scope:
    """A row's largest entry up to the diagonal, by a mask and by a fill of -inf."""
    x = expr.tensor("X", (11, 13))
    seen = Condition(">=", row(x0=1, x1=-1))
    body = expr.select([seen], read(x, row(2, x0=1), 1, fill=-INF), expr.const(-INF))
    return scope(box(11), box(13), body, "max")


def floors() -> Scope:
    """Negative starts, `//` and `%` of negative numbers, an equality mask."""
    x = expr.tensor("X", (9, 4))
    i, j = iterator(0), iterator(1)
    rows = (
        affine.shift(affine.floordiv(row(x0=1, x1=-2), 3), 4),
        affine.modulo(row(x0=3, x1=1), 4),
    )
    on_diagonal = Condition("==", affine.modulo(affine.add(i, j), 3))
    body = expr.select([on_diagonal], read(x, *rows, fill=Fraction(1, 3)), expr.const(7))
    return scope([(-5, 6), (2, 7)], [], body)


def awkward() -> list[Case]:
    """Indices that are easy to get wrong: scalars among blocks, unit ranges, 64 bits."""
    x = expr.tensor("X", (6, 70))
    a, b = expr.tensor("A", (1, 33, 40)), expr.tensor("B", (40, 17))
    cancelled = read(x, 0, row(70, x0=-70))
    early = Condition(">=", row(2, x1=-1))
    masked = expr.select([early], read(x, 0, 1), expr.const(Fraction(1, 4)))
    units = expr.mul(read(a, row(3, x0=1), 1, 3, fill=2), read(b, 3, 2))
    far = expr.mul(read(a, 0, 1, 3), read(b, 3, row(x2=2**30)))
    filled = expr.mul(read(a, row(), 0, row(1, x2=1), fill=2), read(b, row(1, x2=1), 1, fill=3))
    one_row = expr.mul(read(a, row(), 0, row(40, x0=-40, x2=1)), read(b, 2, 1))
    return [
        Case("offset that cancels", scope(box(6), [], cancelled), "loop", 0),
        Case("guard of the sum alone", scope(box(4), [(0, 5)], read(x, 0, row(-2, x1=1))), "loop"),
        Case("mask of the sum alone", scope(box(4), box(5), masked), "loop"),
        Case("one row read by all", scope(box(4), box(5), read(x, row(2), 1)), "loop"),
        Case("unit loop", scope([(-1, 0), (0, 4)], [], read(x, row(3, x0=1), 1)), "loop", 0),
        Case("unit loops only", scope([(-1, 0)], box(5), read(x, row(3, x0=1), 1)), "loop"),
        Case("unit loop, long", scope([(-1, 0)], box(70), read(x, row(3, x0=1), 1)), "flat"),
        Case("product of one row", scope(box(33, 17), box(40), one_row), "dot"),
        Case("product of two fills", scope(box(33, 17), box(40), filled), "dot"),
        Case("product with units", scope([(-3, -2), (0, 33), (0, 17)], box(40), units), "dot"),
        Case("64-bit read", scope(box(4), [], read(x, 0, row(x0=2**30), fill=5)), "loop", 0),
        Case("64-bit product", scope(box(1, 33, 17), box(40), far), "dot"),
        Case("64-bit sum", scope(box(1), box(70), read(x, row(x1=2**30), 1)), "flat"),
    ]


def cases() -> list[Case]:
    x1, x2 = expr.tensor("X", (300,)), expr.tensor("X", (6, 70))
    long, half = expr.tensor("L", (2, 1025)), expr.tensor("H", (9, 5), "float16")
    brain = expr.tensor("H", (9, 5), "bfloat16")
    whole = expr.tensor("N", (6, 5), "int32")
    flags = expr.tensor("F", (6, 5), "bool")
    double = expr.tensor("E", (6, 5), "float64")
    early = scope([(-2, 7)], [], expr.apply("abs", read(x1, row(4, x0=1))))
    hostile = expr.tensor('x"""\nimport os\n', (4,))
    squares = expr.power(expr.add(read(double, 0, 1), expr.const(Fraction(1, 10))), 5)
    inverse = expr.add(expr.power(read(x2, 0, 1), -2), expr.power(read(x2, 0, row(x1=-1)), 7))
    halved = read(x1, affine.shift(affine.floordiv(iterator(0), 2), 1))
    rank_one = expr.mul(read(x1, 0), read(x1, row(4, x0=-2), fill=Fraction(1, 3)))
    quotient = expr.divide(read(x1, 0), expr.mul(read(x1, row(1, x0=1)), read(x1, row(2, x0=1))))
    between = [Condition(">", row(5, x0=-1)), Condition(">", row(-1, x0=1))]
    within = expr.select(between, read(x1, 0), expr.const(7))
    everywhere = (
        Case("offset add", offset_add(), "loop"),
        Case("band", band(4, 16, 3, 68, 20), "dot"),
        Case("band in one phase", band(1, 32, 5, 50, 17), "dot"),
        Case("band in float64", band(2, 16, 2, 40, 16, "float64"), "dot", 1e-13),
        Case("band read back", band_view(4, 16, 3, 100, 20), "loop", 1e-7),
        Case("transposed convolution", transposed(), "loop"),
        Case("convolution as a product", convolution(), "dot"),
        Case("convolution with a fill", convolution(fill=Fraction(-5, 3)), "dot"),
        Case("convolution of halves", convolution("float16"), "dot", 2e-3),
        Case("matmul of halves", matmul("float16"), "dot", 2e-3),
        Case("matmul of whole steps and one", matmul("float32", 33, 17, 65), "dot"),
        Case("matmul of whole tiles", matmul("float32", 32, 64, 32), "dot"),
        Case("matmul of bfloat16", matmul("bfloat16"), "dot", 2e-2),
        Case("product of factors", product_of_factors("float32"), "dot"),
        Case("product of factors in float64", product_of_factors("float64"), "dot", 1e-13),
        Case("product of factors of halves", product_of_factors("float16"), "dot", 2e-3),
        Case("triangle of halves", product_of_factors("float16", whole=False), "dot", 2e-3),
        Case("part of a product", part_of_a_product(), "dot"),
        Case("matmul of integers", matmul("int32", 9, 5), "flat", 0),
        Case("small matmul", matmul("float32", 5, 6, 7), "loop"),
        Case("softmax parts", softmax_parts(), "loop"),
        Case("causal maximum", causal(), "loop", 0),
        Case("floors", floors(), "loop"),
        Case("a quotient of -1", scope([(-1, 8)], [], halved), "loop", 0),
        Case("early start", scope([(-4, 9)], [], read(early, 0, fill=-2)), "loop"),
        Case("negative sum", scope(box(4), [(-3, 2)], read(x1, row(3, x0=1, x1=1))), "loop"),
        Case("0-d sum", scope([], box(300), read(x1, 0)), "flat"),
        Case("sums of whole steps and one", scope(box(2), box(1025), read(long, 0, 1)), "flat"),
        Case("quotient by a product", scope(box(9), [], quotient), "loop"),
        Case("two conditions", scope(box(9), [], within), "loop", 0),
        Case("0-d constant", scope([], [], expr.const(Fraction(2, 7))), "loop"),
        Case("0-d source", scope(box(3), [], read(expr.tensor("Z", ()))), "loop"),
        Case("norms", scope(box(6), box(70), expr.power(read(x2, 0, 1), 2)), "flat"),
        Case("long minimum", scope(box(6), box(70), read(x2, 0, 1), "min"), "flat", 0),
        Case("short maximum", scope(box(70), box(6), read(x2, 1, 0), "max"), "loop", 0),
        Case("product", scope(box(6), box(70), read(x2, 0, 1), "prod"), "loop", domain=Interval(0)),
        Case("empty sum", scope(box(3), [(2, 2)], read(x1, 1)), "loop", 0),
        Case("empty maximum", scope(box(3), [(2, 2)], read(x1, 1), "max"), "loop", 0),
        Case("a read of two places", scope(box(7), [], rank_one), "loop"),
        Case("constant function", scope(box(3), [], expr.apply("exp", expr.const(1))), "loop"),
        Case("powers", scope(box(6, 5), [], squares), "loop", 1e-13),
        Case("inverse powers", scope(box(6, 5), [], inverse), "loop"),
        Case("halves", scope(box(5), box(9), read(half, 1, 0, fill=1)), "loop", 1e-3),
        Case("halves, filled", scope(box(12), [], read(half, 0, row(1), fill=INF)), "loop", 0),
        Case("bfloat16", scope(box(5), box(9), read(brain, 1, 0)), "loop", 1e-2),
        Case(
            "bfloat16 out", scope(box(70), [], read(x2, row(2), 0)), "loop", 1e-2, None, "bfloat16"
        ),
        Case("integers", scope(box(5), box(6), read(whole, 1, 0)), "loop", 0),
        Case(
            "halved integers",
            scope(box(5), box(6), expr.divide(read(whole, 1, 0), expr.const(2))),
            "loop",
        ),
        Case("count", scope(box(5), box(6), read(flags, 1, 0)), "loop", 0),
        Case(
            "kept integers", scope(box(6, 5), [], expr.apply("relu", read(whole, 0, 1))), "loop", 0
        ),
        *integer_fills(),
        *compared(),
        *(
            integer_case(name)
            for name, known in FUNCTIONS.items()
            if known.whole and not known.part and name != "bitwise_invert"
        ),
        digits_beside_floats(),
        rest_beside_floats(),
        Case("hostile name", scope(box(4), [], read(hostile, 0)), "loop", 0),
    )
    functions = [
        function_case(name, d) for d in ("float32", "float64") for name in REAL if name != "nan"
    ]
    return [*everywhere, *awkward(), *tiles(), *functions]


def tiles() -> list[Case]:
    """Outputs that run along another loop through memory than what they read."""
    x, y = expr.tensor("X", (70, 45)), expr.tensor("Y", (70, 3, 45))
    half, whole = expr.tensor("H", (70, 45), "float16"), expr.tensor("N", (70, 45), "int8")
    turned = expr.mul(expr.const(2), read(x, 1, 0))
    window = expr.add(
        read(x, row(-1, x1=1), row(1, x0=1), fill=5), read(x, 1, 0), read(x, row(69, x1=-1), 0)
    )
    middle = expr.mul(read(y, 2, 1, 0), read(x, 2, 0))
    below = expr.select([Condition(">=", row(x0=1, x1=-1))], read(x, 1, 0), expr.const(3))
    places = expr.add(read(x, 1, 0), read(x, 1, row(45, x1=-45)), read(x, 0, row(45, x0=-45)))
    early = expr.select([Condition(">=", row(1, x1=-1))], read(y, 2, 1, 0), expr.const(3))
    beside = expr.add(read(x, 1, 0), read(expr.tensor("V", (45,)), 0), read(x, row(2), row(4)))
    return [
        Case("transposed", scope(box(45, 70), [], turned), "tile", 0),
        Case("transposed from later on", scope([(-3, 40), (5, 68)], [], window), "tile"),
        Case("transposed around a loop", scope(box(45, 3, 70), [], middle), "tile"),
        Case("transposed triangle", scope(box(45, 70), [], below), "tile", 0),
        Case("transposed, one place of each", scope(box(45, 70), [], places), "tile"),
        Case("transposed around a loop that decides", scope(box(45, 3, 70), [], early), "tile", 0),
        Case("transposed and others", scope(box(45, 70), [], beside), "tile"),
        Case("transposed sums", scope(box(45, 70), box(3), read(y, 1, 2, 0)), "tile"),
        Case(
            "transposed largest",
            scope(box(40, 3, 66), box(2), read(y, row(x2=1, x3=1), 1, row(x0=1, x3=2)), "max"),
            "tile",
            0,
        ),
        Case("transposed halves", scope(box(45, 70), [], read(half, 1, 0)), "tile", 0),
        Case("transposed integers", scope(box(45, 70), [], read(whole, 1, 0)), "tile", 0),
        Case("a short side", scope(box(15, 70), [], read(x, 1, 0)), "loop", 0),
        Case("a short last side", scope(box(45, 15), [], read(x, 1, 0)), "loop", 0),
    ]


def compared() -> list[Case]:
    """Functions that are computed in float64 because they are compared, and in float32."""
    dtypes = {"A": "float32", "D": "float64", "N": "int64"}
    texts = (
        "D[i] % 3",
        "D[i] // 3",
        "atan(D[i])*2",
        "hypot(D[i], N[i])",
        "asinh(D[i])",
        "exp(A[i])",
    )
    found = []
    for text in texts:
        shapes = {name: (40,) for name in dtypes if name in f"{text} A N"}
        types = {name: dtypes[name] for name in shapes}
        (stage,) = parse(f"Y[i] = where({text} < N[i], exp(A[i]), 0)", shapes, types).roots()
        found.append(Case(f"{text} beside an integer", stage, "loop"))
    return found


def integer_fills() -> list[Case]:
    """Fills that the element type lacks: the stage computes, and gives back, in a wider one."""
    small, flags = expr.tensor("S", (6,), "int8"), expr.tensor("F", (6,), "bool")
    window = row(-1, x0=1, x1=1)
    bytes_, half = expr.tensor("U", (6,), "uint8"), Fraction(1, 2)
    once = row(-1, x0=1)

    def filled(name: str, source: Source, fill: float | Fraction) -> Case:
        return Case(name, scope(box(8), [], read(source, once, fill=fill)), "loop", 0)

    def windows(name: str, extent: int, source: Source, fill: float) -> Case:
        body = read(source, window, fill=fill)
        return Case(name, scope(box(extent), box(3), body, "max"), "loop", 0)

    return [
        filled("int8 filled with 300", small, 300),
        filled("int8 filled with a half", small, half),
        filled("int8 filled with -inf", small, -INF),
        filled("bools filled with 2", flags, 2),
        filled("kept bools", flags, 0),
        windows("uint8 filled with -1", 8, bytes_, -1),
        windows("windows that meet", 6, small, -INF),
        windows("windows that miss", 12, small, -INF),
    ]


def inputs(case: Case, device: str) -> tuple[dict[str, np.ndarray], list[torch.Tensor]]:
    """Random values by tensor name for the oracle, and the stage's sources as torch tensors; a
    nested scope is materialised by the oracle."""
    generator = np.random.default_rng(7)
    values: dict[str, np.ndarray] = {}
    stages = [case.scope, *(s for s in case.sources if isinstance(s, Scope))]
    for source in (a.source for stage in stages for a in accesses(stage.body)):
        if isinstance(source, Tensor) and source.name not in values:
            values[source.name] = sample(source, generator, case.domain)
    buffers = []
    for source in case.sources:
        dtype = source.dtype if isinstance(source, Tensor) else "float32"
        known = (
            values[source.name]
            if isinstance(source, Tensor)
            else evaluate(source, values, RealField())
        )
        buffers.append(torch.tensor(known).to(getattr(torch, dtype)).to(device))
    return values, buffers


def sample(tensor: Tensor, generator: np.random.Generator, domain: Interval | None) -> np.ndarray:
    """Values the element type holds exactly, as float64; none of them zero."""
    if tensor.dtype == "bool":
        return (generator.random(tensor.shape) < 0.5).astype(np.float64)
    if tensor.dtype == "uint8":
        return generator.integers(1, 9, tensor.shape).astype(np.float64)
    if tensor.dtype.startswith("int"):
        signs = (1.0,) if domain else (-1.0, 1.0)
        return generator.integers(1, 9, tensor.shape) * generator.choice(signs, tensor.shape)
    if domain is None:
        raw = generator.uniform(0.5, 1.5, tensor.shape)
        raw = raw * generator.choice((-1.0, -0.01, 1e-3, 2.0, 9.0), tensor.shape)
    else:
        greatest = min(domain.greatest, domain.least + 3)
        raw = generator.uniform(domain.least, greatest, tensor.shape)
    held = torch.tensor(raw).to(getattr(torch, tensor.dtype))
    return np.asarray(held.to(torch.float64).numpy())


def error(case: Case, cache: Path, device: str = "cpu") -> tuple[str, float]:
    """The kernel's form, and its largest error relative to the largest expected value, over the
    first (on a GPU, the fastest) and the last configuration.

    An output starts as NaN (or the least integer), so what no program wrote shows.
    """
    made = plan(case.scope, out_dtype=case.out_dtype, open_beyond=int(case.open_sizes))
    kernel = build_stage(made, formula=case.name, cache=cache)
    values, given = inputs(case, device)
    held = dict(zip(case.sources, given, strict=True))
    buffers = [held[source] for source in made.sources]
    expected = evaluate(case.scope, values, RealField())
    dtype = getattr(torch, made.out_dtype)
    poison: float = 1 if dtype == torch.bool else math.nan
    if not dtype.is_floating_point and dtype != torch.bool:
        poison = torch.iinfo(dtype).min
    out = torch.full(case.scope.shape, poison, dtype=dtype, device=device)
    kernel(*buffers, out=out)
    last = torch.full_like(out, poison)
    kernel.launch(kernel.plan.configs[-1], buffers, [last])
    found = np.stack([result.to(torch.float64).cpu().numpy() for result in (out, last)])
    finite = np.isfinite(expected)
    scale = np.max(np.abs(expected[finite]), initial=0.0) or 1.0
    with np.errstate(invalid="ignore"):
        wrong = np.where(found == expected, 0.0, np.abs(found - expected) / scale)
    return made.form, float(np.max(np.nan_to_num(wrong, nan=INF), initial=0.0))


def nan_survives(cache: Path, device: str = "cpu") -> bool:
    """A NaN read by relu, maximum or a reduction comes out as one."""
    x = expr.tensor("X", (3, 64))
    values = torch.ones(3, 64, device=device)
    values[1, 5] = math.nan
    bodies: list[Callable[[], Node]] = [
        lambda: read(x, 0, 1),
        lambda: expr.apply("relu", read(x, 0, 1)),
        lambda: expr.apply("maximum", expr.const(0), read(x, 0, 1)),
    ]
    for reducer in ("max", "min", "sum", "prod"):
        for body in bodies:
            stage = scope(box(3), box(64), body(), reducer)  # type: ignore[arg-type]  # a literal
            found = build(stage, cache=cache)(values).isnan().tolist()
            if found != [False, True, False]:
                return False
    return True


SPECIAL = (math.nan, INF, -INF, 0.0, 0.5, 1.0, -1.0, 2.5, -7.0, 88.7, 200.0, -200.0)
HUGE = (1e30, -1e30)
"""Of one operand; beside others, quotients of more than twice the digits are no longer divided."""


def wrong_at_special_numbers(cache: Path, device: str = "cpu") -> list[str]:
    """The functions that have other values at infinities, NaN and others in float32."""
    found = []
    for name, known in FUNCTIONS.items():
        if known.arity not in (1, 2) or known.truth or known.digits or known.part:
            continue
        columns = [torch.tensor(SPECIAL + HUGE)]
        if known.arity == 2:
            pairs = torch.cartesian_prod(torch.tensor(SPECIAL), torch.tensor(SPECIAL))
            columns = list(pairs.t().contiguous())
        tensors = [expr.tensor(letter, (len(columns[0]),)) for letter in "AB"[: known.arity]]
        body = expr.apply(name, *(read(tensor, 0) for tensor in tensors))
        kernel = build(scope(box(len(columns[0])), [], body), cache=cache)
        with np.errstate(all="ignore"):
            exact = np.asarray(known.real(*(column.double().numpy() for column in columns)))
        value = kernel(*(column.to(device) for column in columns)).cpu()
        expected = torch.from_numpy(exact).float()
        if not torch.allclose(value, expected, rtol=1e-5, atol=1e-37, equal_nan=True):
            found.append(name)
    return found


def main(cache: Path, names: Collection[str]) -> None:
    """The cases of these names, and what is no case."""
    for case in cases():
        if case.name not in names:
            continue
        try:
            form, wrong = error(case, cache)
            record = {"case": case.name, "form": form, "error": wrong}
        except Exception as failure:
            record = {"case": case.name, "failure": repr(failure.__cause__ or failure)}
        print(json.dumps(record), flush=True)
    print(json.dumps({"case": "nan", "form": "", "error": 0.0 if nan_survives(cache) else 1.0}))
    for name in long_reductions.LONG:
        wrong = long_reductions.too_far(name)
        print(json.dumps({"case": f"long {name}", "form": "", "error": wrong}))
    for name in fused_products.PRODUCTS:
        wrong = fused_products.too_far(name)
        print(json.dumps({"case": f"fused {name}", "form": "", "error": wrong}))
    wrong_ones = wrong_at_special_numbers(cache)
    print(json.dumps({"case": "special numbers", "form": ", ".join(wrong_ones), "error": 0.0}))


if __name__ == "__main__":
    if os.environ.get("TRITON_INTERPRET") != "1":
        sys.exit("set TRITON_INTERPRET=1")
    warnings.simplefilter("ignore", RuntimeWarning)
    main(Path(sys.argv[1]), sys.argv[2:])
