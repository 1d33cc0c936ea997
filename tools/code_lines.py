"""The lines of code of a revision, by package, without blanks, comments and docstrings.

python -m tools.code_lines HEAD
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
from collections import Counter
from io import BytesIO, StringIO
from tokenize import COMMENT, DEDENT, ENDMARKER, INDENT, NEWLINE, NL, generate_tokens

PACKAGES = ("ta", "derivations", "eops", "frontend", "einderive")
LAYOUT = {COMMENT, DEDENT, ENDMARKER, INDENT, NEWLINE, NL}


def code_lines(text: str) -> int:
    """The lines with a token that is neither comment nor docstring."""
    lines: set[int] = set()
    for token in generate_tokens(StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines.difference_update(range(first.lineno, (first.end_lineno or 0) + 1))
    return len(lines)


def by_package(revision: str) -> Counter[str]:
    archive = subprocess.run(["git", "archive", revision], stdout=subprocess.PIPE, check=True)
    found: Counter[str] = Counter()
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        for member in files:
            package = member.name.removesuffix(".py").split("/")[0]
            content = files.extractfile(member)
            if content and member.name.endswith(".py") and package in PACKAGES:
                found[package] += code_lines(content.read().decode())
    return found


if __name__ == "__main__":
    for revision in sys.argv[1:] or ["HEAD"]:
        found = by_package(revision)
        parts = ", ".join(f"{name} {found[name]:,}" for name in PACKAGES)
        print(f"{revision}: {found.total():,} ({parts})")
