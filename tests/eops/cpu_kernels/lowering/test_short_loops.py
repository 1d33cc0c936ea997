"""Short loops stay loops until they are vectorised."""

from __future__ import annotations

import ast

import pytest

from einderive.eops.cpu_kernels.compiling.made import written
from einderive.eops.cpu_kernels.lowering.sources import is_short
from einderive.eops.cpu_kernels.words import machine


def loop(text: str) -> ast.For:
    (found,) = ast.parse(text).body
    assert isinstance(found, ast.For)
    return found


@pytest.mark.parametrize(
    ("steps", "body", "short"),
    [
        ("0, 32", "pass", True),
        ("8, 136", "pass", True),
        ("0, 15", "pass", False),
        ("0, 129", "pass", False),
        ("0, n", "pass", False),
        ("0, 32", "for j in range(8): pass", False),
    ],
)
def test_which_loops(steps: str, body: str, short: bool) -> None:
    found = loop(f"for i in range({steps}):\n    {body}")
    assert isinstance(found.iter, ast.Call)
    assert is_short(*found.iter.args, found.body) == short


def test_they_are_vectorised() -> None:
    text = "def kernel_short(data):\n    p = address(data, 0)\n"
    text += "".join(f"    for {i} in range(0, 32):\n        store(p, {i}, 1.0)\n" for i in "ij")
    space = {"address": machine.pointer("float64"), "store": machine.store}
    library, symbol = written(text, space)
    assert symbol == "kernel_short"
    assert "x double>" in library.get_llvm_str()
