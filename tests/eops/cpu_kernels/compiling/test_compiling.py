"""Kernels' texts are read by one thread at a time."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from numba.core.compiler_lock import global_compiler_lock

from einderive.eops.cpu_kernels.compiling.made import written
from einderive.eops.cpu_kernels.lowering import sources
from einderive.eops.cpu_kernels.lowering.values import Unknown


def test_texts_are_parsed_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 counts the depth of the trees that all threads make as one, and raises
    SystemError where two threads make trees at a time."""
    seen: list[bool] = []
    parse = ast.parse

    def noted(text: str, *options: Any) -> Any:
        seen.append(global_compiler_lock.is_locked())
        return parse(text, *options)

    monkeypatch.setattr(ast, "parse", noted)
    with pytest.raises(Unknown):
        written("def kernel(data):\n    pass\n", {})
    assert sources._in_text("def f(x):\n    return x + 41\n")
    assert len(seen) >= 2
    assert all(seen)
