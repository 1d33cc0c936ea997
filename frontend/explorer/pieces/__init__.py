"""Texts in pieces: formulas with the changed part marked, code with its words by kind.

Not here: the contents of a page about a derivation (`frontend.explorer`).
May be imported by `frontend.explorer`, `frontend.explorer.comparison` and `frontend.workbench`.
"""
