"""From expressions to text: the notation, LaTeX, and the layout of programs.

Not here: reading text (`ta.notation`), reports (`frontend.report`).
May be imported by every package; `ta.ir` calls it for debugging only.
"""
