"""A formula in a notebook: as MathML, and as the text that parses again."""

from __future__ import annotations

from html import escape

from einderive.ta.ir.program import Program
from einderive.ta.printing.latex import latex
from einderive.ta.printing.mathml import markup, mathml
from einderive.ta.printing.show import show_program

LONGEST = 4000
"""A longer formula is shown as text alone."""


def formula_html(program: Program) -> str:
    """One element.  Names are escaped, in the mathematics as in the text."""
    text = show_program(program)
    math = markup(mathml(latex(program))) if len(text) <= LONGEST else ""
    return f'<div class="einderive-formula">{math}<pre>{escape(text)}</pre></div>'
