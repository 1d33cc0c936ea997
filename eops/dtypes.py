"""Element types of a stage: what is read, what it accumulates in, what it writes.

Names are NumPy's, as in `ta.node.Tensor.dtype`, and `bfloat16`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Final

import ta.dtypes
from ta.errors import BuildError
from ta.node import Access, Apply, Const, Node, Number, Power, Scope
from ta.subst import walk

BYTES: Final[dict[str, int]] = {
    name: size for name, size in ta.dtypes.BYTES.items() if not name.startswith("complex")
}
"""The types that kernels are generated for."""
FLOATS: Final = frozenset({"float16", "bfloat16", "float32", "float64"})
INTEGER_FUNCTIONS: Final = frozenset({"relu", "abs", "sign", "maximum", "minimum"})


def check(dtype: str) -> str:
    """The name, if kernels can be generated for it."""
    if dtype not in BYTES:
        raise BuildError(f"no kernel is generated for {dtype}; known: {', '.join(BYTES)}")
    return dtype


def is_integral(scope: Scope) -> bool:
    """Does the stage give integers wherever it reads integers?"""
    empty = any(r.extent == 0 for r in scope.sums)
    if empty and scope.reducer in ("max", "min"):
        return False
    return all(_keeps_integers(node) for node in walk(scope.body))


def _keeps_integers(node: Node) -> bool:
    if isinstance(node, Const):
        return _is_integer(node.value)
    if isinstance(node, Access):
        return _is_integer(node.fill)
    if isinstance(node, Power):
        return node.exponent > 0
    return not isinstance(node, Apply) or node.function in INTEGER_FUNCTIONS


def _is_integer(value: Number) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1 and abs(value) < 2**63


def accumulator(scope: Scope, dtypes: Sequence[str]) -> str:
    """float64 where any source is, else float32; int64 where nothing leaves the integers."""
    if "float64" in dtypes:
        return "float64"
    if dtypes and not FLOATS & set(dtypes) and is_integral(scope):
        return "int64"
    return "float32"


def result(scope: Scope, dtypes: Sequence[str]) -> str:
    """The type a stage writes unless told otherwise: the widest float read; sums and mixtures of
    integers give int64."""
    compute = accumulator(scope, dtypes)
    floats = FLOATS & set(dtypes)
    if compute == "int64":
        kinds = set(dtypes)
        return dtypes[0] if len(kinds) == 1 and not scope.sums and "bool" not in kinds else "int64"
    return next(iter(floats)) if len(floats) == 1 else compute


def as_float(value: Number) -> float:
    """The nearest float; beyond its range an infinity."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf
