"""A derivation as data, and its verification: all steps, and evaluation at points.

Not here: the proof of each step (`derivations.checker`), files (`frontend.api.record`).
May be imported by `frontend`.
"""
