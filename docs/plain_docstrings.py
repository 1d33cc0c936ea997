"""Sphinx extension: docstrings are plain text with formulas, not reStructuredText.

Formulas such as `A[i,k]*x[k]` would read as emphasis and cross-references. Prose is escaped, with
`code` in backticks and **words** in asterisks kept, and lists of `- ` stay lists. Lines of Python
are code, and a paragraph that is indented or has columns is shown exactly as written.
"""

import ast
import re
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARKED = re.compile(r"(``?)([^`\n]+)\1|\*\*([^*\n]+)\*\*")
SENTENCES = re.compile(r"(?<=[.:;!?)\]`\"'*]) {2,}(?=\S)")
"""Two blanks between sentences, which are no columns."""
ALIGNED = re.compile(r"^\s|\S {2,}\S|^>>>|^[-*+|.:#] |^\W+$", re.MULTILINE)
ITEM = "- "


def escape(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return re.sub(r"([\\*`|_:<>\[\]])", r"\\\1", text)


def prose(paragraph: str) -> str:
    """Escape a paragraph of prose, keeping `code` as literal text and **words** as strong ones."""
    pieces: list[str] = []
    end = 0
    for match in MARKED.finditer(paragraph):
        # "\ " is an empty separator: inline markup has to stand apart from letters.
        kept = f"``{match[2].strip()}``" if match[2] else f"**{escape(match[3])}**"
        pieces += [escape(paragraph[end : match.start()]), rf"\ {kept}\ "]
        end = match.end()
    return "".join([*pieces, escape(paragraph[end:])])


def python(block: str) -> bool:
    """Whether the lines are of Python, and not words that could be."""
    try:
        found = ast.parse(dedent(block)).body
    except SyntaxError:
        return False
    return any(isinstance(each, ast.Import | ast.ImportFrom) or _named(each) for each in found)


def _named(statement: ast.stmt) -> bool:
    """`f = d.compile()`, and no formula `Y[i] = A[i]`."""
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)


def code(block: str, language: str) -> str:
    return f".. code-block:: {language}\n\n" + indent(block, "   ")


def listed(block: str) -> list[str] | None:
    """The items of a list; None for another block."""
    items: list[list[str]] = []
    for line in block.splitlines():
        if line.startswith(ITEM):
            items.append([line.removeprefix(ITEM)])
        elif items and line.startswith("  "):
            items[-1].append(line.strip())
        else:
            return None
    found = [SENTENCES.sub(" ", " ".join(lines)) for lines in items]
    return None if any(map(ALIGNED.search, found)) else found


def convert(docstring: str) -> str:
    """Turn a plain docstring into reStructuredText that shows it as it was meant."""
    converted: list[str] = []
    within = False  # a list, whose items may have paragraphs of their own
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        if not block.strip():
            continue
        items, text = listed(block), SENTENCES.sub(" ", dedent(block))
        below = within and block.startswith("  ") and not ALIGNED.search(text)
        if items is not None:
            converted.append("\n".join(f"- {prose(item)}" for item in items))
        elif below:
            converted.append(indent(prose(text), "  "))
        elif python(block):
            converted.append(code(block, "python"))
        elif ALIGNED.search(SENTENCES.sub(" ", block)):
            converted.append(code(block, "none"))
        else:
            converted.append(prose(text))
        within = items is not None or below
    return "\n\n".join(converted) + "\n"


def process(
    app: "Sphinx", what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Replace the lines of a docstring; the signature is autodoc's."""
    if lines:
        lines[:] = convert("\n".join(lines)).splitlines()


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register the extension."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
