"""`compile` and `evaluate`: they return a stored program, or derive, time and store one.

Not here: deriving and reading formulas (`frontend.api`), the race (`frontend.trial`), the store
(`frontend.memory`).
May be imported by every room of `frontend`.
"""
