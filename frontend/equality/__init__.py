"""`equivalent`: are two formulas equal, for which sizes, and the smallest counterexample.

Not here: the tests of identity (`ta.equality`).
May be imported by `frontend.cli`, `frontend.bench` and the public face.
"""
