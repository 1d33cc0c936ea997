"""Short loops stay loops until they are vectorised."""

from __future__ import annotations

import ast

import pytest

from einderive.eops.cpu_kernels.compiling.made import written
from einderive.eops.cpu_kernels.lowering.sources import in_blocks, is_short
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


def test_blocks_are_not_written_out() -> None:
    """Three blocks of a row: the code has one inner loop, not three."""
    assert in_blocks(8, loop("for i in range(0, 32, 8):\n    for j in range(8): pass").body)
    assert not in_blocks(1, loop("for i in range(9):\n    for j in range(8): pass").body)
    assert not in_blocks(8, loop("for i in range(0, 32, 8):\n    pass").body)
    text = (
        "def kernel_blocks(data):\n    p = address(data, 0)\n    for k in range(0, 1500, 512):\n"
        "        for i in range(k, min(k + 512, 1500)):\n            store(p, i, 1.0)\n"
    )
    space = {"address": machine.pointer("float64"), "store": machine.store}
    library, _ = written(text, space)
    assert library.get_llvm_str().count("store <") <= 8


def test_they_are_vectorised() -> None:
    text = "def kernel_short(data):\n    p = address(data, 0)\n"
    text += "".join(f"    for {i} in range(0, 32):\n        store(p, {i}, 1.0)\n" for i in "ij")
    space = {"address": machine.pointer("float64"), "store": machine.store}
    library, symbol = written(text, space)
    assert symbol == "kernel_short"
    assert "x double>" in library.get_llvm_str()
