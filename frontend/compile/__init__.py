"""`compile` and `evaluate`: what was compiled before is recalled, anything else is derived, raced
and remembered.

Not here: deriving and reading formulas (`frontend.api`), the race (`frontend.trial`), the store
(`frontend.memory`).
May be imported by every room of `frontend`.
"""
