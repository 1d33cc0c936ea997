"""Which operators a stage is an instance of, and what it is predicted to cost.

Not here: the operators (`eops.library`).
May be imported by `search` and `frontend`.
"""
