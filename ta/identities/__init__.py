"""Identities with pattern variables in the notation: the formulas of rules, and their LaTeX.

Not here: the rules (`derivations.rules`), and the notation itself (`ta.notation`).
May be imported by every package, but by no other room of `ta`.
"""
