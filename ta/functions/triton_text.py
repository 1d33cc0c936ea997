"""Pieces of Triton's source, in which a division and a square root are rounded as usual.

divided(x, y)      x / y in float64, tl.div_rn(x, y) in float32
root(x)            tl.sqrt(x) in float64, tl.sqrt_rn(x) in float32
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def source(text: str, wide: bool) -> str:
    """The source of a helper, in which `divided` and `root` stand for these."""
    return ast.unparse(_Rounded(wide).visit(ast.parse(text))) + "\n"


class _Rounded(ast.NodeTransformer):
    def __init__(self, wide: bool) -> None:
        self._wide = wide

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match ast.unparse(node.func), list(map(ast.unparse, node.args)):
            case "divided", [above, below]:
                text = divided(above, below, self._wide)
            case "root", [operand]:
                text = root(operand, self._wide)
            case _:
                return node
        return ast.parse(text, mode="eval").body


def divided(above: str, below: str, wide: bool) -> str:
    """A quotient as Triton text; `/` is approximate in float32."""
    return f"({above}) / ({below})" if wide else f"tl.div_rn({above}, {below})"


def root(operand: str, wide: bool) -> str:
    """A square root as Triton text; `tl.sqrt` is approximate in float32."""
    return f"tl.sqrt({operand})" if wide else f"tl.sqrt_rn({operand})"


def polynomial(variable: str, coefficients: Sequence[float]) -> str:
    """c0 + x*(c1 + x*(c2 + ...)) as Triton text."""
    text = repr(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"({coefficient!r} + {variable} * {text})"
    return text
