"""Lines of Python as functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def line_as_function(
    line: str, names: Iterable[str], space: Mapping[str, Any]
) -> Callable[..., Any]:
    """A function of operands with these names that gives the value of the line's last statement."""
    module = ast.parse(f"def line({', '.join(names)}):\n    pass")
    function, body = module.body[0], ast.parse(line).body
    last = body[-1]
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(last, ast.Expr)
    function.body = [*body[:-1], ast.Return(last.value)]
    found = dict(space)
    exec(compile(ast.fix_missing_locations(module), "<line>", "exec"), found)
    return found["line"]  # type: ignore[no-any-return]
