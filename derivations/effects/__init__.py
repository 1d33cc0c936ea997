"""What a step does to floating point: rounding, forms that cancel, NaN and infinity.

Not here: the identities themselves (`derivations.steps`).
May be imported by `search`, `rules`, `record` and `frontend`.
"""
