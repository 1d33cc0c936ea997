"""Compiled functions at sizes that were not seen when they were compiled.

Not here: names of sizes in formulas (`ta.notation.other_sizes`), the steps of a derivation made
again (`derivations.search.again`).  May be imported by `frontend.api` and `frontend.layers`.
"""
