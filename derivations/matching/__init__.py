"""Matching: the operators of which a stage is an instance, and the predicted cost of a stage.

Not here: the operators (`eops.library`).
May be imported by `search` and `frontend`.
"""
