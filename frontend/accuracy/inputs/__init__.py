"""The data that programs are judged on: random numbers, hard families, NaN and infinities.

Not here: what is compared on them (`frontend.accuracy`).
May be imported by every room of `frontend`.
"""
