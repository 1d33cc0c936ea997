"""The operations of a function of the notation, as its Triton text has them.

    sigmoid      1.0 / (1.0 + _exp(-x))      a division, an addition, a sign, and those of _exp

One is what a lane does in one step: an addition, a comparison, a choice.  A loop of fixed length
counts its steps, and a function that the text calls counts with its own text.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import Final

from einderive.ta.functions import FUNCTIONS
from einderive.ta.functions.helper import Precision

DIVISION: Final = 8.0
"""A division, or a root, rounded as usual: steps from an approximation."""
SPECIAL: Final = 4.0
"""What the unit for special functions gives, a quarter as many at once."""
SERIES: Final = 16.0
"""A function of CUDA's library."""
LIBRARY: Final = {
    **dict.fromkeys(("div_rn", "sqrt_rn"), DIVISION),
    **dict.fromkeys(("exp2", "log2", "rsqrt", "sqrt", "log", "sin", "cos"), SPECIAL),
    **dict.fromkeys(("erf", "exp"), SERIES),
    **dict.fromkeys(("full", "static_range", "broadcast", "to", "cast"), 0.0),
}
"""Words of Triton that are not one operation."""
FIELD: Final = re.compile(r"\{\w*\}")


@lru_cache(maxsize=512)
def operations_of(function: str, precision: Precision) -> float:
    """The operations of the function of one element."""
    known = FUNCTIONS[function]
    if not known.arity:
        return 0.0
    exact = known.triton_float32 if precision == "narrow" else ""
    text = exact or known.triton
    return _count(ast.parse(FIELD.sub("x", text)), precision)


@lru_cache(maxsize=512)
def _helper(name: str, precision: Precision) -> float:
    helper = FUNCTIONS[name].triton_helper
    assert helper is not None, name
    return _count(ast.parse(helper.triton(precision)), precision)


def _count(node: ast.AST, precision: Precision) -> float:
    times, own = 1.0, 0.0
    match node:
        case ast.FunctionDef():
            return sum(_count(part, precision) for part in node.body)
        case ast.BinOp(op=ast.Div()):
            own = DIVISION
        case ast.BinOp() | ast.Compare():
            own = 1.0
        case ast.UnaryOp(operand=operand) if not isinstance(operand, ast.Constant):
            own = 1.0
        case ast.Call(func=ast.Name(name)) if name.startswith("_"):
            own = _helper(name.removeprefix("_"), precision)
        case ast.Call(func=ast.Attribute(attr=name)):
            own = LIBRARY.get(name, 1.0)
        case ast.For(iter=ast.Call(args=[ast.Constant(int(count))])):
            times = float(count)
    return own + times * sum(_count(part, precision) for part in ast.iter_child_nodes(node))
