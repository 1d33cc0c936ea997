"""Texts in pieces: formulas with the part that changes marked, code with its words by kind.

Not here: what a page says about a derivation (`frontend.explorer`).
May be imported by `frontend.explorer`, `frontend.explorer.comparison` and `frontend.workbench`.
"""
