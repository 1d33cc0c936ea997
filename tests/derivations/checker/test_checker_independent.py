"""The checker shares no code with what it checks, and is as small as it says."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.targets import folder_of

ROOT = Path(__file__).resolve().parents[3]
CHECKER = ROOT / "derivations" / "checker"
FILES = sorted(CHECKER.glob("*.py"))
ALLOWED = {
    *(
        "__future__",
        "collections",
        "dataclasses",
        "fractions",
        "functools",
        "itertools",
        "math",
        "re",
    ),
    *("threading", "typing", "islpy"),
}
NOTATION = {
    f"einderive.ta.{name}"
    for name in (
        *(
            "errors",
            "ir.affine",
            "ir.canon",
            "ir.expr",
            "functions",
            "functions.data",
            "ir.node",
            "ir.positions",
            "ir.operator",
        ),
        *("ir.program", "ir.sources", "ir.subst", "notation.parse"),
        *(
            "facts.infinite",
            "facts.intervals",
            "facts.signs",
            "given.complex_values",
            "laws",
            "laws.data",
            "printing.written",
        ),
    )
}
"""Of `ta`: what says what a text means, and the laws of functions, which are data."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.name))
def test_it_imports_the_notation_and_integer_sets_only(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            files = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [
                n if folder_of(n).with_suffix(".py").is_file() else n.rpartition(".")[0]
                for n in files
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            own = f"{name}.".startswith("einderive.derivations.checker.")
            allowed = own or name in NOTATION or name.split(".")[0] in ALLOWED
            assert allowed, f"line {node.lineno}: {name}"


def test_nothing_else_is_loaded_with_it() -> None:
    program = (
        "import sys, einderive.derivations.checker;"
        "proposing = ('einderive.derivations.', 'einderive.eops');"
        "print(*sorted(name for name in sys.modules if name.startswith(proposing)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert loaded == [name for name in loaded if name.startswith("einderive.derivations.checker")]
    assert len(loaded) >= 8


def test_its_size_is_as_stated() -> None:
    """Lines of code: neither blank, nor comment, nor docstring."""
    count = sum(len(lines_of_code(path.read_text(encoding="utf-8"))) for path in FILES)
    stated = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    assert f"{count} lines of code" in stated, f"docs/guarantees.md should say {count}"


def lines_of_code(source: str) -> set[int]:
    tree = ast.parse(source)
    prose: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.splitlines()
    return {
        number
        for number, line in enumerate(lines, 1)
        if number not in prose and line.strip() and not line.strip().startswith("#")
    }


def test_lines_of_code_are_counted() -> None:
    assert lines_of_code(
        '"""Doc."""\n\n# why\nx = 1\n\ndef f():\n    """D\n    E"""\n    return x\n'
    ) == {
        4,
        6,
        9,
    }
