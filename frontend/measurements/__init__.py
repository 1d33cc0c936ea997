"""Measurements in a record: a race of programs with its times, and where and when they were taken.

Not here: races (`frontend.trial`), a choice that `compile` remembers (`frontend.compile`).
May be imported by `frontend.api`, `frontend.report`, `frontend.explorer`, `frontend.workbench`,
`frontend.bench` and `frontend.cli`.
"""
