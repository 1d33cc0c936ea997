"""The digits of a program: references, hard inputs, the formula as written, verdicts.

Not here: timing (`frontend.trial`).
May be imported by every room of `frontend`.
"""
