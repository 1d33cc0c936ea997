"""What kinds of steps share about floating point: rounding, forms that cancel, NaN and infinity.

Not here: the kinds themselves, each of which says what it does (`derivations.steps`).
May be imported by `steps`, `search`, `rules`, `record` and `frontend`.
"""
