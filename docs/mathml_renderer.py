"""Sphinx extension: mathematics as MathML, by the converter that the explorer uses.

Pages load nothing from elsewhere, and need no script to show a formula. The build fails where the
converter cannot read one.
"""

from typing import TYPE_CHECKING, Any

from docutils import nodes

from einderive.ta.printing.mathml import markup, mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

NAME = "mathml"


def inline(self: "HTML5Translator", node: nodes.math) -> None:
    self.body.append(markup(mathml(node.astext())))
    raise nodes.SkipNode


def block(self: "HTML5Translator", node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula" tabindex="0">{markup(mathml(node.astext()))}</div>')
    raise nodes.SkipNode


def setup(app: "Sphinx") -> dict[str, Any]:
    """Register the renderer; `html_math_renderer = "mathml"` takes it."""
    app.add_html_math_renderer(NAME, (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
