"""Functions that the operations of a machine compute, as texts: Triton, NumPy and loops run them.

where, abs, floor, log, exp, ...     as in Triton, `tl.where(c, x, y)`
divided(x, y), root(x)               x / y and sqrt(x), rounded as usual
polynomial(x, series)                c0 + x*(c1 + x*(c2 + ...)) for the coefficients `series`
slope                                a number among the coefficients
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias

import numpy as np

NUMPY: Final = {
    "tl": SimpleNamespace(where=np.where, abs=np.abs, log=np.log, static_range=range),
    "triton": SimpleNamespace(jit=lambda function: function),
    "divided": np.divide,
    "root": np.sqrt,
    "polynomial": np.polynomial.polynomial.polyval,
}
"""What the words of a text mean on NumPy's arrays."""


Precision: TypeAlias = Literal["short", "narrow", "wide"]
"""What a text is for: numbers that are rounded to 16 bits at once, float32, float64."""


@dataclass(frozen=True, eq=False)
class Helper:
    """The text of the function `_name`, and its coefficients.  Each may be several, one for each
    precision that needs its own; `usual` is that of all others, and what is `narrow` is `short`
    where nothing else is."""

    name: str
    text: str | Mapping[str, str]
    coefficients: Mapping[str, Any]

    def triton(self, precision: Precision) -> str:
        """Its source in Triton.  Two operands have one shape: Triton's interpreter mistypes the
        comparison of a single number that it then spreads."""
        tree = ast.parse(_chosen(self.text, precision))
        for function in tree.body:
            if isinstance(function, ast.FunctionDef) and len(function.args.args) == 2:
                x, y = (argument.arg for argument in function.args.args)
                spread = ast.parse(f"{x}, {y} = tl.broadcast({x}, {y})").body
                start = 0 if ast.get_docstring(function) is None else 1
                function.body[start:start] = spread
        exact = precision == "narrow"
        return ast.unparse(_Rounded(self.numbers(precision), exact).visit(tree)) + "\n"

    def numbers(self, precision: Precision) -> Mapping[str, Any]:
        """The coefficients for this precision."""
        return {name: _chosen(value, precision) for name, value in self.coefficients.items()}

    def on_numpy(self) -> Callable[..., Any]:
        """The function of float64 arrays."""
        space = {**NUMPY, **self.numbers("wide")}
        exec(_chosen(self.text, "wide"), space)
        function: Callable[..., Any] = space[f"_{self.name}"]

        def real(*operands: Any) -> Any:
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                return function(*operands)

        return real


def _chosen(value: Any, precision: Precision) -> Any:
    if not isinstance(value, Mapping):
        return value
    names = (precision, "narrow", "usual") if precision == "short" else (precision, "usual")
    return value[next(name for name in names if name in value)]


class _Rounded(ast.NodeTransformer):
    """A text in the words of Triton, whose `/` and `tl.sqrt` are approximate in float32: in
    other words where they have to be `exact` there."""

    def __init__(self, numbers: Mapping[str, Any], exact: bool) -> None:
        self._numbers, self._exact = numbers, exact

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self._numbers.get(node.id)
        return ast.Constant(value) if isinstance(value, float) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match ast.unparse(node.func), list(map(ast.unparse, node.args)):
            case "divided", [x, y]:
                text = f"({x}) / ({y})" if not self._exact else f"tl.div_rn({x}, {y})"
            case "root", [x]:
                text = f"tl.sqrt({x})" if not self._exact else f"tl.sqrt_rn({x})"
            case "polynomial", [x, name]:
                text = _polynomial(x, self._numbers[name])
            case _:
                return node
        return ast.parse(text, mode="eval").body


def _polynomial(variable: str, coefficients: Sequence[float]) -> str:
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"({coefficient!r} + ({variable}) * {text})"
    return text
