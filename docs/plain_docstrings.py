"""Sphinx extension: docstrings are plain text with formulas, not reStructuredText.

Formulas such as `A[i,k]*x[k]` would read as emphasis and cross-references. Prose paragraphs are
escaped, with `code` in backticks kept as code; a paragraph that is indented or aligned is shown
exactly as written.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CODE = re.compile(r"(``?)([^`\n]+)\1")
ALIGNED = re.compile(r"^\s|\S {2,}\S|^>>>|^[-*+|.:#] |^\W+$", re.MULTILINE)


def escape(text: str) -> str:
    """Escape what reStructuredText would read as markup."""
    return re.sub(r"([\\*`|_:<>\[\]])", r"\\\1", text)


def prose(paragraph: str) -> str:
    """Escape a paragraph of prose, keeping `code` as literal text."""
    pieces: list[str] = []
    end = 0
    for match in CODE.finditer(paragraph):
        # "\ " is an empty separator: inline markup has to stand apart from letters.
        code = match[2].strip()
        pieces += [escape(paragraph[end : match.start()]), rf"\ ``{code}``\ "]
        end = match.end()
    return "".join([*pieces, escape(paragraph[end:])])


def convert(docstring: str) -> str:
    """Turn a plain docstring into reStructuredText that shows it as it was meant."""
    converted: list[str] = []
    for block in re.split(r"\n\s*\n", docstring.strip("\n")):
        if ALIGNED.search(block):
            converted.append(
                ".. code-block:: none\n\n" + "\n".join(f"   {line}" for line in block.splitlines())
            )
        elif block.strip():
            converted.append(prose(block))
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
