"""Identities with pattern variables in the notation: the formulas of rules, and their LaTeX.

Not here: the rules (`derivations.rules`), and the notation itself (`ta.notation`).
May be imported by every other package.
"""
