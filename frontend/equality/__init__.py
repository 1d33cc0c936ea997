"""`equivalent`: whether two formulas are equal, for which sizes, and a small counterexample.

Not here: the tests of identity (`ta.equality`).
May be imported by `frontend.cli`, `frontend.gradients`, `frontend.bench` and the public face.
"""
