"""A derivation as data, and verifying it by evaluation at points.

Not here: the proof of each step (`derivations.checker`), files (`frontend.api.record`).
May be imported by `frontend`.
"""
