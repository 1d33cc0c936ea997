"""The operators of which a stage is an instance, and its predicted cost.

Not here: the operators (`eops.library`).
May be imported by `search` and `frontend`.
"""
