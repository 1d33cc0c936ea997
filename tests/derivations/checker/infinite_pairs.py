"""Pairs of formulas in which an infinity takes part, of which many differ only where it does.

    W*(a + b)   and   W*a + W*b                         W, a, b: what may be infinite, or not
    a           and   sum[j:0:2](where(j < 1, W + a, -W))

Whether the two sides have the same values is not said here: the interpreter says it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from einderive.ta.exact.interp import Values, evaluate, input_tensors
from einderive.ta.exact.rationals import ExactField
from einderive.ta.ir.node import Scope
from einderive.ta.notation.parse import parse

SHAPES = {"A": (4,), "B": (4,), "C": (4,), "Z": (0,)}
FIELD = ExactField()
UNBOUNDED = (
    "max[k](where(k<i, A[k], -inf))",
    "min[k](where(k<i, A[k], inf))",
    "max[k](where(k<i, A[k], -inf) + B[k])",
    "max[k](A{fill=-inf}[i+k-4] + 0*B[k])",
    "min[k](where(k<3, B{fill=inf}[i+k-3], inf))",
    "max[k](where(k<2, maximum(A{fill=-inf}[i-1], -inf), -inf))",
    "prod[k](where(k<2, A{fill=inf}[i+k-1], B[k]))",
    "prod[k](where(k<i, 2, inf))",
    "max[z](Z[z])",
    "min[z](Z[z] + A[i])",
    "max[k](where(k<i, max[z](Z[z]), A[k]))",
    "maximum(A{fill=inf}[i-1], B[i])",
    "minimum(A{fill=-inf}[i-1], B[i])",
    "relu(A{fill=inf}[i-1])",
    "abs(C[i] + max[k](where(k<i, A[k], -inf)))",
    "1/max[k](where(k<i, A[k], -inf))",
    "A{fill=inf}[i-2]",
    "(B[i] + max[k](where(k<i, A[k], -inf)))",
    "where(i>1, maximum(A{fill=inf}[i-3], C[i]), B[i])",
    "sum[k](max[l](where(l<i, B[l], -inf))*where(k<2, C[i], 0))",
    "max[k](min[l](where(l<i, B[l], inf)) + where(k<i, A[k], -inf))",
)
FINITE = ("B[i]", "C[i]", "A[i-1]", "2", "(-1)", "sum[m](B[m])", "max[m](C[m])", "B[i]*C[i]")
PAIRS = (
    ("{w}*({a} + {b})", "{w}*{a} + {w}*{b}"),
    ("{w}*({a} - {b})", "{w}*{a} - {w}*{b}"),
    ("{w}*({w} + {b})", "{w}*{w} + {w}*{b}"),
    ("{w}*sum[j](where(j<2, B[j], {a}))", "sum[j]({w}*where(j<2, B[j], {a}))"),
    ("{w}*where(i>1, {a}, {b})", "where(i>1, {w}*{a}, {w}*{b})"),
    ("{a}", "sum[j](where(j<1, {w} + {a}, where(j<2, -{w}, 0)))"),
    ("{w} + {a}", "sum[j](where(j<1, 2*{w} + {a}, where(j<2, -{w}, 0)))"),
    ("3*{w} + {a}", "sum[j](where(j<1, 2*{w} + {a}, where(j<2, {w}, 0)))"),
    ("({w} + {a})*({v} + {b})", "{w}*{v} + {w}*{b} + {a}*{v} + {a}*{b}"),
    ("({w} + {v})*{a}", "{w}*{a} + {v}*{a}"),
    ("({w} + {a})^2", "{w}*{w} + 2*{w}*{a} + {a}*{a}"),
    ("max[j]({w} + A[j])", "{w} + max[j](A[j])"),
    ("max[j]({w} + where(j<i, A[j], -inf))", "{w} + max[j](where(j<i, A[j], -inf))"),
    ("min[j](-2*{w} + {a})", "{a} - 2*max[j]({w})"),
    ("prod[j]({w}*A[j])", "prod[j]({w})*prod[j](A[j])"),
    ("prod[j](where(j<2, {w} + {a}, 1))", "({w} + {a})*({w} + {a})"),
    ("1/({w}*{v})", "1/{w}*1/{v}"),
    ("{w}", "{v}"),
)
WITHIN = ("{}", "{}", "{}", "relu({})", "abs({})", "maximum({}, C[i])", "-3*({})")


def pairs(seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Pairs of formulas of one tensor; some read a common statement for what may be infinite."""
    choose = random.Random(seed)
    for _ in range(count):
        left, right = choose.choice(PAIRS)
        first = choose.choice(UNBOUNDED)
        staged = choose.random() < 0.3
        names = {
            "w": "T[i]" if staged else first,
            "v": choose.choice((*UNBOUNDED, *FINITE)),
            "a": choose.choice((*FINITE, *FINITE, *UNBOUNDED)),
            "b": choose.choice(FINITE),
        }
        around = choose.choice(WITHIN)
        statement = f"{formula('{w}', w=first)}; ".replace("Y[", "T[") if staged else ""
        one, other = (
            statement + formula(around.replace("{}", side), **names) for side in (left, right)
        )
        yield one, other


def formula(body: str, **names: str) -> str:
    """`Y[i]` as the body, in which the names stand for expressions."""
    text = body
    for name, expression in names.items():
        text = text.replace(f"{{{name}}}", expression)
    return f"Y[i] = {text} where {_clause(text)}"


def _clause(body: str) -> str:
    used = [f"{name} in 0:4" for name in "jklm" if f"[{name}]" in body]
    return ", ".join(["i in 0:4", *used])


def scope_of(text: str) -> Scope:
    shapes = {n: s for n, s in SHAPES.items() if f"{n}[" in text or f"{n}{{" in text}
    return parse(text, shapes).roots()[-1]


def keeps_value(left: Scope, right: Scope, seed: int, draws: int = 4) -> bool:
    """Has the right side the left side's value wherever the left side has one?"""
    generator = np.random.default_rng(seed)
    for _ in range(draws):
        values = _values(left, right, generator)
        one, other = evaluate(left, values, FIELD), evaluate(right, values, FIELD)
        for a, b in zip(one.flat, other.flat, strict=True):
            if a == a and a != b:
                return False
    return True


def _values(left: Scope, right: Scope, generator: np.random.Generator) -> dict[str, Values]:
    """Numbers of both signs other than 0, which nothing is divided by."""
    return {
        tensor.name: FIELD.random(tensor.shape, generator)
        for tensor in sorted(input_tensors(left, right), key=lambda tensor: tensor.name)
    }


def has_infinity(scope: Scope, seed: int) -> bool:
    """Is one of its values infinite?"""
    found: Any = evaluate(scope, _values(scope, scope, np.random.default_rng(seed)), FIELD)
    return any(not isinstance(value, Fraction) and value == value for value in found.flat)
