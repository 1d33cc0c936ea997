"""Compiled functions at other sizes than those for which they were compiled.

Not here: names of sizes in formulas (`ta.notation.other_sizes`), the steps of a derivation made
again (`derivations.search.again`).  May be imported by `frontend.api` and `frontend.layers`.
"""
