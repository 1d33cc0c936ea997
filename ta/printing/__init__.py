"""From expressions to text: the notation, LaTeX, and the layout of programs.

Not here: reading text (`ta.notation`), reports (`frontend.report`).
May be imported by every package; `ta.ir` calls it for debugging only.
"""

from __future__ import annotations

from einderive.ta.ir.node import PRINTERS
from einderive.ta.ir.program import Program
from einderive.ta.printing.assumed import assumption_text
from einderive.ta.printing.show import show, show_program


def _latex(program: Program) -> str:
    from einderive.ta.printing.latex import latex  # SymPy takes a while to load

    return latex(program)


PRINTERS.update(expression=show, program=show_program, latex=_latex, assumption=assumption_text)
