"""`grad` and `jvp`: derivatives of a formula as formulas, and their proof.

Not here: the algebra (`ta.gradients`), derivatives of functions (`ta.functions`).
May be imported by `frontend.cli`, `frontend.bench` and the public face.
"""
