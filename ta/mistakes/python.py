"""Python, NumPy and torch: prefixes of modules, methods, conditional expressions, loops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from einderive.ta.mistakes.formula import Formula
from einderive.ta.mistakes.mistake import Correction, Mistake, pattern

_METHOD = re.compile(
    r"(?P<object>\)|\]|\b[^\W\d]\w*)\s*\.\s*(?P<method>[^\W\d]\w*)\s*(?P<call>\()?"
)
_MODULES = (
    r"(?<![\w.])(?:(?:numpy|np|cupy|cp|jnp)(?:\.linalg)?|jax\.numpy|jax\.nn|scipy\.special|c?math|xp|F"
    r"|torch(?:\.(?:nn\.functional|special|linalg))?|nn\.functional|tf(?:\.(?:math|nn))?)\."
)


def _methods(formula: Formula) -> Iterator[Correction]:
    """`x.exp()` as `exp(x)`, `A.sum(1)` as `sum(A, 1)`, `A.shape[0]` as its size."""
    for found in _METHOD.finditer(formula.text):
        start = formula.operand_before(found.end("object"))
        if start < 0:
            continue
        operand = formula.text[start : found.end("object")]
        if operand.isidentifier() and operand not in formula.shapes:
            continue  # a module's function
        if found["call"]:
            end = formula.closing(found.end() - 1)
            if end < 0:
                continue
            args = formula.text[found.end() : end - 1].strip()
            new = f"{found['method']}({operand}{', ' * bool(args)}{args})"
            yield Correction(((start, end, new),), (found.start("method"), found.end("method")))
        elif found["method"] == "shape" and operand in formula.shapes:
            index = re.compile(r"\s*\[\s*(\d+)\s*\]").match(formula.text, found.end())
            shape = formula.shapes[operand]
            if index and int(index[1]) < len(shape):
                yield Correction(((start, index.end(), str(shape[int(index[1])])),))


def _transposed_reads(formula: Formula) -> Iterator[Correction]:
    for found in re.finditer(r"\b([^\W\d]\w*)\s*\.\s*m?T\b(\s*\[([^\[\]]*)\])?", formula.text):
        line = formula.line_at(found.start())
        names = [name.strip() for name in (found[3] or "").split(",")]
        if not found[2]:
            if len(line.left) != 2:
                continue
            names = list(line.left)
        names = [*names[:-2], *names[-2:][::-1]]
        yield Correction(((found.start(), found.end(), f"{found[1]}[{','.join(names)}]"),))


MISTAKES = (
    pattern(
        "`{found}` belongs to Python: functions of the notation have no prefix",
        "write the function alone",
        _MODULES,
        "",
    ),
    Mistake(
        "`{found}` is a transpose of arrays",
        "exchange the indices",
        _transposed_reads,
    ),
    Mistake(
        "`{found}` is a method of arrays",
        "write it as a function of the elements",
        _methods,
    ),
    pattern(
        "`{found}` is a choice of Python",
        "write where(condition, a, b)",
        r"(?<==)([^=;\n]*?)\s+if\s+([^=;\n]*?(?:[=!<>]=[^=;\n]*?)?)\s+else\s+([^=;\n]*)",
        lambda found: f" where({found[2].strip()}, {found[1].strip()}, {found[3].strip()})",
    ),
    pattern(
        "`{found}` is a choice of C",
        "write where(condition, a, b)",
        r"(?<==)([^=;\n?]*(?:[=!<>]=[^=;\n?]*)?)\?([^=;\n:]*):([^=;\n]*)",
        lambda found: f" where({found[1].strip()}, {found[2].strip()}, {found[3].strip()})",
    ),
    pattern(
        "`{found}` loops over an iterator, as Python does",
        "state its range at the end of the statement",
        r"(?:,\s*)?\b(?:for\s+(?:all\s+)?|∀\s*)(?=[^\W\d]\w*\s+in\b)",
        "where ",
    ),
    pattern(
        "`{found}` is a loop of Python",
        "write the statement alone: its indices run over their ranges",
        r"for\s+[^\W\d]\w*\s+in\s+range\([^()]*\)\s*:\s*",
        "",
    ),
)
