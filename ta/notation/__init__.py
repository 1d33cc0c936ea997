"""From text to expressions: the grammar, names, index ranges, Einstein's convention.

Not here: what an expression is (`ta.ir`), and printing (`ta.printing`).
May be imported by `ta.printing`, `ta.equality`, and every other package.
"""
