"""Effects of steps on floating point: rounding, forms that cancel, NaN and infinity.

Not here: the kinds of steps, each of which states its own effects (`derivations.steps`).
May be imported by `steps`, `search`, `rules`, `record` and `frontend`.
"""
