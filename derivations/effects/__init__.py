"""Effects of steps on floating point: rounding, forms that cancel, NaN and infinity.

Not here: the kinds of steps, each of which states its own effects (`derivations.steps`).
May be imported by `frontend` and every room of `derivations` except `checker` and `matching`.
"""
